#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_pipeline.py on this machine, with another decoder and short runs, and its figure. Exit status 77: there is no
matplotlib, x264enc or avdec_h264.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    from gpu import pipeline, plots  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if any(subprocess.run(["gst-inspect-1.0", "--exists", name]).returncode for name in ("x264enc", "avdec_h264")):
    print("skipped: no x264enc or avdec_h264")
    sys.exit(77)

FRAMES = 50
TRACE = "0:00:01.5 42 0x55 TRACE GST_TRACER :0:: "
ELEMENT = TRACE + "new-element, thread-id=(guint64)1, ts=(guint64)5, ix=(uint){}, parent-ix=(uint)9, name=(string){}, \
type=(string)GstThing, is-bin=(boolean)0;\n"
BUFFER = TRACE + "buffer, thread-id=(guint64)7, ts=(guint64){}, pad-ix=(uint)8, element-ix=(uint){}, \
peer-pad-ix=(uint)9, peer-element-ix=(uint){}, buffer-size=(uint)614400, have-buffer-pts=(boolean)1;\n"
TIMES = {"crowd::hog::(anonymous namespace)::zoom_kernel(crowd::hog::ZoomWork)": (20, 5000),
         "crowd::hog::(anonymous namespace)::blocks_kernel(crowd::hog::BlocksWork)": (10, 20_000),
         "void crowd::direct::(anonymous namespace)::small<true>(crowd::direct::Arguments)": (4, 1000),
         "crowd::(anonymous namespace)::collect(crowd::Frames, crowd::(anonymous namespace)::Slots)": (5, 2000),
         "void crowd::draw::(anonymous namespace)::paint_tiles<0>(crowd::draw::PaintJob)": (10, 3000),
         "ConvertNV12BLtoNV12(crowd::Frames)": (10, 4000)}
# In front of gst-launch-1.0, as the tracer that the driver loads.
FAKE_TRACER = """#!/bin/sh
[ -z "$CUDA_INJECTION64_PATH" ] || [ "$CROWD_TRACE_TIMES" != 1 ] || cp "$CUDA_INJECTION64_PATH" "$CROWD_TRACE_OUT"
PATH=${PATH#*:} exec gst-launch-1.0 "$@"
"""


