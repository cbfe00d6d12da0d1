# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bench_rules.py measured, as markdown tables and as a plot."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

DEFAULT = "0.5"  # crowdnms' own iou-threshold
NEAR = .005  # rules this close in AP50 are called equal
COLOURS = plt.get_cmap("tab20").colors
MARKERS = {"greedy": "o", "map-reduce": "s", "paper": "^"}


def best_threshold(scores, key="ap50"):
    """That of the best AP50 or MR-2, the nearest to the default of equal ones."""
    sign = -1 if key == "mr" else 1
    return max(scores, key=lambda t: (sign * scores[t][key], -abs(float(t) - float(DEFAULT))))


def rules_of(crowds):
    return list(next(iter(crowds.values())))


def groups(results):
    """{group: {crowd: measured}}."""
    found = {}
    for crowd, measured in results["measured"].items():
        found.setdefault(results["crowds"][crowd]["group"], {})[crowd] = measured
    return found


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] +
                     ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def cell(scores):
    return f"{scores['ap50']:.3f} {scores['mr']:.3f} {scores['us']:.0f}"


def crowds_table(results):
    rows = []
    for name, like in results["crowds"].items():
        shares = [f"{like[key]:.0%}" if key in like else "" for key in ("visible", "close")]
        rows.append([name, str(like["frames"]), f"{like['people']:.1f}", f"{like['candidates']:.0f}", *shares])
    return table(["crowd", "frames", "people a frame", "candidates a frame", "visible by .65 or more",
                  "overlap another by .5"], rows)


def winners(scores, key):
    """The best value, and the rules that are near it, each with its best threshold."""
    best = {rule: best_threshold(s, key) for rule, s in scores.items()}
    value = {rule: scores[rule][at][key] for rule, at in best.items()}
    top = min(value.values()) if key == "mr" else max(value.values())
    near = sorted((r for r in best if abs(value[r] - top) <= NEAR), key=lambda r: abs(value[r] - top))
    return f"{top:.3f}", ", ".join(f"{r} {best[r]}" for r in near)


def winners_table(results):
    rows = [[crowd, *winners(scores, "ap50"), *winners(scores, "mr")] for crowd, scores in results["measured"].items()]
    near = f"rules and thresholds within {NEAR:g} of it"
    return table(["crowd", "best AP50", near, "best MR-2", near], rows)


def default_table(results, crowds):
    rows = [[rule, *(cell(measured[rule][DEFAULT]) for measured in crowds.values())] for rule in rules_of(crowds)]
    return table(["rule", *crowds], rows)


def best_table(results, crowds):
    rows = []
    for rule in rules_of(crowds):
        at = [best_threshold(measured[rule]) for measured in crowds.values()]
        rows.append([rule, *(f"{cell(m[rule][t])} at {t}" for m, t in zip(crowds.values(), at))])
    return table(["rule", *crowds], rows)


def thresholds_table(results, crowds):
    """The first rule, which is crowdnms' default, with all thresholds."""
    rule = rules_of(crowds)[0]
    rows = [[at, *(" ".join(f"{m[rule][at][key]:.3f}" for key in ("ap50", "mr", "ji")) for m in crowds.values())]
            for at in next(iter(crowds.values()))[rule]]
    return table([f"{rule} at", *crowds], rows)


def section(results, group, crowds):
    parts = [f"## {group}\n"]
    parts.append(f"AP50, MR-2, microseconds a frame, with crowdnms' threshold {DEFAULT}:\n")
    parts.append(default_table(results, crowds))
    parts.append(f"The same, each rule with the threshold that has its best AP50:\n\n{best_table(results, crowds)}")
    parts.append(f"AP50, MR-2 and JI of the default rule by threshold:\n\n{thresholds_table(results, crowds)}")
    return "\n".join(parts)


def page(results, picture):
    sections = "\n".join(section(results, group, crowds) for group, crowds in groups(results).items())
    return f"""# Rules of crowdnms by crowd, {results["date"]}

`{results["command"]}` in `meson devenv`, {results["cpu"]}, `backend=cpu`, other work on the machine; microseconds are of
the quickest of five runs.

Crowds of people are **synthetic**, seed {results["seed"]}: [crowds.py](../crowds.py) says what they are. Of full boxes
hidden people have to be found as well, of visible boxes those with at least .1 in view; far crowds are ignore
regions. Scenes of crowdinject have `jitter=0.1`. The film is 20 labelled frames of vtest.avi with candidates of
`{results["detector"]}`; people with at least .3 in view have to be found.

AP50 is COCO's at IoU .5 with maxDets 1000, MR-2 Caltech's of subset *all* (20 pixels high, .2 visible; lower is
better), JI CrowdHuman's, all as `gst-crowd-eval` defines them. AP50 hardly minds duplicates that score low, MR-2 and JI
do: where they disagree on the threshold, that is why.

{crowds_table(results)}
![AP50, MR-2 and microseconds against density]({picture})

{winners_table(results)}
{sections}"""


def draw(panels, results, group, crowds):
    people = [results["crowds"][crowd]["people"] for crowd in crowds]
    for n, rule in enumerate(rules_of(crowds)):
        for panel, key in zip(panels, ("ap50", "mr", "us")):
            at = [DEFAULT if key == "us" else best_threshold(measured[rule], key) for measured in crowds.values()]
            panel.plot(people, [m[rule][t][key] for m, t in zip(crowds.values(), at)], label=rule,
                       marker=MARKERS.get(rule.split()[0], "D"), markersize=4, linewidth=1.2,
                       color=COLOURS[n % len(COLOURS)], linestyle="-" if n < len(COLOURS) else "--")
    for panel, label in zip(panels, ("AP50 (COCO, maxDets 1000)", "MR-2 (Caltech, all)", "µs a frame, one CPU core")):
        panel.set(xlabel=f"{group}, a frame", ylabel=label, xscale="log")
        panel.set_xticks(people, [f"{p:.0f}" for p in people])
        panel.minorticks_off()
        panel.grid(True, color="#dddddd", linewidth=.6)
        panel.spines[["top", "right"]].set_visible(False)
    panels[2].set_yscale("log")


def plot(results, path):
    """Against density, for each group whose crowds differ by it; each rule with its best threshold for what is drawn, with
    crowdnms' for microseconds."""
    drawn = {group: crowds for group, crowds in groups(results).items()
             if all("close" in results["crowds"][crowd] for crowd in crowds)}
    figure, panels = plt.subplots(len(drawn), 3, figsize=(14, 3.9 * len(drawn)), layout="constrained", squeeze=False)
    for row, (group, crowds) in zip(panels, drawn.items()):
        draw(row, results, group, crowds)
    panels[0][2].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.savefig(path, dpi=90)
    plt.close(figure)


def write(results, path):
    picture = path.with_suffix(".png")
    plot(results, picture)
    path.write_text(page(results, picture.name))
    return path, picture
