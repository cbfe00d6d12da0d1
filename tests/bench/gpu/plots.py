# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results as figures, a function each that returns a matplotlib figure."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# A colour and a marker that stay with a contender in every figure; hollow: not by us.
LOOKS = {"greedy": ("#0b6e4f", "o"), "map-reduce": ("#5bba6f", "s"), "paper": ("#8a6d3b", "^"),
         "paper's kernels": ("#d98e04", "v"), "paper's kernels, used slots": ("#f2c14e", "v"),
         "torchvision nms": ("#b3261e", "D"), "torchvision batched_nms": ("#e57373", "D"),
         "bitmask + host scan": ("#3f51b5", "P"), "OpenCV NMSBoxes": ("#7b1fa2", "X"), "empty kernel": ("#777777", "")}


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
