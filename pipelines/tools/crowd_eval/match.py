# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Greedy matching of detections with ground truth, of which the protocols are variants, and curves of what came of
it."""

import dataclasses

import numpy as np

CHUNK = 1 << 20  # pairs whose overlap is computed at once


@dataclasses.dataclass
class Pairs:
    """The pairs that overlap by `min_ratio` or more: those of detection d are start[d] to start[d + 1], in the order of
    the ground truth."""
    start: np.ndarray
    object: np.ndarray
    overlap: np.ndarray


def overlaps(found, truth, inside):
    """[detections, objects]: intersection over union; over the detection's area where `inside`. 0 without
    intersection."""
    low = np.maximum(found[:, None, :2], truth[None, :, :2])
    high = np.minimum((found[:, :2] + found[:, 2:])[:, None], (truth[:, :2] + truth[:, 2:])[None])
    sides = np.maximum(high - low, 0)
    shared = sides[..., 0] * sides[..., 1]
    own = (found[:, 2] * found[:, 3])[:, None]
    whole = np.where(inside[None], own, own + (truth[:, 2] * truth[:, 3])[None] - shared)
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)


def find_pairs(found, truth, inside, min_ratio):
    step = max(1, CHUNK // max(1, len(truth)))
    counts, objects, values = [np.zeros(1, int)], [np.empty(0, int)], [np.empty(0)]
    for at in range(0, len(found) if len(truth) else 0, step):
        ratio = overlaps(found[at:at + step], truth, inside)
        hit = ratio >= min_ratio
        counts.append(hit.sum(1))
        objects.append(np.nonzero(hit)[1])
        values.append(ratio[hit])
    if not len(truth):
        counts.append(np.zeros(len(found), int))
    return Pairs(np.cumsum(np.concatenate(counts)), np.concatenate(objects), np.concatenate(values))


def assign(pairs, ignored, reusable, thresholds, strict=False, last=True):
    """[thresholds, detections]: the object that each detection takes, -1 for none.

    Detections choose in their order: the free object with the largest overlap of those that reach the threshold (that
    exceed it if `strict`), one that is not ignored before any that is; of equal overlaps the last, or the first. An
    object that is not `reusable` is free until it is taken.
    """
    thresholds = np.asarray(thresholds, float)[:, None]
    count = len(pairs.start) - 1
    taken = np.full((len(thresholds), count), -1)
    free = np.ones((len(thresholds), len(ignored)), bool)
    for d in np.nonzero(np.diff(pairs.start))[0]:
        rows = slice(pairs.start[d], pairs.start[d + 1])
        objects, ratio = pairs.object[rows], pairs.overlap[rows]
        if last:
            objects, ratio = objects[::-1], ratio[::-1]
        usable = free[:, objects] & (ratio > thresholds if strict else ratio >= thresholds)
        proper = usable & ~ignored[objects]
        usable = np.where(proper.any(1, keepdims=True), proper, usable)
        hit = np.nonzero(usable.any(1))[0]
        choice = objects[np.where(usable, ratio, -1).argmax(1)[hit]]
        taken[hit, d] = choice
        free[hit, choice] = reusable[choice]
    return taken


def outcomes(taken, ignored):
    """(right, counted) for each detection: it found an object; it is right or wrong, and not ignored."""
    if not len(ignored):
        return np.zeros(taken.shape, bool), np.ones(taken.shape, bool)
    hit = taken >= 0
    on_ignored = hit & ignored[taken]
    return hit & ~on_ignored, ~on_ignored


def lose_zero(taken, zero, ignored):
    """The outcomes where finding an object with id 0 reads as having found nothing, as in code that marks by id."""
    lost = (taken >= 0) & zero[taken] & ~ignored[taken] if len(ignored) else np.zeros(taken.shape, bool)
    return outcomes(np.where(lost, -1, taken), ignored)


@dataclasses.dataclass
class Curve:
    """Counts of the detections that are right or wrong, after each of them, the best score first."""
    right: np.ndarray
    wrong: np.ndarray
    people: int  # to be found
    images: int

    @property
    def recall(self):
        return self.right / self.people

    @property
    def precision(self):
        return self.right / (self.right + self.wrong)


def make_curve(scores, right, counted, people, images):
    """The curve of detections of all images; equal scores stay in their order, images rising."""
    order = np.argsort(-scores[counted], kind="stable")
    right = right[counted][order]
    return Curve(np.cumsum(right), np.cumsum(~right), int(people), images)


def envelope(precision):
    """The best precision at this recall or a larger one."""
    return np.maximum.accumulate(precision[::-1])[::-1]
