# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""PASCAL VOC's average precision, of 2007 (11 points) and of 2010 on (all points)."""

import numpy as np

from .match import Curve, envelope, make_curve, overlaps

NAN = float("nan")


def take(scene, min_ratio):
    """(right, counted) of an image's detections."""
    truth = scene.truth
    difficult = truth.ignored
    right, counted = np.zeros(len(scene.box), bool), np.ones(len(scene.box), bool)
    if not len(truth.box):
        return right, counted
    free = np.ones(len(truth.box), bool)
    for d, box in enumerate(scene.box):
        ratio = overlaps(box[None], truth.box, np.zeros(len(truth.box), bool))[0]
        best = int(ratio.argmax())
        if ratio[best] < min_ratio:
            continue
        counted[d] = not difficult[best]
        right[d] = counted[d] and free[best]
        free[best] = False
    return right, counted


def curve_of(scenes, min_ratio):
    taken = [take(scene, min_ratio) for scene in scenes]
    people = sum(int((~s.truth.ignored).sum()) for s in scenes)
    parts = [np.concatenate(columns) for columns in zip(*((s.score, *t) for s, t in zip(scenes, taken)))]
    return make_curve(*parts, people, len(scenes)) if parts else Curve(np.empty(0), np.empty(0), people, 0)


def eleven_points(curve, published):
    recalls = np.arange(0, 1.1, .1) if published else np.arange(11) / 10
    reached = [curve.precision[curve.recall >= recall] for recall in recalls]
    return float(np.mean([best.max() if len(best) else 0.0 for best in reached]))


def all_points(curve):
    steps = np.diff(np.concatenate([[0], curve.right]))
    return float((steps * envelope(curve.precision)).sum() / curve.people) if len(curve.right) else 0.0


def voc(scenes, options):
    """VOC AP, 11-point and all-point, at IoU .5 or --iou.

    Source: Everingham et al., The PASCAL VOC Challenge, IJCV 2010, section 4.2 (11 points); the development kits of
    2010 on (all points). Matching: detections by score, equal ones by image and then in the order of the file; each
    looks at the object of the largest IoU, the first of equal ones, taken or not. IoU >= threshold: right if that is
    free, wrong if it was taken (duplicates are errors), and neither if it is difficult, which ignored objects and
    crowds are; else wrong.
    Boxes are half-open, so that the kit's one pixel more is in them already.
    11-point: mean over recalls 0, .1, ... 1 of the best precision at that recall or above, 0 where it is not reached.
    All-point: area under the precision made monotonous from the right. Without an object to find: nan.
    Published rules keep that three of the eleven recalls (.3, .6, .7) are a unit in the last place too high, as in the
    kit's ports to Python, so that 3 of 10 does not reach .3.
    """
    curve = curve_of(scenes, options.iou)
    names = f"VOC AP 11-point (IoU {options.iou:g})", f"VOC AP all-point (IoU {options.iou:g})"
    if not curve.people:
        return dict.fromkeys(names, NAN)
    return dict(zip(names, (eleven_points(curve, options.published), all_points(curve))))
