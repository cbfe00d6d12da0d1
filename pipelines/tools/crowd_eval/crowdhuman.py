# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CrowdHuman's average precision, miss rate and Jaccard index."""

import collections
import dataclasses

import numpy as np

from .match import assign, find_pairs, make_curve, outcomes, overlaps
from .missrate import FLOOR, REFERENCES, ROUNDED, log_average, misses_at

EPSILON = 1e-6
NAN = float("nan")


def clip(box, size, published):
    if size is None or not len(box):
        return box
    limit = np.array(size, float)
    low = np.clip(box[:, :2], 0, limit - 1 if published else limit)
    high = np.clip(box[:, :2] + box[:, 2:], 0, limit)
    return np.concatenate([low, np.maximum(high - low, 0)], axis=1)


def clipped(scene, published):
    truth = dataclasses.replace(scene.truth, box=clip(scene.truth.box, scene.size, published))
    return dataclasses.replace(scene, truth=truth, box=clip(scene.box, scene.size, published))


def curve_of(scenes, min_ratio):
    parts = []
    for scene in scenes:
        ignored = scene.truth.ignored
        pairs = find_pairs(scene.box, scene.truth.box, ignored, min_ratio)
        taken = assign(pairs, ignored, ignored, [min_ratio], strict=True, last=False)
        right, counted = outcomes(taken, ignored)
        parts.append((scene.score, right[0], counted[0]))
    people = sum(int((~scene.truth.ignored).sum()) for scene in scenes)
    return make_curve(*(np.concatenate(column) for column in zip(*parts)), people, len(scenes))


def average_precision(curve, published):
    recall, precision = curve.recall, curve.precision
    if not published and len(recall):
        recall, precision = np.append(0, recall), np.append(precision[0], precision)
    return float((np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum())


def miss_rate(curve, published):
    if not published:
        return log_average(misses_at(curve, REFERENCES), FLOOR)
    if not len(curve.right):
        return NAN
    at = np.searchsorted(curve.wrong / curve.images, ROUNDED, side="left")
    return log_average(1 - curve.recall[np.minimum(at, len(curve.right) - 1)], 0)


def augment(edges, first, owner):
    """Gives detection `first` an object, others their next best if need be; the object that is newly taken, or -1."""
    came_from, queue = {}, collections.deque([first])
    while queue:
        detection = queue.popleft()
        for at in edges[detection]:
            if at in came_from:
                continue
            came_from[at] = detection
            if owner[at] >= 0:
                queue.append(owner[at])
                continue
            taken = at
            while True:
                detection = came_from[at]
                previous = next((o for o in edges[detection] if owner[o] == detection), -1)
                owner[at] = detection
                if detection == first:
                    return taken
                at = previous
    return -1


def bipartite(edges, objects):
    """(matched, when): a matching with as many pairs as can be, for each beginning of the detections. Whether each
    detection has an object; from which detection on each object has one."""
    owner, matched = np.full(objects, -1), np.zeros(len(edges), bool)
    when = np.full(objects, len(edges))
    for d in range(len(edges)):
        taken = augment(edges, d, owner)
        if taken >= 0:
            matched[d], when[taken] = True, d
    return matched, when


def inside(box, regions, min_ratio):
    """Which boxes have more than this share of their area in one of the regions."""
    if not len(regions) or not len(box):
        return np.zeros(len(box), bool)
    return (overlaps(box, regions, np.ones(len(regions), bool)) > min_ratio).any(1)


def scene_jaccard(scene, min_ratio, thresholds, epsilon):
    """[thresholds, 2]: the index of an image, and whether it counts."""
    truth = scene.truth
    people, regions = truth.box[~truth.ignored], truth.box[truth.ignored]
    ratio = overlaps(scene.box, people, np.zeros(len(people), bool)) >= min_ratio
    matched, when = bipartite([np.nonzero(row)[0].tolist() for row in ratio], len(people))
    excused, hidden = inside(scene.box, regions, min_ratio), inside(people, regions, min_ratio)
    rows = []
    for threshold in thresholds:
        count = int((scene.score > threshold).sum())
        found = int(matched[:count].sum())
        n = count - int((excused[:count] & ~matched[:count]).sum())
        m = len(people) - int((hidden & (when >= count)).sum())
        union = m + n - found + epsilon
        rows.append((found / union if union else 0.0, n > 0 or m > 0))
    return np.array(rows, float)


def jaccard(scenes, min_ratio, published):
    values = np.array([scene_jaccard(s, min_ratio, .1 * np.arange(10), EPSILON if published else 0) for s in scenes])
    counted = values[:, :, 1].sum(0)
    return float(np.divide(values[:, :, 0].sum(0), counted, out=np.zeros(10), where=counted > 0).max())


def crowdhuman(scenes, options):
    """CrowdHuman AP, MR and JI, at IoU .5 or --iou.

    Source: Shao et al., CrowdHuman, 2018; JI: Chu et al., Detection in Crowded Scenes, CVPR 2020; exact rule: mmdet's
    crowdhuman_metric.py, which follows CrowdDet's code (it compares in single precision, this in double).
    Boxes are clipped to the picture where its size is known. Matching: an image's detections by score take the free
    person with the largest IoU > threshold, the first of equal ones; else, by intersection over their own area, an
    ignore region, any number of them, and count for nothing; else they are wrong.
    AP: area under the raw curve by trapezoids. MR: exp of the mean log miss rate at nine references 10^-2 ... 1 of
    false detections an image. JI: the largest, over score thresholds 0, .1, ... .9 (score > threshold), of the mean
    over images of k / (m + n - k), with k pairs of a largest bipartite matching at IoU >= threshold, n detections but
    for unmatched ones in ignore regions, m people but for unmatched ones in them; images where m and n are 0 do not
    count.
    Of matchings of the same size the one with the best-scored detections counts; others can leave another n.
    Published rules keep that left and top are clipped to the last pixel; that the trapezoids begin at the first
    point, so that AP of n people is at most (n - 1) / n; that MR reads the *first* point with as many false detections
    as the reference or more, the last point if there is none, and is nan without detections; that a miss rate
    of 0 makes MR 0; and that JI has 1e-6 in its denominator. Otherwise MR is read as Caltech's.
    """
    scenes = [clipped(scene, options.published) for scene in scenes]
    curve = curve_of(scenes, options.iou)
    end = f"(IoU {options.iou:g})"
    if not curve.people:
        return {f"CrowdHuman {name} {end}": NAN for name in ("AP", "MR", "JI")}
    return {f"CrowdHuman AP {end}": average_precision(curve, options.published),
            f"CrowdHuman MR {end}": miss_rate(curve, options.published),
            f"CrowdHuman JI {end}": jaccard(scenes, options.iou, options.published)}
