# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results as JSON, and as Markdown tables: what was measured beside the goals, and the paper's tables in kind."""

import json

# Microseconds back to back in a graph: greedy, map-reduce.
GOALS = {("rows", "oscars200"): (5, 4.5), ("rows", "oscars1027"): (7, 6), ("rows", "oscars2895"): (9, 8),
         ("rows", "oscars4096"): (10, 9), ("rows", "uniform4096"): (10, 9), ("rows", "uniform16384"): (25, 22),
         ("rows", "uniform65536"): (50, 45), ("batch", "32x1024 crowd"): (14, 12),
         ("batch", "32x1024 uniform"): (14, 12), ("worst", "chain4096"): (40, 9),
         ("flat", "head640"): (25, 12), ("flat", "head1280"): (60, 40), ("flat", "clustered16384"): (40, 20),
         ("flat", "clustered65536"): (110, 70), ("flat", "16x8400 in 40 clusters"): (90, 60),
         ("flat", "32x1024 in 40 clusters"): (12, 10), ("flat", "61 of 4096"): (5.5, 5.5),
         ("flat", "61 of 16384"): (7, 7), ("flat", "3000 of 16384"): (12, 8), ("flat", "giant65536"): (75, 60),
         ("flat", "far_scores65536"): (60, 50), ("flat", "equal65536"): (100, 85),
         ("flat", "clustered1048575"): (900, 800), ("flat", "ladder2_65536"): (3000, 3000)} | {
    ("flat", f"ladder{k}_4096"): (150, 150) for k in (1, 2, 3, 8)}
TORCHVISION_GOALS = {("rows", "oscars2895"): 40, ("rows", "oscars4096"): 40, ("rows", "uniform4096"): 40,
                     ("rows", "uniform16384"): 300}
PAPER_GOAL = 10  # times faster than the paper's kernels at their best k
DOUBLING_GOAL = 2.5
COLD_GOAL = ("rows", "oscars1027", 2.5)  # times an empty kernel

