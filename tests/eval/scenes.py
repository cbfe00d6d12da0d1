# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ground truth and detections in lines and columns, for tests that work curves out by hand."""

import pathlib
import sys
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "tools"))
from crowd_eval import join, tables  # noqa: E402

WIDTH, HEIGHT = 40, 100  # of a person


def options(**given):
    values = {"iou": .5, "max_dets": 1000, "published": True, "aspect": None}
    return types.SimpleNamespace(**values | given)


def place(n):
    """The box of the n-th of people who stand apart."""
    return 10 + 60 * n, 10, WIDTH, HEIGHT


def scenes(people, detections, images=None, size=None, **columns):
    """people: [(image, box)]; detections: [(image, box, score)]."""
    truth = tables.make_truth("truth", [p[0] for p in people], [p[1] for p in people], **columns)
    if images:
        truth.images = np.arange(1, images + 1)
    found = tables.make_detections("found", *(zip(*detections) if detections else ([], [], [])))
    classes, _ = join.join(truth, found, join.Asked(size=size))
    return classes[0]


def row(people, outcomes, images=1):
    """People apart in image 1, and detections there whose scores fall, right (True) or wrong."""
    free = iter(range(people))
    detections = [(1, place(next(free)) if right else (10, 500, WIDTH, HEIGHT), 1 - k / 100)
                  for k, right in enumerate(outcomes)]
    return scenes([(1, place(n)) for n in range(people)], detections, images)
