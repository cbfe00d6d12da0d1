# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs gst-launch-1.0 on a film without end, to see how quick pipelines are."""

import collections
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile
import time

WARM_UP = 8  # frames of a stream in the shorter of two runs
GUESS = 8  # frames more at first, to find out how many the longer run may have, and times more of them
LOOPS = 40  # films one after the other
SKIPPED = 20  # buffers whose host times do not count

LATENCY = re.compile(r"element-latency, .*element=\(string\)([^,]+), .*time=\(guint64\)(\d+)")


def launch(words, **settings):
    """Runs a pipeline and returns how many seconds it took."""
    started = time.perf_counter()
    done = subprocess.run(["gst-launch-1.0", "-q", *words], capture_output=True, text=True,
                          env={**os.environ, **settings})
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"gst-launch-1.0 {shlex.join(words)}\n{done.stderr}")
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
        one = ["filesrc", f"location={self.stream}", "!", "h264parse", "!", "identity", f"eos-after={frames}", "!",
               *pipeline.split(), "!", "fakesink", "sync=false"]
        return one * streams

    def command(self, pipeline, frames):
        words = self.words(pipeline, frames)
        return shlex.join(["gst-launch-1.0", *words]).replace(str(self.stream), self.stream.name)


def throughput(film, pipeline, streams, seconds, repeat):
    """Frames per second of all streams together."""
    def run(frames):
        return launch(film.words(pipeline, WARM_UP + frames, streams))

    run(0)
    start = statistics.median(run(0) for _ in range(repeat))
    most, more = film.frames - WARM_UP, GUESS
    while (taken := run(more) - start) < seconds / 4 and more < most:
        more = min(GUESS * more, most)
    more = int(min(max(more * seconds / taken, 1), most))
    rates = [streams * more / (run(more) - start) for _ in range(repeat)]
    return {"streams": streams, "fps": statistics.median(rates), "runs": rates, "frames": streams * more,
            "command": film.command(pipeline, WARM_UP + more)}


def latencies(log):
    """Microseconds of each element for each buffer, from a log of GStreamer's latency tracer."""
    times = collections.defaultdict(list)
    for element, nanoseconds in LATENCY.findall(log):
        times[re.sub(r"-?\d+$", "", element)].append(int(nanoseconds) / 1e3)
    return times


def host_times(film, pipeline, frames):
    """How long a buffer is in each element on the host, from pad to pad, in one stream."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        launch(film.words(pipeline, SKIPPED + frames), GST_TRACERS="latency(flags=element)", GST_DEBUG="GST_TRACER:7",
               GST_DEBUG_FILE=str(log), GST_DEBUG_NO_COLOR="1")
        found = {element: sorted(times[SKIPPED:]) for element, times in latencies(log.read_text()).items()}
    return {element: {"median": statistics.median(times), "p99": times[int(.99 * len(times))], "buffers": len(times)}
            for element, times in found.items() if times}
