#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""recall.py on survivors made here, and the labels. Exit status 77: there is no numpy."""

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
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import recall  # noqa: E402


def frame(*rows):
    rows = np.array(rows, float).reshape(-1, 5)
    return recall.Frame(rows[:, :4], rows[:, 4])


LABELS = {0: (np.array([[0, 0, 10, 20], [100, 0, 110, 20], [200, 0, 210, 20.]]), np.array([True, True, False])),
          40: (np.array([[0, 0, 10, 20.]]), np.array([True]))}


class Scores(unittest.TestCase):
    def test_what_is_found_twice_is_wrong_once(self):
        frames = {0: frame([0, 0, 10, 20, .9], [1, 0, 10, 20, .8], [100, 0, 110, 20, .7])}
        self.assertEqual(recall.score(frames, LABELS, .5)[:2], (2 / 3, 2 / 3))

    def test_hidden_people_are_neither_right_nor_wrong(self):
        self.assertEqual(recall.score({0: frame([200, 0, 210, 20, .9])}, LABELS, .5), (0, 0, 0))
        both = {0: frame([200, 0, 210, 20, .9], [0, 0, 10, 20, .5])}
        self.assertEqual(recall.score(both, LABELS, .5), (1 / 3, 1, 1 / 3))

    def test_the_overlap_decides(self):
        third = {0: frame([0, 0, 10, 10, .9], [100, 0, 110, 9, .9])}
        self.assertEqual(recall.score(third, LABELS, .5)[0], 1 / 3)
        self.assertEqual(recall.score(third, LABELS, .4)[0], 2 / 3)

    def test_average_precision_falls_with_errors_of_better_scores(self):
        right, wrong = [0, 0, 10, 20], [50, 50, 60, 70]
        self.assertEqual(recall.score({40: frame([*right, .9], [*wrong, .1])}, LABELS, .5)[2], 1 / 3)
        self.assertEqual(recall.score({40: frame([*right, .1], [*wrong, .9])}, LABELS, .5)[2], 1 / 6)


class Files(unittest.TestCase):
    def test_the_labels(self):
        labels = recall.read_labels(HERE / "vtest-people.txt")
        self.assertEqual(sorted(labels), list(range(0, 800, 40)))
        boxes = np.concatenate([boxes for boxes, _ in labels.values()])
        self.assertEqual(len(boxes), 124)
        self.assertTrue((boxes[:, :2] >= 0).all() and (boxes[:, 2:] <= [recall.WIDTH, recall.HEIGHT]).all())
        self.assertTrue((boxes[:, 3] - boxes[:, 1] > 20).all() and (boxes[:, 2] - boxes[:, 0] > 8).all())

    def test_labels_find_themselves_in_both_formats(self):
        labels = recall.read_labels(HERE / "vtest-people.txt")
        mot = "".join(f"{f + 1},-1,{b[0]},{b[1]},{b[2] - b[0]},{b[3] - b[1]},0.5\n"
                      for f, (boxes, _) in labels.items() for b in boxes)
        lines = "".join(json.dumps({"frame": f, "objects": [{"box": list(b), "score": .5} for b in boxes]}) + "\n"
                        for f, (boxes, _) in labels.items())
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("det.txt", mot), ("survivors.jsonl", lines)):
                path = pathlib.Path(folder) / name
                path.write_text(text)
                output = subprocess.run([sys.executable, HERE / "recall.py", f"itself=@{path}"], check=True, text=True,
                                        stdout=subprocess.PIPE).stdout
                self.assertIn("123 people in 20 frames", output)
                self.assertIn("| itself | 6.2 | 1.00, 1.00, 1.00 | 1.00, 1.00, 1.00 |", output)


if __name__ == "__main__":
    unittest.main()