def run(*arguments, **settings):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **settings})


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.film = cls.folder / "film.mp4"
        words = f"videotestsrc num-buffers={FRAMES} ! video/x-raw,format=I420 ! x264enc ! mp4mux ! filesink location="
        pipeline.launch((words + str(cls.film)).split())

    def test_counts_frames_of_a_stream(self):
        film = pipeline.Film(self.film, self.folder / "stream.h264")
        self.assertEqual(film.frames, FRAMES * pipeline.LOOPS)

    def test_reads_the_log_of_the_stats_tracer(self):
        log = ELEMENT.format(0, "h264parse0") + ELEMENT.format(1, "avdec_h264-0") + BUFFER.format(1500, 0, 1)
        self.assertEqual(pipeline.pushes(log), [("7", 1500, "h264parse0", "avdec_h264-0")])

    def test_takes_the_time_from_a_buffer_to_the_next(self):
        steps = [(0, "parse0", "dec0"), (100, "parse0", "dec0"), (1600, "dec0", "flip1"), (1650, "flip1", "sink0"),
                 (2000, "dec0", "flip1"), (2090, "flip1", "sink0")]
        pushed = [("7", 10_000 * n + at, *elements) for n in range(pipeline.SKIPPED + 3) for at, *elements in steps]
        found = {record.pop("element"): record for record in pipeline.host_times(pushed)}
        self.assertEqual(found, {"dec": {"median": 1.5, "p99": 1.5, "buffers": 3},
                                 "flip": {"median": .07, "p99": .09, "buffers": 26}})
        elsewhere = [(str(n), *push[1:]) for n, push in enumerate(pushed)]
        self.assertEqual(pipeline.host_times(elsewhere), [])

    def test_gives_kernels_to_elements(self):
        trace = {"device_times": {name: {"launches": n, "alone_ns": t} for name, (n, t) in TIMES.items()}}
        found = {record.pop("element"): record for record in pipeline.device_times(trace, 10)}
        self.assertEqual({record.pop("overlaps") for record in found.values()}, {"once"})
        self.assertEqual(found, {
            "crowddetect": {"launches": 3, "time": 2.5,
                            "kernels": {"crowd::hog::zoom_kernel": .5, "crowd::hog::blocks_kernel": 2}},
            "crowdnms": {"launches": .9, "time": .3, "kernels": {"crowd::direct::small<true>": .1,
                                                                 "crowd::collect": .2}},
            "crowdoverlay": {"launches": 1, "time": .3, "kernels": {"crowd::draw::paint_tiles<0>": .3}},
            "others": {"launches": 1, "time": .4, "kernels": {"ConvertNV12BLtoNV12": .4}}})

    def test_tells_a_pipeline_that_does_not_play(self):
        with self.assertRaisesRegex(SystemExit, "no-such-element"):
            pipeline.launch(["fakesrc", "num-buffers=1", "!", "no-such-element"])

    def test_measures_and_plots(self):
        launcher = self.folder / "bin" / "gst-launch-1.0"
        launcher.parent.mkdir()
        launcher.write_text(FAKE_TRACER)
        launcher.chmod(0o755)
        trace = self.folder / "libcrowdtrace.so"
        trace.write_text(json.dumps({"device_times": {name: {"launches": n, "alone_ns": t}
                                                      for name, (n, t) in TIMES.items()}}))
        result = run(os.path.relpath(HERE / "bench_pipeline.py"), "--no-gpu", "--film", f"small={self.film}",
                     "--streams", "1,2", "--device", "avdec_h264 ! video/x-raw",
                     "--host", "avdec_h264 ! videoflip method=clockwise",
                     "--seconds", ".1", "--repeat", "1", "--time-frames", "25", "--host-frames", "50",
                     "--tracer", trace, "--out", self.folder, PATH=f"{launcher.parent}:{os.environ['PATH']}")
        self.assertEqual(result.returncode, 0, result)
        source = pathlib.Path(result.stdout.splitlines()[-1])
        written = json.loads(source.read_text())
        self.assertTrue(written["environment"]["command"].startswith(
            "bench_pipeline.py --no-gpu --film small=film.mp4 --streams 1,2 --device 'avdec_h264 ! video/x-raw' "))
        self.assertEqual([(r["path"], r["streams"]) for r in written["throughput"]],
                         [("device", 1), ("device", 2), ("host", 1), ("host", 2)])
        self.assertTrue(all(r["fps"] > 0 and r["film"] == "small" for r in written["throughput"]))
        one, two = (r["frames"] for r in written["throughput"][2:])
        self.assertTrue(one == 48 and 23 <= two <= 46, (one, two))
        flip, = (r for r in written["host_time"] if r["element"] == "videoflip")
        self.assertTrue(0 < flip["median"] <= flip["p99"], flip)
        self.assertEqual(flip["path"], "host")
        self.assertEqual(flip["buffers"], 50 - pipeline.SKIPPED)
        decoder, = (r for r in written["host_time"] if (r["path"], r["element"]) == ("device", "avdec_h264"))
        self.assertTrue(0 < decoder["buffers"] <= 25, decoder)
        self.assertEqual({r["element"]: r["launches"] for r in written["device_time"]},
                         {"crowddetect": 1.2, "crowdnms": .36, "crowdoverlay": .4, "others": .4})

        result = run(HERE / "plot_pipeline.py", source, self.folder / "plots")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        page, figure = map(pathlib.Path, result.stdout.splitlines())
        self.assertIn("| small | 2 |", page.read_text())
        self.assertIn("| small | crowdoverlay | 0.4 | 0.12 | crowd::draw::paint_tiles<0> 0.12 |", page.read_text())
        self.assertTrue(1000 < figure.stat().st_size < 200_000)

    def test_results_are_shown_as_they_are(self):
        sources = list((HERE / "results").glob("pipeline-*.json"))
        self.assertTrue(sources)
        for source in sources:
            with self.subTest(source.name):
                run(HERE / "plot_pipeline.py", source, self.folder / "shown")
                page = f"{source.stem}.md"
                self.assertEqual((self.folder / "shown" / page).read_text(), (source.parent / page).read_text())

    def test_says_that_there_is_no_gpu(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is one")
        result = run(HERE / "bench_pipeline.py", "--film", f"small={self.film}", CROWD_REQUIRE_GPU="0")
        self.assertEqual((result.returncode, result.stdout), (77, "skipped: no NVIDIA GPU\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
