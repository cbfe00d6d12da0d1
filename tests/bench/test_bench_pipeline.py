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
LOG = """
0:00:01.5 42 0x55 TRACE GST_TRACER :0:: element-latency, element-id=(string)0x1, element=(string)crowddetect0, \
src=(string)src, time=(guint64)12500, ts=(guint64)1500000000;
0:00:01.5 42 0x55 TRACE GST_TRACER :0:: element-latency, element-id=(string)0x2, element=(string)avdec_h264-0, \
src=(string)src, time=(guint64)7, ts=(guint64)1500000001;
0:00:01.6 42 0x55 TRACE GST_TRACER :0:: latency, src-element=(string)a, time=(guint64)99, ts=(guint64)1;
0:00:01.7 42 0x55 TRACE GST_TRACER :0:: element-latency, element-id=(string)0x1, element=(string)crowddetect0, \
src=(string)src, time=(guint64)500, ts=(guint64)1700000000;
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

    def test_reads_the_log_of_the_latency_tracer(self):
        self.assertEqual(pipeline.latencies(LOG), {"crowddetect": [12.5, .5], "avdec_h264": [.007]})

    def test_tells_a_pipeline_that_does_not_play(self):
        with self.assertRaisesRegex(SystemExit, "no-such-element"):
            pipeline.launch(["fakesrc", "num-buffers=1", "!", "no-such-element"])

    def test_measures_and_plots(self):
        result = run(HERE / "bench_pipeline.py", "--no-gpu", "--film", f"small={self.film}", "--streams", "1,2",
                     "--device", "avdec_h264", "--host", "avdec_h264 ! videoflip method=clockwise",
                     "--seconds", ".1", "--repeat", "1", "--host-time-frames", "30", "--out", self.folder)
        self.assertEqual(result.returncode, 0, result)
        source = pathlib.Path(result.stdout.splitlines()[-1])
        written = json.loads(source.read_text())
        self.assertEqual([(r["path"], r["streams"]) for r in written["throughput"]],
                         [("device", 1), ("device", 2), ("host", 1), ("host", 2)])
        self.assertTrue(all(r["fps"] > 0 and r["film"] == "small" for r in written["throughput"]))
        flip, = (r for r in written["host_time"] if r["element"] == "videoflip")
        self.assertTrue(0 < flip["median"] <= flip["p99"], flip)
        self.assertEqual(flip["path"], "host")
        self.assertAlmostEqual(flip["buffers"], 30, delta=1)

        result = run(HERE / "plot_pipeline.py", source, self.folder / "plots")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        page, figure = map(pathlib.Path, result.stdout.splitlines())
        self.assertIn("| small | 2 |", page.read_text())
        self.assertTrue(1000 < figure.stat().st_size < 200_000)

    def test_says_that_there_is_no_gpu(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is one")
        result = run(HERE / "bench_pipeline.py", "--film", f"small={self.film}", CROWD_REQUIRE_GPU="0")
        self.assertEqual((result.returncode, result.stdout), (77, "skipped: no NVIDIA GPU\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
