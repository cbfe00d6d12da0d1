#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Synthetic crowds, the choice of rules, and a small run of bench_rules.py. Exit status 77: a Python module is missing.

usage: test_bench_rules.py    in the environment of the build: elements, and gst-crowd-read-survivors in PATH
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import gi  # noqa: F401
    import matplotlib  # noqa: F401
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import crowds  # noqa: E402
import rules_report  # noqa: E402


class Crowds(unittest.TestCase):
    def test_nearer_people_hide_others(self):
        boxes = np.array([[0, 0, 40, 100], [20, 0, 60, 100], [200, 0, 240, 100], [200, 0, 240, 100.]])
        seen, shares = crowds.visible_parts(boxes)
        self.assertEqual(shares.tolist(), [.5, 1, 0, 1])
        self.assertEqual(seen[0].tolist(), [0, 0, 20, 100])
        self.assertEqual(seen[1].tolist(), boxes[1].tolist())
        self.assertEqual((seen[2, 2:] - seen[2, :2]).tolist(), [0, 0])

    def test_files_depend_on_the_seed_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for seed in (1, 1, 2):
                truth, found = pathlib.Path(folder) / "truth", pathlib.Path(folder) / "found"
                crowds.write(seed, 20, 2, False, truth, found)
                texts.append(truth.read_text() + found.read_text())
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_boxes_are_in_the_picture_and_visible_ones_in_full_ones(self):
        for visible in (False, True):
            boxes, seen, shares, regions, rows = crowds.frame(3, 80, 0, visible)
            for box in (boxes, seen, regions, rows[:, :4]):
                self.assertTrue((box >= 0).all() and (box <= [crowds.WIDTH, crowds.HEIGHT] * 2).all())
            self.assertTrue((seen[:, :2] >= boxes[:, :2]).all() and (seen[:, 2:] <= boxes[:, 2:]).all())
            self.assertTrue((0 <= shares).all() and (shares <= 1).all() and (shares < .5).any() and (shares == 1).any())
            self.assertTrue((rows[:, 4] >= crowds.MIN_SCORE).all() and (rows[:, 4] <= 1).all())

    def test_what_rules_read_is_that_of_the_person(self):
        boxes, seen, _, _, rows = crowds.frame(3, 80, 0)
        known = crowds.extras(np.random.default_rng(1), boxes, seen, rows, False)
        looks = np.array([item["feature"] for item in known])
        owners = rows[:, 5].astype(int)
        self.assertEqual(looks.shape, (len(rows), crowds.FEATURE_LENGTH))
        self.assertTrue(set(range(len(boxes))) & set(owners) and -1 in owners)
        one = owners == np.bincount(owners[owners >= 0]).argmax()
        others = (owners >= 0) & ~one
        self.assertLess(np.linalg.norm(looks[one] - looks[one].mean(0), axis=1).max(), 2)
        self.assertGreater(np.linalg.norm(looks[others] - looks[one].mean(0), axis=1).mean(), 2.5)
        proposals = np.array([item["proposal"] for item in known])
        self.assertEqual(len(set(proposals[one])), one.sum())  # a person's candidates are of proposals of their own
        self.assertLess(len(set(proposals)), len(rows))  # which they share with somebody else's
        self.assertTrue(all(0 <= item["density"] <= 1 for item in known))
        for row, item in zip(rows, known):
            part = item["visible-box"]
            self.assertTrue((part >= row[[0, 1, 0, 1]] - .01).all() and (part <= row[[2, 3, 2, 3]] + .01).all())

    def test_denser_crowds_overlap_more(self):
        def close(density):
            boxes = [crowds.frame(1, density, n)[0] for n in range(8)]
            return np.mean([(crowds.overlap(b, b) >= .5).sum(1).mean() for b in boxes])
        self.assertTrue(close(10) < close(40) < close(160))


def scores(**by_threshold):
    return {name[1:].replace("_", "."): {"ap50": v[0], "mr": v[1]} for name, v in by_threshold.items()}


class Report(unittest.TestCase):
    def test_the_best_threshold(self):
        several = scores(t0_3=(.7, .2), t0_5=(.8, .3), t0_7=(.9, .4))
        self.assertEqual(rules_report.best_threshold(several), "0.7")
        self.assertEqual(rules_report.best_threshold(several, "mr"), "0.3")
        self.assertEqual(rules_report.best_threshold(scores(t0_3=(.8, .2), t0_6=(.8, .2))), "0.6")

    def test_rules_near_the_best(self):
        measured = {"a": scores(t0_5=(.8, .3)), "b": scores(t0_5=(.5, .1), t0_7=(.804, .3)), "c": scores(t0_5=(.79, .2))}
        self.assertEqual(rules_report.winners(measured, "ap50"), ("0.804", "b 0.7, a 0.5"))
        self.assertEqual(rules_report.winners(measured, "mr"), ("0.100", "b 0.5"))


class Run(unittest.TestCase):
    def test_two_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "rules.md"
            subprocess.run([sys.executable, HERE / "bench_rules.py", page, "--frames", "2", "--densities", "10,20",
                            "--thresholds", ".5", "--no-film"], check=True)
            text = page.read_text()
            self.assertTrue(page.with_suffix(".png").stat().st_size > 1000)
        rows = [line for line in text.split("\n") if line.startswith("| greedy iou | ")]
        self.assertEqual(len(rows), 6, text)
        self.assertRegex(rows[0], r"^\| greedy iou( \| [01]\.\d{3} [01]\.\d{3} \d+){2} \|$")
        ruled = [line for line in text.split("\n") if line.startswith("| greedy rule=feature | ")]
        self.assertEqual(len(ruled), 4, text)  # not of crowds without features
        # The paper's method has a metric of its own.
        self.assertIn("\n| paper | ", text)
        self.assertNotIn("paper iou", text)


if __name__ == "__main__":
    unittest.main()
