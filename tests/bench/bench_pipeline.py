#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole pipelines on a GPU: a film decoded, searched, clustered and drawn in device memory, beside the same with frames
brought to the host after NVDEC. Measures frames a second of several streams in one process, and the host time that each
element takes for a buffer.

    tests/bench/bench_pipeline.py --film 768x576=film.mp4 --film 1080p=film1080.mp4 --out tests/bench/results
    tests/bench/plot_pipeline.py tests/bench/results/pipeline-GPU-DATE.json tests/bench/results

Films are H.264 in MP4. Needs gst-launch-1.0 with nvcodec and our plugins, and a GPU (exit status 77 without). What a
short run takes is taken off a long one's time, so that starting up does not count.
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
    parser.add_argument("--host-streams", help="the same on the host, which takes its time; as many unless given")
    parser.add_argument("--device", default="nvh264dec ! video/x-raw(memory:CUDAMemory) ! " + ELEMENTS.format(""),
                        help="what a parsed stream goes through in device memory; empty: nothing is measured")
    parser.add_argument("--host", default="nvh264dec ! cudadownload ! video/x-raw ! " + ELEMENTS.format("backend=cpu"),
                        help="the same on the host")
    parser.add_argument("--seconds", type=float, default=3, help="how long a run takes beyond starting up")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the median counts")
    parser.add_argument("--host-time-frames", type=int, default=300, help="buffers to take elements' host times of")
    parser.add_argument("--out", type=pathlib.Path, help="folder to write pipeline-GPU-DATE.json to")
    parser.add_argument("--commit", help="git commit of the plugins, for the record")
    parser.add_argument("--no-gpu", action="store_true", help="do not ask for a GPU: a trial of this script")
    return parser.parse_args()


def version():
    lines = subprocess.run(["gst-launch-1.0", "--version"], capture_output=True, text=True, check=True).stdout
    return lines.splitlines()[1]


def environment(options):
    return {"gpu": "none" if options.no_gpu else clocks()["name"], "date": datetime.date.today().isoformat(),
            "gstreamer": version(), "cores": os.cpu_count(), "commit": options.commit or "not given",
            "command": shlex.join(re.sub(r"/(?:[^/=]+/)+", "", word) for word in sys.argv)}


def write(written, folder):
    """After each measurement, so that what was measured is not lost with what was not."""
    if not folder:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"pipeline-{written['environment']['gpu'].lower().replace(' ', '-')}-{written['environment']['date']}"
    path = folder / f"{stem}.json"
    path.write_text(json.dumps(written, indent=1) + "\n")
    return path


def measure(options, paths, written):
    counts = {"device": options.streams, "host": options.host_streams or options.streams}
    with tempfile.TemporaryDirectory() as folder:
        for name, file in options.film:
            film = pipeline.Film(file, pathlib.Path(folder) / f"{name}.h264")
            for path, words in paths.items():
                for streams in map(int, counts[path].split(",")):
                    found = pipeline.throughput(film, words, streams, options.seconds, options.repeat)
                    written["throughput"].append({"film": name, "path": path, **found})
                    print(f"{name:10s} {path:7s} {streams:3d} streams {found['fps']:9.1f} frames/s", flush=True)
                    write(written, options.out)
                times = pipeline.host_times(film, words, options.host_time_frames)
                for element, time in times.items():
                    written["host_time"].append({"film": name, "path": path, "element": element, **time})
                    print(f"{name:10s} {path:7s} {element:20s} {time['median']:9.1f} us a buffer", flush=True)


def main():
    options = arguments()
    if not shutil.which("gst-launch-1.0"):
        skip("no gst-launch-1.0")
    if not options.no_gpu and not os.path.exists("/dev/nvidiactl"):
        skip("no NVIDIA GPU")
    paths = {name: words for name, words in (("device", options.device), ("host", options.host)) if words}
    written = {"environment": environment(options), "throughput": [], "host_time": []}
    if not options.no_gpu:
        written["environment"]["clocks before"] = clocks()
    measure(options, paths, written)
    if not options.no_gpu:
        written["environment"]["clocks after"] = clocks()
    if path := write(written, options.out):
        print(path)


main()
