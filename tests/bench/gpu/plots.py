# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results as figures, a function each that returns a matplotlib figure."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

# A colour and a marker that stay with a contender in every figure; hollow: not by us.
LOOKS = {"greedy": ("#0b6e4f", "o"), "map-reduce": ("#5bba6f", "s"), "paper": ("#8a6d3b", "^"),
         "paper's kernels": ("#d98e04", "v"), "paper's kernels, used slots": ("#f2c14e", "v"),
         "torchvision nms": ("#b3261e", "D"), "torchvision batched_nms": ("#e57373", "D"),
         "CV-CUDA nms": ("#00838f", "<"), "bitmask + host scan": ("#3f51b5", "P"), "OpenCV NMSBoxes": ("#7b1fa2", "X"),
         "empty kernel": ("#777777", "")}


def look(contender):
    colour, marker = LOOKS.get(contender, ("#000000", "."))
    return {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.3,
            "linestyle": ":" if contender == "empty kernel" else "-"}


def axes(columns=1, width=6, height=4.5, **shared):
    figure, panels = plt.subplots(1, columns, figsize=(width * columns, height), squeeze=False, layout="constrained",
                                  **shared)
    for panel in panels[0]:
        panel.grid(True, which="major", color="#dddddd", linewidth=.6)
        panel.spines[["top", "right"]].set_visible(False)
    return figure, panels[0]


def series(results, contender, groups, stem):
    """(n, microseconds) by n of the workloads of these groups whose name begins with stem."""
    points = {n: time for group, name, n in results.workloads()
              if group in groups and name.startswith(stem) and (time := results.median(group, name, contender))}
    return sorted(points.items())


def draw(panel, results, groups, stem):
    for contender in results.contenders():
        points = series(results, contender, groups, stem)
        if points:
            panel.plot(*zip(*points), label=contender, **look(contender))
    panel.set_xlabel("candidates")


def legend(panel, away=1.02):
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(away, 1))


def latency(results):
    """Latency against n by all contenders, log-log."""
    figure, panels = axes(2, sharey=True)
    kinds = ((("rows",), "oscars", "clustered around 147 faces"),
             (("rows", "doubling, same frame"), "uniform", "uniform in one frame"))
    for panel, (groups, stem, title) in zip(panels, kinds):
        draw(panel, results, groups, stem)
        panel.set(xscale="log", yscale="log", title=title)
        panel.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())  # labels would lie on each other
    panels[0].set_ylabel("µs a call, back to back")
    legend(panels[1])
    figure.suptitle(f"NMS on {results.written['environment']['gpu']}, IoU 0.5", fontsize=11)
    return figure


def figure_8(results):
    """Latency on a growing number of detections: the paper's picture with more and more faces uncovered."""
    figure, (panel,) = axes(width=8)
    draw(panel, results, ("steps",), "oscars")
    panel.set(yscale="log", title="Growing number of detections (the paper's Figure 8)",
              ylabel="µs a call, back to back")
    legend(panel)
    return figure


def figure_11(results):
    """The reduce kernel over k, and the map kernel beside it."""
    figure, panels = axes(2)
    for panel, step in zip(panels, ("reduce", "map")):
        for number, row in enumerate(results.written["sweeps"]):
            for over, style in (("D_max", "-"), ("used", ":")):
                sweep = results.sweep(row, over)
                panel.plot([int(k) for k in sweep], [times[step] for times in sweep.values()], marker=".",
                           linestyle=style, linewidth=1.2, color=f"C{number}", label=row if over == "D_max" else None)
        panel.set(xscale="log", xlabel="k", ylabel=f"{step} kernel, µs")
        panel.set_xticks([4, 8, 16, 32, 64, 128], labels=["4", "8", "16", "32", "64", "128"])
        panel.set_ylim(bottom=0)
    legend(panels[-1])
    figure.suptitle("The paper's kernels over k (its Figure 11); dotted: over the used slots only", fontsize=11)
    return figure


def figure_12(results):
    """Films frame by frame, with the number of detections above."""
    films = results.written["films"]
    figure, panels = axes(max(len(films), 1))
    for panel, (name, film) in zip(panels, films.items()):
        for contender, times in film["times"].items():
            panel.plot(times, label=contender, **look(contender) | {"marker": ""})
        panel.set(yscale="log", xlabel="frame", ylabel="µs a frame", title=name)
        panel.set_ylim(top=panel.get_ylim()[1] * 4)
        count = panel.twinx()
        count.plot(film["n"], color="#999999", linestyle="--", linewidth=1)
        count.set_ylabel("detections (dashed)", color="#777777")
        count.set_ylim(bottom=-3 * max(film["n"]), top=1.1 * max(film["n"]))
        count.set_yticks([min(film["n"]), max(film["n"])])
    legend(panels[-1], away=1.15)
    figure.suptitle("Films frame by frame (the paper's Figure 12)", fontsize=11)
    return figure


# What a row of bench_gpu_rules.py should take at most, in times of greedy: the first that its name begins with.
GOALS = {"soft-linear": 4, "soft-gaussian": 6, "matrix": 2, "greedy, merge vote": None, "greedy, merge": 1.5,
         "diou": 1.3, "adaptive": 1.3, "set": 1.3, "visible": 1.3, "feature": 1.3}


def rules(rows_by_set):
    """Methods, rules and ways of merging: times of greedy, a panel a set of candidates."""
    figure, panels = axes(len(rows_by_set), width=4.6, height=6, sharey=True)
    for panel, (name, rows) in zip(panels, rows_by_set.items()):
        for place, (row, micros, ratio) in enumerate(rows):
            goal = next((goal for start, goal in GOALS.items() if row.startswith(start)), None)
            panel.barh(place, ratio, color=LOOKS["map-reduce"][0] if not goal or ratio <= goal else "#d98e04")
            panel.text(58, place, f"{micros:.1f} µs", va="center", ha="right", fontsize=7)
            if goal:
                panel.plot([goal, goal], [place - .4, place + .4], color="black", linewidth=1.5)
        panel.set(xscale="log", xlabel="times of greedy", title=name, xlim=(.7, 60))
        panel.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
        panel.minorticks_off()
        panel.set_yticks(range(len(rows)), [row for row, _, _ in rows], fontsize=8)
    panels[0].invert_yaxis()
    figure.suptitle("Back to back in a CUDA graph; black: the goal, orange: above it", fontsize=9)
    return figure


FIGURES = {"latency": latency, "figure-8": figure_8, "figure-11": figure_11, "figure-12": figure_12}


def write(results, folder, stem):
    """PNG files named after what they show; their paths."""
    paths = []
    for name, make in FIGURES.items():
        figure = make(results)
        paths.append(folder / f"{stem}-{name}.png")
        figure.savefig(paths[-1], dpi=110, metadata={"Software": None})
        plt.close(figure)
    return paths
