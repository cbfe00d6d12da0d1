#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What detectors cost on one stream of a film: frames a second, milliseconds a frame, CPU time a frame, candidates into
crowdnms and survivors out of it, and the share of its NMS. One markdown table, all in one run.

usage: bench_detectors.py [--frames N] [--sizes 768x576,1920x1080,3840x2160] [--source TEMPLATE] [NAME=ELEMENTS...]

In meson devenv. ELEMENTS is what stands between the frames and crowdnms; HOG, person-net with 1x1, 2x2 and 3x3 tiles
and face-net unless given. TEMPLATE makes frames of {width} x {height}, by default scaled from OpenCV's vtest.avi or
FILM. Each row is timed from its second frame to its last, so that loading does not count; what a run without the
detector takes is taken off. NMS is timed by crowdnms itself, on the CPU or the GPU.
"""

import argparse
import pathlib
import resource
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from film import find_film  # noqa: E402

DETECTORS = {
    "HOG": "crowddetect",
    "person-net, 1 tile": "crowddetect detector=person-net score-threshold=0.25",
    "person-net, 2x2": "crowddetect detector=person-net score-threshold=0.25 tiles=2x2",
    "person-net, 3x3": "crowddetect detector=person-net score-threshold=0.25 tiles=3x3",
    "face-net": "crowddetect detector=face-net score-threshold=0.2",
}
SOURCE = ("filesrc location={film} ! decodebin ! videoconvert ! videoscale ! "
          "video/x-raw,format=I420,width={width},height={height}")
NMS = "crowdnms name=nms metric=ios iou-threshold=0.6"


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Run:
    """Seconds from the second frame that leaves a pipeline to the last, and the stats of its crowdnms."""

    def __init__(self, source, elements, frames):
        self.marks = []
        self.frames = frames
        self.pipeline = Gst.parse_launch(f"{source} ! {elements} ! fakesink name=sink sync=false signal-handoffs=true")
        self.pipeline.get_by_name("sink").connect("handoff", self._count)
        self.pipeline.set_state(Gst.State.PLAYING)
        message = self.pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS |
                                                             Gst.MessageType.ERROR | Gst.MessageType.APPLICATION)
        if message.type == Gst.MessageType.ERROR:
            raise SystemExit(f"bench_detectors.py: {elements}: {message.parse_error()}")
        if len(self.marks) < 3:
            raise SystemExit(f"bench_detectors.py: {elements}: the film has no three frames")
        nms = self.pipeline.get_by_name("nms")
        self.stats = nms.get_property("stats") if nms else None
        self.pipeline.set_state(Gst.State.NULL)
        (wall, cpu), (last_wall, last_cpu) = self.marks[1], self.marks[-1]
        steps = len(self.marks) - 2
        self.wall, self.cpu = (last_wall - wall) / steps, (last_cpu - cpu) / steps

    def _count(self, sink, _buffer, _pad):
        if len(self.marks) < self.frames:
            self.marks.append((time.perf_counter(), cpu_seconds()))
            if len(self.marks) == self.frames:
                sink.post_message(Gst.Message.new_application(sink, Gst.Structure.new_empty("enough")))

    def stat(self, name):
        return self.stats.get_value(name)


def nms_seconds(run):
    """Of a frame, by crowdnms' own clocks."""
    if run.stat("device-frames") > 0:
        timed = run.stat("device-frames-timed")
        return run.stat("device-time") / timed * 1e-9 if timed else float("nan")
    return run.stat("nms-time") / run.stat("frames") * 1e-9


def row(size, name, run, idle):
    wall, cpu = run.wall - idle.wall, run.cpu - idle.cpu
    nms, frames = nms_seconds(run), run.stat("frames")
    return (f"| {size} | {name} | {1 / wall:.1f} | {wall * 1e3:.1f} | {cpu * 1e3:.1f} | "
            f"{run.stat('candidates') / frames:.1f} | {run.stat('survivors') / frames:.1f} | {nms * 1e3:.3f} | "
            f"{100 * nms / wall:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="NAME=ELEMENTS")
    parser.add_argument("--frames", type=int, default=30, help="of each row")
    parser.add_argument("--sizes", default="768x576,1920x1080,3840x2160")
    parser.add_argument("--source", default=SOURCE)
    options = parser.parse_args()
    Gst.init(None)
    detectors = dict(r.split("=", 1) for r in options.rows) or DETECTORS
    film = find_film() if "{film}" in options.source else ""
    print("| size | detector | frames/s | ms a frame | CPU ms a frame | candidates | survivors | NMS ms | NMS % |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in options.sizes.split(","):
        width, height = size.split("x")
        source = options.source.format(film=film, width=width, height=height)
        idle = Run(source, "identity", options.frames)
        for name, elements in detectors.items():
            print(row(size, name, Run(source, f"{elements} ! {NMS}", options.frames), idle), flush=True)


if __name__ == "__main__":
    main()
