# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""COCO's average precision and recall, as pycocotools 2.0.11 computes them for boxes."""

import numpy as np

from .match import assign, envelope, find_pairs, lose_zero, outcomes

THRESHOLDS = np.linspace(.5, .95, 10)
AREAS = {"": (0, 1e5**2), " small": (0, 32**2), " medium": (32**2, 96**2), " large": (96**2, 1e5**2)}
RECALLS = {False: np.arange(101) / 100, True: np.linspace(0, 1, 101)}  # by whether the rules are the published ones


def names(max_dets):
    """Names of the metrics, in their order."""
    ap = ["AP", "AP50", "AP75", "AP small", "AP medium", "AP large"]
    return [f"COCO {name} (maxDets {max_dets})" for name in ap] + \
        [f"COCO AR{n}" for n in sorted({1, 10, max_dets} - set(range(max_dets + 1, 11)))]


def scene_outcomes(scene, area, max_dets, published):
    """(scores, right, counted, how many objects must be found) of an image."""
    truth, low, high = scene.truth, *area
    given = truth.crowd | truth.hidden | (truth.ignore & (not published))
    ignored = given | (truth.area < low) | (truth.area > high)
    box = scene.box[:max_dets]
    pairs = find_pairs(box, truth.box, truth.crowd, THRESHOLDS[0])
    taken = assign(pairs, ignored, truth.crowd, THRESHOLDS)
    right, counted = lose_zero(taken, truth.zero, ignored) if published else outcomes(taken, ignored)
    size = box[:, 2] * box[:, 3]
    outside = (size < low) | (size > high)
    return scene.score[:max_dets], right, counted & (right | ~outside), int((~ignored).sum())


def average_precision(right, counted, people, recalls):
    """At one threshold: the mean of the precision at these recalls, and the last recall."""
    right = np.cumsum(right & counted)
    wrong = np.cumsum(counted) - right
    if not len(right):
        return 0.0, 0.0
    recall = right / people
    precision = np.append(envelope(right / (right + wrong + np.spacing(1))), 0)
    return float(precision[np.searchsorted(recall, recalls, side="left")].mean()), float(recall[-1])


def evaluate(scenes, area, max_dets, published, kept):
    """[10 thresholds, 2]: AP and AR, of at most `kept` detections of an image; nan where there is nothing to find."""
    parts = [scene_outcomes(scene, area, max_dets, published) for scene in scenes]
    people = sum(part[3] for part in parts)
    if not people:
        return np.full((len(THRESHOLDS), 2), np.nan)
    results = np.empty((len(THRESHOLDS), 2))
    order = np.argsort(-np.concatenate([part[0][:kept] for part in parts]), kind="stable")
    right, counted = (np.concatenate([part[i][:, :kept] for part in parts], axis=1)[:, order] for i in (1, 2))
    for t in range(len(THRESHOLDS)):
        results[t] = average_precision(right[t], counted[t], people, RECALLS[published])
    return results


def coco(scenes, options):
    """COCO AP, AP50, AP75, AP of small, medium and large objects, AR of 1, 10 and maxDets detections an image.

    Source: Lin et al., Microsoft COCO, ECCV 2014, and cocodataset.org/#detection-eval; exact rule: COCOeval of
    pycocotools.
    Matching: an image's detections by score, equal ones in the order of the file, at most maxDets; each takes the free
    object of the largest IoU >= t, of equal ones the last, one to be found before an ignored one.
    Ignored are crowd regions (overlap is intersection over the detection's area, any number of detections) and
    objects whose area is outside the range (both ends in it; IoU, one detection each); unmatched detections whose own
    area is outside count for nothing. Thresholds .50:.05:.95. Interpolation: precision made monotonous from the right,
    read at 101 recalls 0:.01:1, 0 above the last recall; AP is their mean, AR the last recall, both over thresholds.
    Without an object to find: nan, and the class is in no mean.
    Published rules keep that COCO's `ignore` means nothing beside `iscrowd`, that an object with id 0 cannot be
    found, and that some of the recalls (0.35) are a unit in the last place too high, so that 7 of 20 does not reach it.
    maxDets is part of the name: pycocotools has 100, which cuts crowds off; the default here is 1000.
    """
    published, max_dets = options.published, options.max_dets
    whole = evaluate(scenes, AREAS[""], max_dets, published, max_dets)
    by_area = [evaluate(scenes, AREAS[name], max_dets, published, max_dets)[:, 0].mean() for name in AREAS if name]
    few = [evaluate(scenes, AREAS[""], max_dets, published, n)[:, 1].mean() for n in (1, 10) if n < max_dets]
    values = [whole[:, 0].mean(), whole[0, 0], whole[5, 0], *by_area, *few, whole[:, 1].mean()]
    return dict(zip(names(max_dets), map(float, values)))
