#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_streams on candidates from crowdinject, in system memory. Exit status 77: there is no x264enc or avdec_h264.

usage: test_bench_streams.py BENCH_STREAMS
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

DECODE = "h264parse ! avdec_h264"


def bench(*args):
    return subprocess.run([PROGRAM, "--seconds", ".2", "--decode", DECODE, *args], capture_output=True, text=True,
                          check=False, timeout=100)


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.film = pathlib.Path(folder.name) / "film.h264"
        subprocess.run(["gst-launch-1.0", "-q", *"videotestsrc num-buffers=20 ! x264enc ! h264parse ! "
                        "video/x-h264,stream-format=byte-stream ! filesink".split(), f"location={cls.film}"], check=True)

    def test_has_a_row_of_each_size_detector_and_number_of_streams(self):
        done = bench("--streams", "1,3", f"small={self.film}", f"other={self.film}", "few=crowdinject candidates=50",
                     "many=crowdinject candidates=500 seed=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]
                if line.startswith("|")]
        self.assertIn(f"{DECODE} ! NAME ! crowdnms metric=ios", done.stdout)
        self.assertTrue(done.stdout.endswith("* few: `crowdinject candidates=50`\n"
                                             "* many: `crowdinject candidates=500 seed=2`\n"), done.stdout)
        self.assertEqual([row[:3] for row in rows], [[size, name, streams] for name in ("few", "many")
                                                     for size in ("small", "other") for streams in ("1", "3")])
        for row in rows:
            start, rate, each, candidates, survivors, nms, share = map(float, row[3:])
            self.assertEqual(candidates, 50 if row[1] == "few" else 500)
            self.assertTrue(0 < survivors <= candidates and nms > 0 and start >= 0, row)
            self.assertGreater(rate, 20, row)
            self.assertAlmostEqual(each, 1000 / rate, delta=.02 + each / 50)
            self.assertAlmostEqual(share, 1e-4 * nms * rate, delta=.02 + share / 20)

    def test_what_fails_is_said(self):
        done = bench("--streams", "1", f"small={self.film}", "broken=crowdinject location=/nowhere.jsonl")
        self.assertEqual((done.returncode, done.stdout.count("broken")), (1, 0))
        self.assertIn("/nowhere.jsonl", done.stderr)
        for wrong in (["few=crowdinject"], ["--streams"], ["nonsense"]):
            done = bench(*wrong)
            self.assertEqual(done.returncode, 1, wrong)
            self.assertIn("bench_streams: ", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    if any(subprocess.run(["gst-inspect-1.0", "--exists", name]).returncode for name in ("x264enc", "avdec_h264")):
        print("skipped: no x264enc or avdec_h264")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
