# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What files hold: ground truth and detections as columns, a row for each box.

Images and classes count from 1, as in COCO and MOTChallenge. Boxes are x, y, width, height in pixels, half-open.
"""

import dataclasses

import numpy as np


class BadInput(Exception):
    """What is wrong with a file, in words for its owner."""


def taken(column, rows):
    return None if column is None else column[rows]


@dataclasses.dataclass
class Detections:
    path: str
    image: np.ndarray
    box: np.ndarray  # [n, 4]
    score: np.ndarray
    kind: np.ndarray | None  # the class; None where the file has no classes
    images: np.ndarray | None = None  # those that were searched, where the file says
    sizes: dict = dataclasses.field(default_factory=dict)  # as in Truth

    def take(self, rows):
        return dataclasses.replace(self, image=self.image[rows], box=self.box[rows], score=self.score[rows],
                                   kind=taken(self.kind, rows))


@dataclasses.dataclass
class Truth:
    path: str
    image: np.ndarray
    box: np.ndarray
    kind: np.ndarray | None
    crowd: np.ndarray  # a region that holds many objects: detections match it by their share inside, any number
    ignore: np.ndarray  # need not be found, and is no error if it is
    visible: np.ndarray  # share of the object that can be seen
    area: np.ndarray  # that which COCO's ranges of size mean
    zero: np.ndarray  # COCO's id of the object is 0
    hidden: np.ndarray  # too little of it can be seen for what was asked for: as ignore
    visible_box: np.ndarray | None  # [n, 4]; None where the file has none
    images: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))  # all that are judged, rising
    sizes: dict = dataclasses.field(default_factory=dict)  # (width, height) of images, where the file says
    lists_images: bool = False  # the file says which images there are; else they are those with objects

    @property
    def ignored(self):
        """What need not be found, and is no error if it is."""
        return self.ignore | self.crowd | self.hidden

    def take(self, rows):
        names = "image", "box", "kind", "crowd", "ignore", "visible", "area", "zero", "hidden", "visible_box"
        return dataclasses.replace(self, **{name: taken(getattr(self, name), rows) for name in names})


def boxes(rows):
    return np.array(rows, float).reshape(-1, 4)


def make_truth(path, image, box, kind=None, **columns):
    """A Truth whose other columns have their defaults."""
    box, rows = boxes(box), len(image)
    given = {name: columns.pop(name, None) for name in ("crowd", "ignore", "visible", "area", "zero", "hidden")}
    seen = columns.pop("visible_box", None)
    default = {"visible": np.ones(rows), "area": box[:, 2] * box[:, 3]}
    for name, values in given.items():
        if values is None:
            given[name] = default.get(name, np.zeros(rows, bool))
        else:
            given[name] = np.array(values, float if name in default else bool)
    image = np.array(image, np.int64)
    columns.setdefault("images", np.unique(image))
    return Truth(path, image, box, None if kind is None else np.array(kind, np.int64), **given,
                 visible_box=None if seen is None else boxes(seen), **columns)


def make_detections(path, image, box, score, kind=None, **more):
    return Detections(path, np.array(image, np.int64), boxes(box), np.array(score, float),
                      None if kind is None else np.array(kind, np.int64), **more)