# Table 5 of the paper, milliseconds.
PAPER_TABLE_5 = {"GeForce GTX 1060": (.107, .324, 1.313), "Tesla T4": (.024, .088, .430)}
K_OF_PAPER = "32"
TABLE_5_ROWS = ("oscars200", "oscars1027", "oscars2895")


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def figure(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def verdict(value, good):
    return figure(value) if value is None else f"{figure(value)} {'✓' if good else '✗'}"


def rounded(value):
    """Times to a hundredth of a microsecond, wherever they are."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, dict):
        return {str(key): rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def as_json(written):
    """A line for each record, row of the sweeps and film, so that two runs can be compared by diff."""
    def lines(part):
        if isinstance(part, list):
            return "[\n" + ",\n".join(map(json.dumps, part)) + "\n]"
        return "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in part.items()) + "\n}"

    return "{\n" + ",\n".join(f"{json.dumps(k)}: {lines(v)}" for k, v in rounded(written).items()) + "\n}\n"


class Results:
    """Looks things up in what bench_gpu.py wrote."""

    def __init__(self, written):
        self.written = written
        self.records = {(r["group"], r["workload"], r["contender"]): r for r in written["records"]}

    def median(self, group, workload, contender, what="back_to_back"):
        record = self.records.get((group, workload, contender), {})
        return record[what]["median"] if record.get(what) else None

    def ratio(self, group, workload, slow, fast):
        slow, fast = self.median(group, workload, slow), self.median(group, workload, fast)
        return slow / fast if slow and fast else None

    def contenders(self):
        return list(dict.fromkeys(r["contender"] for r in self.written["records"]))

    def workloads(self):
        return list(dict.fromkeys((r["group"], r["workload"], r["n"]) for r in self.written["records"]))

    def sweep(self, row, over):
        return self.written["sweeps"].get(row, {}).get(over, {}).get("k", {})

    def kernels(self, row, over, k):
        """Map and reduce of the paper together."""
        return self.sweep(row, over).get(k, {}).get("total")

    def best_k(self, row, over):
        """The k of the smallest total, and that total."""
        return min(((times["total"], k) for k, times in self.sweep(row, over).items()), default=(None, None))[::-1]


def goal_table(results):
    rows = []
    for (group, name), (greedy_goal, map_reduce_goal) in GOALS.items():
        greedy, map_reduce, floor = (results.median(group, name, c) for c in ("greedy", "map-reduce", "empty kernel"))
        if greedy is None or map_reduce is None:
            continue
        ratio = results.ratio(group, name, "torchvision nms", "greedy")
        goal = TORCHVISION_GOALS.get((group, name), 0)
        against = []
        for over in ("D_max", "used"):
            k, total = results.best_k(name, over)
            against.append("–" if k is None else f"{verdict(total / greedy, total / greedy >= PAPER_GOAL)} (k={k})")
        rows.append([name, greedy_goal, verdict(greedy, greedy <= greedy_goal), map_reduce_goal,
                     verdict(map_reduce, map_reduce <= map_reduce_goal), figure(floor),
                     (f"≥ {goal}: " if goal else "") + (verdict(ratio, ratio >= goal) if goal and ratio
                                                           else figure(ratio)), *against])
    return table(["row", "greedy goal µs", "greedy", "map-reduce goal µs", "map-reduce", "empty kernel",
                  "torchvision / greedy", f"paper's kernels / greedy, goal {PAPER_GOAL}", "over used slots / greedy"],
                 rows)


def other_goals(results):
    """The goals that are no row: doubling, the cold call, and map-reduce beside greedy everywhere."""
    lines = []
    for group in ("doubling, same frame", "doubling, same density"):
        times = [results.median(*w[:2], "greedy") for w in results.workloads() if w[0] == group]
        if len(times) > 1 and all(times):
            factors = [b / a for a, b in zip(times, times[1:])]
            lines.append(f"- {group}: times {', '.join(map(figure, factors))} a doubling from 16384 on, goal "
                         f"{DOUBLING_GOAL}: {verdict(max(factors), max(factors) <= DOUBLING_GOAL)} at worst")
    group, name, goal = COLD_GOAL
    for what in ("cold", "cold_wall"):
        ours, empty = (results.median(group, name, c, what) for c in ("greedy", "empty kernel"))
        if ours and empty:
            lines.append(f"- single call at {name}, {'by events' if what == 'cold' else 'by the host clock'}: "
                         f"{figure(ours)} µs, {verdict(ours / empty, ours / empty <= goal)} times an empty kernel's "
                         f"{figure(empty)} µs, goal {goal}")
    slower = [f"{group}/{name} ({figure(ratio)} times)" for group, name, _ in results.workloads()
              if (ratio := results.ratio(group, name, "map-reduce", "greedy")) and ratio > 1]
    lines.append(f"- map-reduce slower than greedy on: {', '.join(slower) if slower else 'no row ✓'}")
    return "\n".join(lines)


def all_rows(results, what="back_to_back"):
    names = results.contenders()
    return table(["workload", "n", *names],
                 [[f"{group}: {name}", n, *(figure(results.median(group, name, c, what)) for c in names)]
                  for group, name, n in results.workloads()])


def spread(results):
    """Survivors and the spread of our own calls."""
    rows = []
    for group, name, n in results.workloads():
        for contender in ("greedy", "map-reduce"):
            record = results.records.get((group, name, contender))
            if record and "back_to_back" in record:
                back, cold = record["back_to_back"], record["cold"]
                rows.append([f"{group}: {name}, {contender}", n, "/".join(map(str, record["survivors"])),
                             *(figure(back[q]) for q in ("p5", "median", "p95")),
                             *(figure(cold[q]) for q in ("p5", "median", "p95")), back["how"]])
    return table(["call", "n", "survivors", "p5", "median", "p95", "cold p5", "cold median", "cold p95", "how"], rows)


def table_5(results):
    """In milliseconds, as the paper has it; kernels only."""
    gpu = results.written["environment"]["gpu"]
    here = {f"paper's kernels, k={K_OF_PAPER}": [results.kernels(row, "D_max", K_OF_PAPER) for row in TABLE_5_ROWS]}
    here |= {name: [results.median("rows", row, name) for row in TABLE_5_ROWS] for name in ("map-reduce", "greedy")}
    rows = [[f"{name} (published)", *(f"{t:.3f}" for t in times)] for name, times in PAPER_TABLE_5.items()]
    rows += [[f"{gpu}, {name}", *("–" if t is None else f"{t / 1000:.4f}" for t in times)]
             for name, times in here.items()]
    return table(["GPU, latency in ms", "n = 200", "n = 1027", "n = 2895"], rows)


def table_6(results):
    film = results.written["films"].get("mosaic", {})
    rows = [[k, *(figure(times[step]) for step in ("map", "reduce", "total"))]
            for k, times in film.get("k", {}).items()]
    means = {name: sum(times) / len(times) for name, times in film.get("times", {}).items()}
    rows += [[name, "", "", figure(mean)] for name, mean in means.items()]
    return table(["k, or contender", "map µs", "reduce µs", "total µs"], rows)


def k_sweep(results):
    rows = [[row, {"D_max": "all D_max", "used": "used"}[over], figure(sweep["ones"]), k,
             *(figure(times[step]) for step in ("map", "reduce", "total"))]
            for row, by_extent in results.written["sweeps"].items() for over, sweep in by_extent.items()
            for k, times in sweep["k"].items()]
    return table(["row", "slots", "B to ones µs", "k", "map µs", "reduce µs", "map and reduce µs"], rows)


def wrong_answers(results):
    wrong = [f"- {r['group']}/{r['workload']}: {r['wrong']}" for r in results.written["records"] if "wrong" in r]
    counted = [f"- {r['group']}/{r['workload']}: {r['contender']} differs in {r['differing']} candidates"
               for r in results.written["records"] if r.get("differing")]
    return "\n".join([*(wrong or ["Every answer that must be exact was the CPU backend's."]), *counted])


def page(results):
    """Everything as one Markdown page."""
    environment = results.written["environment"]
    facts = "\n".join(f"- {name}: {value}" for name, value in environment.items())
    sections = [
        ("Goals", "Microseconds a call, back to back in a graph, medians. The paper's kernels are its map and reduce "
         "at their best k\nwithout setting B to ones, launched over all D_max = 4096 slots as it says, or over the "
         "used ones only.\n\n" + goal_table(results) + "\n\n" + other_goals(results)),
        ("Answers", wrong_answers(results)),
        ("Back to back", "Microseconds a call, medians; in a graph, or from the host where a contender waits for the "
         "device itself.\n\n" + all_rows(results)),
        ("Single calls on an idle stream, by events", all_rows(results, "cold")),
        ("Single calls, by the host's clock until the stream is idle", all_rows(results, "cold_wall")),
        ("Spread", spread(results)),
        ("Table 5 of the paper in kind", table_5(results)),
        ("Table 6 of the paper in kind", "Means over the frames of mosaic; over k without setting B to ones, by name "
         "with it.\n\n" + table_6(results)),
        ("The paper's kernels over k", k_sweep(results)),
    ]
    title = f"# NMS on {environment['gpu']}, {environment['date']}"
    return "\n\n".join([title, facts, *(f"## {head}\n\n{body}" for head, body in sections)]) + "\n"
