#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A figure and tables of what bench_pipeline.py wrote; needs matplotlib and no GPU.

usage: plot_pipeline.py RESULTS.json FOLDER
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gpu import plots, report  # noqa: E402

LOOKS = {"device": ("#0b6e4f", "o"), "host": ("#b3261e", "D")}


def unique(records, key):
    return list(dict.fromkeys(record[key] for record in records))


def throughput(records):
    """Frames a second over streams, a panel for each film."""
    films = unique(records, "film")
    figure, panels = plots.axes(len(films), width=5)
    for panel, film in zip(panels, films):
        for path, (colour, marker) in LOOKS.items():
            points = [(r["streams"], r["fps"]) for r in records if (r["film"], r["path"]) == (film, path)]
            if points:
                panel.plot(*zip(*points), label=f"frames on the {path}", color=colour, marker=marker, markersize=4)
        streams = sorted({r["streams"] for r in records})
        panel.set(xscale="log", yscale="log", title=film, xlabel="streams at once")
        panel.set_xticks(streams, labels=map(str, streams), minor=False)
        panel.set_xticks([], minor=True)
        low, high = panel.get_ylim()
        if high < 10 * low:  # nearly the same rates should look so
            panel.set_ylim(low / 3, high * 3)
    panels[0].set_ylabel("frames a second, all streams")
    plots.legend(panels[-1])
    return figure


def device_times(written):
    """Nothing without a tracer."""
    rows = written.get("device_time")
    if not rows:
        return []
    table = [[r["film"], r["element"], f"{r['launches']:.1f}", report.figure(r["time"]),
              ", ".join(f"{kernel} {report.figure(time)}" for kernel, time in r["kernels"].items())] for r in rows]
    once = "; of kernels of a stream that run at the same time, for the first" if "overlaps" in rows[0] else ""
    return [f"Kernels for a frame of one stream: launches, and microseconds on the device{once}.", "",
            report.table(["film", "kernels of", "launches", "all of them", "each"], table), ""]


def page(written):
    where, rows = written["environment"], written["throughput"]
    fps = {(r["film"], r["streams"], r["path"]): r["fps"] for r in rows}
    streams = sorted({r["streams"] for r in rows})
    lines = [f"# Pipelines on {where['gpu']}, {where['gstreamer']}", "",
             f"{where['date']}, commit {where['commit']}, {where['cores']} cores: `{where['command']}`", "",
             f"Clocks before: {where.get('clocks before', 'unknown')}; after: {where.get('clocks after', 'unknown')}.",
             "", "Frames a second of all streams together.", ""]
    table = []
    for film in unique(rows, "film"):
        for n in streams:
            device, host = (fps.get((film, n, path)) for path in LOOKS)
            ratio = f"{device / host:.1f}" if device and host else "–"
            table.append([film, n, report.figure(device), report.figure(host), ratio])
    lines += [report.table(["film", "streams", "on the device", "on the host", "times"], table), "",
              "Microseconds that a buffer of one stream is in an element on the host: median, 99 % within.", ""]
    table = [[r["film"], r["path"], r["element"], report.figure(r["median"]), report.figure(r["p99"])]
             for r in written["host_time"]]
    lines += [report.table(["film", "frames on the", "element", "median", "99 %"], table), "",
              *device_times(written), "Run as:", ""]
    lines += [f"* {r['film']}, {r['path']}, {r['streams']} times: `{r['command']}`" for r in rows]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, folder = map(pathlib.Path, sys.argv[1:])
    written = json.loads(source.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    for path, make in ((folder / f"{source.stem}.md", lambda to: to.write_text(page(written))),
                       (folder / f"{source.stem}.png", lambda to: throughput(written["throughput"]).savefig(
                           to, dpi=110, metadata={"Software": None}))):
        make(path)
        print(path)


main()
