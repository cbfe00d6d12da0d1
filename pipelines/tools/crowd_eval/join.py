# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts detections beside their ground truth: for each class a list of scenes, one for each image that is judged."""

import dataclasses

import numpy as np

from .tables import BadInput, Truth

NUMBERS = "JSON lines count frames from 0, COCO and MOTChallenge from 1"


@dataclasses.dataclass
class Scene:
    """An image: its ground truth, and its detections, the best score first, equal ones in the order of the file."""
    truth: Truth
    box: np.ndarray
    score: np.ndarray
    size: tuple | None

    def with_aspect(self, aspect):
        """All boxes with another width around the same centre."""
        return dataclasses.replace(self, truth=dataclasses.replace(self.truth, box=reshaped(self.truth.box, aspect)),
                                   box=reshaped(self.box, aspect))


def reshaped(box, aspect):
    width = box[:, 3] * aspect
    return np.stack([box[:, 0] + (box[:, 2] - width) / 2, box[:, 1], width, box[:, 3]], axis=1)


@dataclasses.dataclass
class Asked:
    """What of the files is asked for."""
    frames: set | None = None  # images to judge; None: all of the ground truth
    kind: int | None = None  # the class; None: all
    min_visibility: float = 0.0  # objects of which less can be seen need not be found
    visible_boxes: bool = False  # the ground truth's visible boxes are what is to be found
    size: tuple | None = None  # of pictures, where the files do not say


def span(values):
    values = sorted(values)
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def with_frames(truth, frames):
    """The ground truth of these images alone; of those that it has no objects of it says that there are none."""
    if frames is None:
        return truth
    frames = np.array(sorted(frames), np.int64)
    return dataclasses.replace(truth.take(np.isin(truth.image, frames)), images=frames, lists_images=False)


def with_visible_boxes(truth):
    if truth.visible_box is None:
        raise BadInput(f"{truth.path}: has no visible boxes; COCO's are called vis_bbox, those of JSON lines visible-box")
    return dataclasses.replace(truth, box=truth.visible_box, area=truth.visible_box[:, 2] * truth.visible_box[:, 3])


def check_images(truth, found):
    """The detections of images that are judged, and a note on the others, or None."""
    if not len(truth.images):
        raise BadInput(f"{truth.path}: has no images")
    judged = np.isin(found.image, truth.images)
    problem = f"{found.path} does not match {truth.path}"
    if found.images is not None:
        missing = truth.images[~np.isin(truth.images, found.images)]
        if len(missing):
            raise BadInput(f"{problem}: it has no line for {len(missing)} of {len(truth.images)} images, the first is image "
                           f"{missing[0]} ({NUMBERS}); --frames judges others")
    if judged.all():
        return found, None
    others = np.unique(found.image[~judged])
    if not judged.any() or truth.lists_images:
        raise BadInput(f"{problem}: {(~judged).sum()} detections are in images that it does not have, the first in image "
                       f"{others[0]}; it has images {span(truth.images)} ({NUMBERS})")
    return found.take(judged), (f"{found.path}: {(~judged).sum()} detections in {len(others)} images without ground "
                                "truth are left out; --frames says which images have no objects")


def check_classes(truth, found, kind):
    """(truth, detections, note), both with classes or both without."""
    if truth.kind is None or found.kind is None:
        if kind is not None:
            lacking = truth if truth.kind is None else found
            raise BadInput(f"{lacking.path}: has no classes, so that --class {kind} cannot choose one")
        return dataclasses.replace(truth, kind=None), dataclasses.replace(found, kind=None), None
    if kind is not None:
        truth, found = truth.take(truth.kind == kind), found.take(found.kind == kind)
        return truth, found, None
    strange = ~np.isin(found.kind, truth.kind)
    if strange.all() and len(strange) and len(truth.kind):
        raise BadInput(f"{found.path} does not match {truth.path}: no class in common, {span(set(found.kind))} against "
                       f"{span(set(truth.kind))} (JSON lines count classes from 0, COCO and MOTChallenge from 1)")
    note = f"{found.path}: {strange.sum()} detections of classes without ground truth are in no mean"
    return truth, found, note if strange.any() else None


def rows_by_image(image, images):
    """For each image the numbers of its rows, in their order."""
    order = np.argsort(image, kind="stable")
    ends = np.searchsorted(image[order], images, side="right")
    starts = np.searchsorted(image[order], images, side="left")
    return [order[a:b] for a, b in zip(starts, ends)]


def scenes_of(truth, found, size):
    found = found.take(np.argsort(-found.score, kind="stable"))
    sizes = found.sizes | truth.sizes
    return [Scene(truth.take(t), found.box[d], found.score[d], sizes.get(image, size))
            for image, t, d in zip(truth.images.tolist(), rows_by_image(truth.image, truth.images),
                                   rows_by_image(found.image, truth.images))]


def join(truth, found, asked):
    """({class: [scene]}, notes). The class is 0 where one of the files has no classes."""
    truth = with_frames(truth, asked.frames)
    truth = with_visible_boxes(truth) if asked.visible_boxes else truth
    truth = dataclasses.replace(truth, hidden=truth.visible < asked.min_visibility)
    found, left_out = check_images(truth, found)
    truth, found, strange = check_classes(truth, found, asked.kind)
    notes = [note for note in (left_out, strange) if note]
    if truth.kind is None:
        return {0: scenes_of(truth, found, asked.size)}, notes
    kinds = np.unique(truth.kind).tolist() or [asked.kind or 0]
    return {k: scenes_of(truth.take(truth.kind == k), found.take(found.kind == k), asked.size) for k in kinds}, notes
