#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/nms-from-python.py as a program and as a module, and its structs and those of the GPU's tests beside
crowd/nms.h: test_python.py EXAMPLE LIBRARY LAYOUTS BINDING..."""

import ctypes
import importlib.util
import subprocess
import sys
import unittest

EXAMPLE, LIBRARY, LAYOUTS, *BINDINGS = sys.argv[1:]


def load(path):
    spec = importlib.util.spec_from_file_location("binding", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example = load(EXAMPLE)


def run(*arguments, stdin=""):
    return subprocess.run([sys.executable, EXAMPLE, "--library", LIBRARY, *arguments], input=stdin,
                          capture_output=True, text=True, timeout=60)


class Program(unittest.TestCase):
    def test_clusters_its_own_boxes(self):
        result = run()
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout.splitlines(), [
            "5 candidates, 3 survivors, 0 invalid",
            "   1  104 84 150 178  score 0.97  represents 3",
            "   3  300 90 344 182  score 0.8  represents 1",
            "   4  316 95 356 180  score 0.62  represents 1",
        ])

    def test_reads_boxes_and_takes_a_threshold(self):
        boxes = "0 0 10 5 0.5\n0 0 10 4 0.75\n7 7 7 9 1\n"
        self.assertIn("3 candidates, 1 survivors, 1 invalid\n", run("-", stdin=boxes).stdout)
        self.assertIn("3 candidates, 2 survivors, 1 invalid\n", run("-", "--iou-threshold", "0.9", stdin=boxes).stdout)

    def test_says_what_is_wrong(self):
        for arguments, stdin, words in [
            (["-"], "0 0 10 5 0.5\n1 2 3\n", "line 2: expected 'x1 y1 x2 y2 score'"),
            (["-"], "one two three four five\n", "line 1"),
            (["--iou-threshold", "1.5"], "", "overlap_threshold is 1.5, must lie in [0, 1]"),
            (["--library", "no-such-library.so"], "", "no-such-library.so"),
        ]:
            result = run(*arguments, stdin=stdin)
            self.assertEqual(result.returncode, 1, result)
            self.assertIn(words, result.stderr)
            self.assertNotIn("Traceback", result.stderr)


class Layouts(unittest.TestCase):
    def test_are_those_of_the_header(self):
        lines = subprocess.run([LAYOUTS], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        for binding in (EXAMPLE, *BINDINGS):
            module = load(binding)
            for name, size, reserved in map(str.split, lines):
                struct = getattr(module, name)
                with self.subTest(binding=binding, struct=name):
                    self.assertEqual((ctypes.sizeof(struct), struct.reserved.offset), (int(size), int(reserved)))


class Module(unittest.TestCase):
    def test_takes_no_boxes(self):
        self.assertEqual(example.Nms(LIBRARY).greedy([], []), ([], 0))

    def test_breaks_ties_by_index(self):
        box = (3, 4, 13, 9)
        self.assertEqual(example.Nms(LIBRARY).greedy([box] * 4, [0.5] * 4), ([(0, 4)], 0))

    def test_compares_with_the_threshold_as_it_is(self):
        boxes, scores = [(0, 0, 10, 1), (0, 0, 3, 1)], [0.9, 0.8]
        self.assertEqual(example.Nms(LIBRARY).greedy(boxes, scores, 0.3), ([(0, 2)], 0))
        self.assertEqual(example.Nms(LIBRARY).greedy(boxes, scores, 0.30000002), ([(0, 1), (1, 1)], 0))

    def test_refuses_arrays_of_different_length(self):
        with self.assertRaises(ValueError):
            example.Nms(LIBRARY).greedy([(0, 0, 1, 1)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
