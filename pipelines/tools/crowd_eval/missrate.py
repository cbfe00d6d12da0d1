# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Log-average miss rates: Caltech's and CityPersons' MR-2."""

import numpy as np

from .match import assign, find_pairs, lose_zero, make_curve, outcomes
from .subsets import CALTECH, CITYPERSONS

# False detections an image. Not by numpy, whose powers are off by a unit in the last place: .1 has to be one image in
# ten.
REFERENCES = np.array([10 ** (k / 4) for k in range(-8, 1)])
ROUNDED = np.array([.01, .0178, .0316, .0562, .1, .1778, .3162, .5623, 1])
FLOOR = 1e-10
MAX_DETS = 1000  # CityPersons' of an image


def log_average(misses, floor):
    with np.errstate(divide="ignore"):
        return float(np.exp(np.log(np.maximum(misses, floor)).mean()))


def misses_at(curve, references, wrap=False):
    """The miss rate at the last point with so many false detections an image or fewer; without one 1, or with `wrap`
    that of the last point of all."""
    if not len(curve.right):
        return np.ones(len(references))
    at = np.searchsorted(curve.wrong / curve.images, references, side="right") - 1
    return np.where((at < 0) & (not wrap), 1.0, 1 - curve.recall[at])


def miss_rate(curve, references, wrap=False, floor=FLOOR):
    return log_average(misses_at(curve, references, wrap), floor) if curve.people else float("nan")


def scene_outcomes(scene, subset, iou, max_dets, published):
    """(scores, right, counted, how many people must be found) of an image."""
    truth = scene.truth
    ignored = truth.ignored | subset.excludes(truth)
    kept = subset.admits(scene.box[:max_dets])
    box, score = scene.box[:max_dets][kept], scene.score[:max_dets][kept]
    pairs = find_pairs(box, truth.box, ignored, iou)
    taken = assign(pairs, ignored, ignored, [iou])
    right, counted = lose_zero(taken, truth.zero, ignored) if published else outcomes(taken, ignored)
    return score, right[0], counted[0], int((~ignored).sum())


def curve_of(scenes, subset, iou, max_dets=None, published=False):
    parts = [scene_outcomes(scene, subset, iou, max_dets, published) for scene in scenes]
    columns = [np.concatenate(column) for column in list(zip(*parts))[:3]]
    return make_curve(*columns, sum(part[3] for part in parts), len(scenes))


def caltech(scenes, options):
    """Caltech MR-2 of the reasonable, all, partial and heavy subsets, at IoU .5 or --iou. Lower is better.

    Source: Dollar et al., Pedestrian Detection: An Evaluation of the State of the Art, PAMI 2012; exact rule: dbEval of
    its code, bbGt's evalRes and compRoc.
    Subsets by height in pixels and visible share, upper ends outside: reasonable 50 up, .65 up; all 20 up, .2 up;
    partial 50 up, .65 to 1; heavy 50 up, .2 to .65. Other people and ignore regions need not be found: detections
    match them by intersection over the detection's own area, any number of them, and count for nothing. Detections
    count if their height is in [low / 1.25, high x 1.25). They choose by score: the free person with the largest IoU >=
    threshold, of equal ones the last, one to be found before an ignored one.
    MR-2: exp of the mean log miss rate at nine references 10^-2, 10^-1.75, ... 1 of false detections an image, each
    that of the last point of the curve that does not exceed it, 1 if there is none, and at least 1e-10.
    dbEval also gives boxes the aspect ratio .41 before it compares them; --aspect .41 does so here.
    """
    if options.aspect:
        scenes = [scene.with_aspect(options.aspect) for scene in scenes]
    values = {}
    for name, subset in CALTECH.items():
        curve = curve_of(scenes, subset, options.iou)
        values[f"Caltech MR-2 {name} (IoU {options.iou:g})"] = miss_rate(curve, REFERENCES)
    return values


def citypersons(scenes, options):
    """CityPersons MR-2 of the reasonable, small, heavy, all, bare and partial subsets, at IoU .5 or --iou. Lower is
    better.

    Source: Zhang et al., CityPersons, CVPR 2017; exact rule: eval_MR_multisetup.py of its evaluation code. Bare and
    partial: Wang et al., Repulsion Loss, CVPR 2018, with the bounds of its users' code.
    As Caltech's, but: at most 1000 detections an image; the upper ends belong to the subsets: reasonable 50 up, .65 up;
    small 50 to 75, .65 up; heavy 50 up, .2 to .65; all 20 up, .2 up; bare 50 up, .9 up; partial 50 up, .65 to .9.
    Published rules keep that the references have four digits (.0178, ...); that where no point of the curve is below a
    reference, the miss rate there is that of the *last* point, the lowest (index -1), so that a detector whose best
    detection is wrong is judged better than one with a right one before it; that a miss rate of 0 makes MR-2 0; and
    that a person with id 0 cannot be found.
    """
    published = options.published
    values = {}
    for name, subset in CITYPERSONS.items():
        curve = curve_of(scenes, subset, min(options.iou, 1 - 1e-10), MAX_DETS, published)
        values[f"CityPersons MR-2 {name} (IoU {options.iou:g})"] = \
            miss_rate(curve, ROUNDED if published else REFERENCES, published, 0 if published else FLOOR)
    return values
