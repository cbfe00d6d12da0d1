# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs gst-launch-1.0 on a film without end, to see how quick pipelines are."""

import collections
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

WARM_UP = 8  # frames of a stream in the shorter of two runs
GUESS = 64  # frames more at first, to find out how many the longer run may have
MORE = 8  # times more of them if that was too short
LOOPS = 40  # films one after the other
TRIES = 10  # runs that take no longer than starting, before that is an error
LEAST = 4  # frames of a stream in a run that is watched
SKIPPED = 20  # buffers whose host times do not count

NEW_ELEMENT = re.compile(r" new-element, .*, ix=\(uint\)(\d+), .*, name=\(string\)([^,]+)")
BUFFER = re.compile(r" buffer, thread-id=\(guint64\)(\d+), ts=\(guint64\)(\d+), .*, element-ix=\(uint\)(\d+), "
                    r".*peer-element-ix=\(uint\)(\d+)")


def launch(words, **settings):
    """Runs a pipeline and returns how many seconds it took."""
    started = time.perf_counter()
    done = subprocess.run(["gst-launch-1.0", "-q", *words], capture_output=True, text=True,
                          env={**os.environ, **settings})
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"gst-launch-1.0 {shlex.join(words)}\n{done.stderr}")
    sys.stderr.write(done.stderr)
    return seconds


class Film:
    """The H.264 stream of a film, many times over, in a file of its own."""

    def __init__(self, source, stream):
        launch(["filesrc", f"location={source}", "!", "qtdemux", "!", "h264parse", "!",
                "video/x-h264,stream-format=byte-stream,alignment=au", "!", "filesink", f"location={stream}"])
        once = stream.read_bytes()
        with stream.open("wb") as file:
            for _ in range(LOOPS):
                file.write(once)
        self.stream = stream
        self.frames = LOOPS * self.count_frames(once)

    @staticmethod
    def count_frames(stream):
        """Slices that begin a picture: NAL units of type 1 or 5 whose first macroblock is 0."""
        return sum(unit[0] & 31 in (1, 5) and unit[1] & 128 != 0 for unit in stream.split(b"\0\0\1")[1:])

    def words(self, pipeline, frames, streams=1):
        one = ["filesrc", f"location={self.stream}", "!", "h264parse", "!", "identity", f"eos-after={frames + 1}", "!",
               *pipeline.split(), "!", "fakesink", "sync=false"]
        return one * streams

    def command(self, pipeline, frames):
        words = self.words(pipeline, frames)
        return shlex.join(["gst-launch-1.0", *words]).replace(str(self.stream), self.stream.name)


def throughput(film, pipeline, streams, seconds, repeat):
    """Frames per second of all streams together."""
    def run(frames):
        return launch(film.words(pipeline, WARM_UP + frames, streams))

    def taken_by(frames):
        """Seconds that the frames take beyond starting. A run that takes none tells of other work here: once more."""
        for _ in range(TRIES):
            if (taken := run(frames) - start) > 0:
                return taken
        raise RuntimeError(f"{frames} frames take no longer than starting: this machine is too busy to measure on")

    run(0)
    start = statistics.median(run(0) for _ in range(repeat))
    max_frames, more = film.frames - WARM_UP, GUESS
    while (taken := run(more) - start) < seconds / 4 and more < max_frames:
        more = min(MORE * more, max_frames)
    if taken <= 0:
        taken = taken_by(more)
    more = int(min(max(more * seconds / taken, 1), max_frames))
    rates = [streams * more / taken_by(more) for _ in range(repeat)]
    return {"streams": streams, "fps": statistics.median(rates), "runs": rates, "frames": streams * more,
            "command": film.command(pipeline, WARM_UP + more)}


def pushes(log):
    """Buffers that go from pad to pad, from a log of GStreamer's stats tracer: thread, nanoseconds, the element that
    gives and the one that takes."""
    names, found = {}, []
    for line in log.splitlines():
        if element := NEW_ELEMENT.search(line):
            names[element[1]] = element[2]
        elif buffer := BUFFER.search(line):
            thread, at, giver, taker = buffer.groups()
            found.append((thread, int(at), names[giver], names[taker]))
    return found


def watched(words):
    """The pushes of a run. GStreamer has a tracer of elements' latencies, but in 1.26.2 it locks up."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        launch(words, GST_TRACERS="stats", GST_DEBUG="GST_TRACER:7", GST_DEBUG_FILE=str(log), GST_DEBUG_NO_COLOR="1")
        return pushes(log.read_text())


def host_times(pushed):
    """Microseconds that the host is in each element of one stream: from a buffer's coming in to the next one's going
    out in the same thread."""
    entered, times = {}, collections.defaultdict(list)
    for thread, at, giver, taker in pushed:
        if (thread, giver) in entered:
            times[re.sub(r"-?\d+$", "", giver)].append((at - entered.pop((thread, giver))) / 1e3)
        entered[thread, taker] = at
    counted = {element: sorted(found[SKIPPED:]) for element, found in times.items()}
    return [{"element": element, "median": statistics.median(found), "p99": found[int(.99 * len(found))],
             "buffers": len(found)} for element, found in counted.items() if found]


def slow_throughput(film, pipeline, streams, frames):
    """Frames per second of all streams together, and host times, from one run in which watching costs next to nothing.
    Counts from when each stream has its second frame: before the first is the start, and after it all wait for all."""
    each = max(math.ceil(frames / streams), LEAST)
    pushed = watched(film.words(pipeline, each, streams))
    arrived = collections.defaultdict(list)
    for _, at, _, taker in pushed:
        if taker.startswith("fakesink"):
            arrived[taker].append(at)
    begin, end = max(times[1] for times in arrived.values()), max(times[-1] for times in arrived.values())
    counted = sum(at > begin for times in arrived.values() for at in times)
    return {"streams": streams, "fps": counted / (end - begin) * 1e9, "frames": counted,
            "command": film.command(pipeline, each)}, host_times(pushed)


def element_of(kernel):
    """Whose kernel that is, by its name."""
    namespace = re.match(r"(?:void )?crowd::(?:(\w+)::)?", kernel)
    return {"hog": "crowddetect", "draw": "crowdoverlay"}.get(namespace[1], "crowdnms") if namespace else "others"


def device_times(trace, frames):
    """Launches, and microseconds on the device, of each element's kernels for a frame. A kernel may begin early and wait
    for the one before: such time counts for the other alone."""
    launches, nanoseconds = collections.Counter(), collections.defaultdict(collections.Counter)
    for kernel, times in trace["device_times"].items():
        name = kernel.removeprefix("void ").replace("(anonymous namespace)::", "").partition("(")[0]
        launches[element_of(kernel)] += times["launches"]
        nanoseconds[element_of(kernel)][name] += times["alone_ns"]
    return [{"element": element, "launches": launches[element] / frames, "time": kernels.total() / 1e3 / frames,
             "kernels": {name: time / 1e3 / frames for name, time in kernels.items()}, "overlaps": "once"}
            for element, kernels in nanoseconds.items()]


def trace_device(film, pipeline, frames, tracer):
    """The device times of one stream, by libcrowdtrace.so."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        launch(film.words(pipeline, frames), CUDA_INJECTION64_PATH=str(tracer.resolve()), CROWD_TRACE_TIMES="1",
               CROWD_TRACE_OUT=str(trace))
        if not trace.exists():
            raise SystemExit(f"{tracer} wrote nothing")
        return device_times(json.loads(trace.read_text()), frames)
