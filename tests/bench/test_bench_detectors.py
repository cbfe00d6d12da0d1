#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_detectors.py on candidates from crowdinject. Exit status 77: GStreamer cannot be used from this Python."""

import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "bench_detectors.py"
SOURCE = "videotestsrc ! video/x-raw,width={width},height={height},framerate=25/1"


def bench(*args):
    return subprocess.run([sys.executable, SCRIPT, "--source", SOURCE, "--sizes", "320x240,640x480", *args],
                          capture_output=True, text=True, check=False)


class Table(unittest.TestCase):
    def test_has_a_row_of_each_size_and_detector(self):
        done = bench("--frames", "6", "few=crowdinject candidates=50", "many=crowdinject candidates=500")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
        self.assertEqual([row[:2] for row in rows], [["320x240", "few"], ["320x240", "many"], ["640x480", "few"],
                                                     ["640x480", "many"]])
        for row in rows:
            self.assertEqual(float(row[5]), 50 if row[1] == "few" else 500)
            self.assertTrue(0 < float(row[6]) <= float(row[5]), row)
            self.assertGreater(float(row[7]), 0)

    def test_what_fails_is_said(self):
        done = bench("--frames", "6", "broken=crowdinject location=/nowhere.jsonl")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("crowdinject location=/nowhere.jsonl", done.stderr)

    def test_a_film_that_is_too_short_is_no_row(self):
        done = subprocess.run([sys.executable, SCRIPT, "--source", SOURCE.replace("videotestsrc", "videotestsrc num-buffers=2"),
                               "--sizes", "320x240", "few=crowdinject"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("three frames", done.stderr)


if __name__ == "__main__":
    try:
        import gi
        gi.require_version("Gst", "1.0")
    except (ImportError, ValueError) as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main()
