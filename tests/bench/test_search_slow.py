#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""search_slow.py on the CPU, and the frames that it draws. Exit status 77: no numpy.

usage: test_search_slow.py LIBCROWDNMS COUNT_STEPS
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import numpy as np
    from gpu import mixtures
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LIBRARY, COUNT_STEPS = sys.argv.pop(1), sys.argv.pop(1)


def drawn(count, seed=1):
    """Recipes, each drawn anew or a variation of the one before."""
    random = np.random.default_rng(seed)
    recipe = mixtures.draw(random)
    for _ in range(count):
        recipe = mixtures.mutated(recipe, random) if random.random() < .8 else mixtures.draw(random)
        yield recipe


def same(one, other):
    return all((a is None and b is None) or np.array_equal(a, b) for a, b in zip(one, other))


class Mixtures(unittest.TestCase):
    def test_frames_are_whole(self):
        for recipe in drawn(300):
            for n in (1, 7, 500):
                boxes, scores, classes = mixtures.make(recipe, n)
                self.assertEqual((boxes.shape, boxes.dtype, scores.shape, scores.dtype),
                                 ((n, 4), np.float32, (n,), np.float32), recipe)
                self.assertTrue(np.isfinite(boxes).all() and np.isfinite(scores).all(), recipe)
                self.assertEqual(classes is None, recipe["classes"] == 1)

    def test_a_recipe_gives_the_same_frame_again(self):
        for recipe in drawn(50):
            again = json.loads(json.dumps(recipe))
            self.assertEqual(recipe, again)
            self.assertTrue(same(mixtures.make(recipe, 200), mixtures.make(again, 200)), recipe)

    def test_every_shape_has_boxes_that_overlap_or_are_apart(self):
        random = np.random.default_rng(1)
        for name, shape in mixtures.KINDS.items():
            boxes = shape(100, random, 50.0)
            self.assertTrue((boxes[:, 2:] > boxes[:, :2]).all(), name)
            self.assertGreater(len(np.unique(boxes, axis=0)), 50, name)


class Search(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, HERE / "search_slow.py", LIBRARY, *map(str, arguments)],
                              capture_output=True, text=True, check=False)

    def test_finds_and_times_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "slow.json"
            done = self.run_it("--candidates", 300, "--frames", 60, "--keep", 5, "--seed", 3, "--out", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("60 frames of 300, greedy, 0 wrong answers\n"), done.stdout)
            recorded = json.loads(file.read_text())
            times = [row["cost"] for row in recorded["slowest"]]
            self.assertEqual(len(times), 5)
            self.assertEqual(times, sorted(times, reverse=True))
            again = self.run_it("--replay", file)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertTrue(again.stdout.startswith("5 frames of 300, greedy, 0 wrong answers\n"), again.stdout)
            for row in recorded["slowest"]:
                self.assertIn(mixtures.describe(row["recipe"]), again.stdout)

    def test_counts_the_same_steps_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "slow.json"
            done = self.run_it("--steps", COUNT_STEPS, "--candidates", 2000, "--frames", 20, "--out", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [line for line in done.stdout.splitlines() if " steps a candidate " in line]
            self.assertGreater(len(found), 1, done.stdout)
            again = self.run_it("--steps", COUNT_STEPS, "--replay", file)
            self.assertEqual([line for line in again.stdout.splitlines() if " steps a candidate " in line], found)

    def test_says_what_is_above_a_bound(self):
        done = self.run_it("--candidates", 50, "--frames", 2, "--bound", 0)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("a call took more than 0 us\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
