#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole pipelines on a GPU: a film decoded, searched, clustered and drawn in device memory, beside the same with frames
brought to the host after NVDEC. Measures frames a second of several streams in one process, the host time that each
element takes for a buffer, and the device time of its kernels for a frame.

    tests/bench/bench_pipeline.py --film 768x576=film.mp4 --film 1080p=film1080.mp4 --out tests/bench/results \\
        --tracer build/tests/gpu/trace/libcrowdtrace.so
    tests/bench/plot_pipeline.py tests/bench/results/pipeline-GPU-DATE-gstreamer-1.22.json tests/bench/results

Films are H.264 in MP4. Needs gst-launch-1.0 with nvcodec and our plugins, and a GPU (exit status 77 without). In device
memory, what a short run takes is taken off a long one's time, so that starting up does not count; on the host, where a
frame takes a hundred times as long, frames are timed as they come out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from gpu import pipeline  # noqa: E402
from gpu.machine import clocks, skip  # noqa: E402

ELEMENTS = "crowddetect ! crowdnms metric=ios iou-threshold=0.6 {} ! crowdoverlay"


def named_film(text):
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("wants NAME=FILE")
    return name, pathlib.Path(path)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--film", type=named_film, action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("--streams", default="1,8,32", help="how many streams at once")
    parser.add_argument("--host-streams", help="the same on the host; as many unless given")
    parser.add_argument("--device", default="nvh264dec ! video/x-raw(memory:CUDAMemory) ! " + ELEMENTS.format(""),
                        help="what a parsed stream goes through in device memory; empty: nothing is measured")
    parser.add_argument("--host", default="nvh264dec ! cudadownload ! video/x-raw ! " + ELEMENTS.format("backend=cpu"),
                        help="the same on the host")
    parser.add_argument("--seconds", type=float, default=3, help="how long a run on the device takes beyond starting")
    parser.add_argument("--repeat", type=int, default=3, help="runs on the device, of which the median counts")
    parser.add_argument("--time-frames", type=int, default=300, help="frames on the device to take elements' times of")
    parser.add_argument("--host-frames", type=int, default=100,
                        help=f"frames of all streams of a run on the host, at least {pipeline.LEAST} of each")
    parser.add_argument("--tracer", type=pathlib.Path, help="libcrowdtrace.so; without there are no kernels' times")
    parser.add_argument("--out", type=pathlib.Path, help="folder to write pipeline-GPU-DATE-gstreamer-VERSION.json to")
    parser.add_argument("--commit", help="git commit of the plugins, for the record")
    parser.add_argument("--no-gpu", action="store_true", help="do not ask for a GPU: a trial of this script")
    return parser.parse_args()


def version():
    lines = subprocess.run(["gst-launch-1.0", "--version"], capture_output=True, text=True, check=True).stdout
    return lines.splitlines()[1]


def environment(options):
    return {"gpu": "none" if options.no_gpu else clocks()["name"], "date": datetime.date.today().isoformat(),
            "gstreamer": version(), "cores": os.cpu_count(), "commit": options.commit or "not given",
            "command": shlex.join(re.sub(r"^([^=/ ]*=)?[^ ]*/(?=.)", r"\1", word) for word in sys.argv)}


class Results:
    """Written after each measurement, so that what was measured is not lost with what was not."""

    def __init__(self, options):
        self.gpu, self.folder = not options.no_gpu, options.out
        self.written = {"environment": environment(options), "throughput": [], "host_time": [], "device_time": []}
        self.note_clocks("clocks before")

    def note_clocks(self, when):
        if self.gpu:
            self.written["environment"][when] = clocks()

    def path(self):
        where = self.written["environment"]
        gpu, gstreamer = where["gpu"].lower().replace(" ", "-"), re.search(r"\d+\.\d+", where["gstreamer"])[0]
        return self.folder / f"pipeline-{gpu}-{where['date']}-gstreamer-{gstreamer}.json"

    def add(self, kind, film, path, records, say):
        for record in records:
            self.written[kind].append({"film": film, "path": path, **record})
            print(f"{film:10s} {path:7s} {say(record)}", flush=True)
        self.note_clocks("clocks after")
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.path().write_text(json.dumps(self.written, indent=1) + "\n")

    def add_rate(self, film, path, found):
        self.add("throughput", film, path, [found], "{0[streams]:3d} streams {0[fps]:9.1f} frames/s".format)

    def add_host_times(self, film, path, found):
        self.add("host_time", film, path, found, "{0[element]:20s} {0[median]:9.1f} us on the host".format)

    def add_device_times(self, film, found):
        self.add("device_time", film, "device", found, "{0[element]:20s} {0[time]:9.1f} us on the device".format)


def measure_device(options, name, film, results):
    for streams in map(int, options.streams.split(",")):
        found = pipeline.throughput(film, options.device, streams, options.seconds, options.repeat)
        results.add_rate(name, "device", found)
    pushed = pipeline.watched(film.words(options.device, pipeline.SKIPPED + options.time_frames))
    results.add_host_times(name, "device", pipeline.host_times(pushed))
    if options.tracer:
        found = pipeline.trace_device(film, options.device, options.time_frames, options.tracer)
        results.add_device_times(name, found)


def measure_host(options, name, film, results):
    for streams in map(int, (options.host_streams or options.streams).split(",")):
        found, times = pipeline.slow_throughput(film, options.host, streams, options.host_frames)
        results.add_rate(name, "host", found)
        if streams == 1:
            results.add_host_times(name, "host", times)


def main():
    options = arguments()
    if not shutil.which("gst-launch-1.0"):
        skip("no gst-launch-1.0")
    if not options.no_gpu and not os.path.exists("/dev/nvidiactl"):
        skip("no NVIDIA GPU")
    results = Results(options)
    with tempfile.TemporaryDirectory() as folder:
        films = {name: pipeline.Film(file, pathlib.Path(folder) / f"{name}.h264") for name, file in options.film}
        for measure, wanted in ((measure_device, options.device), (measure_host, options.host)):
            for name, film in films.items() if wanted else ():
                measure(options, name, film, results)
    if options.out:
        print(results.path())


main()
