# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads ground truth and detections.

COCO        truth: an object with `images` and `annotations` (`image_id`, `category_id`, `bbox`; `iscrowd`, `ignore`,
            `area`, and CityPersons' `vis_ratio` and `vis_bbox`); detections: an array of objects with `image_id`,
            `category_id`, `bbox` and `score`.
MOTChallenge  lines of numbers. det.txt: frame,id,left,top,width,height,confidence[,...], no class. gt.txt: the same
            with a flag in place of the confidence (0: ignored), then class and visible share (1 without it). Ten
            columns are those of 2015, without class and visible share. Images are the frames that have a line.
JSON lines  those of gst-crowd-read-survivors: `frame` from 0, which is image 1; `class` from 0, which is class 1. Truth
            may have `ignore`, `crowd` (true or false), `visibility` and `visible-box` for each object, and needs no
            scores. Images are the lines.
"""

import numpy as np

from .parse import box_of, get, items, number, parse, read_text, share, whole
from .tables import BadInput, make_detections, make_truth


def read_truth(path):
    path = str(path)
    form, content = parse(path, read_text(path))
    if form == "nothing":
        raise BadInput(f"{path}: is empty; ground truth has to say which images there are")
    return {"coco": coco_truth, "mot": mot_truth, "lines": lines_truth}[form](path, content)


def read_detections(path):
    path = str(path)
    form, content = parse(path, read_text(path))
    if form == "nothing":
        return make_detections(path, [], [], [])
    return {"coco": coco_detections, "mot": mot_detections, "lines": lines_detections}[form](path, content)


def columns_of(rows, count):
    return zip(*rows) if rows else [()] * count


def seen_share(where, given, box, seen):
    """The visible share, from the boxes if the file does not give it."""
    if given is not None:
        return share(where, "the visible share", given)
    area = box[2] * box[3]
    return min(1.0, seen[2] * seen[3] / area) if area else 1.0


def coco_images(path, content):
    images, sizes = [], {}
    for n, image in enumerate(items(path, content, "images")):
        where = f"{path}: image {n}"
        images.append(whole(where, "id", get(where, image, "id")))
        if "width" in image and "height" in image:
            sizes[images[-1]] = number(where, "width", image["width"]), number(where, "height", image["height"])
    return images, sizes


def coco_truth(path, content):
    if isinstance(content, list):
        raise BadInput(f"{path}: has COCO's detections; ground truth is an object with images and annotations")
    images, sizes = coco_images(path, content)
    known, rows, has_seen = set(images), [], False
    for n, item in enumerate(items(path, content, "annotations")):
        where = f"{path}: annotation {n}"
        image, box = whole(where, "image_id", get(where, item, "image_id")), box_of(where, get(where, item, "bbox"))
        if image not in known:
            raise BadInput(f"{where}: is in image {image}, which 'images' does not list")
        has_seen = has_seen or "vis_bbox" in item
        seen = box_of(where, item["vis_bbox"]) if "vis_bbox" in item else box
        rows.append((image, box, whole(where, "category_id", get(where, item, "category_id")),
                     bool(item.get("iscrowd", 0)), bool(item.get("ignore", 0)),
                     seen_share(where, item.get("vis_ratio"), box, seen), item.get("id") == 0,
                     number(where, "area", item.get("area", box[2] * box[3])), seen))
    image, box, kind, crowd, ignore, visible, zero, area, seen = columns_of(rows, 9)
    return make_truth(path, image, box, kind, crowd=crowd, ignore=ignore, visible=visible, zero=zero, area=area,
                      visible_box=seen if has_seen else None, images=np.unique(np.array(images, np.int64)), sizes=sizes,
                      lists_images=True)


def coco_detections(path, content):
    if isinstance(content, dict):
        raise BadInput(f"{path}: has COCO's ground truth; detections are an array of objects with a score")
    rows = []
    for n, item in enumerate(content):
        where = f"{path}: detection {n}"
        rows.append((whole(where, "image_id", get(where, item, "image_id")), box_of(where, get(where, item, "bbox")),
                     number(where, "score", get(where, item, "score")),
                     whole(where, "category_id", get(where, item, "category_id"))))
    return make_detections(path, *columns_of(rows, 4))


def mot_truth(path, content):
    rows = []
    for where, row in content:
        kind, visible = (row[7] if len(row) > 7 else 1, row[8] if len(row) > 8 else 1) if len(row) < 10 else (1, 1)
        rows.append((whole(where, "the frame", row[0], 1), box_of(where, row[2:6]), whole(where, "the class", kind, 1),
                     number(where, "the flag", row[6]) == 0, share(where, "the visible share", visible)))
    image, box, kind, ignore, visible = zip(*rows)
    return make_truth(path, image, box, kind, crowd=ignore, ignore=ignore, visible=visible)


def mot_detections(path, content):
    rows = [(whole(where, "the frame", row[0], 1), box_of(where, row[2:6]), number(where, "the confidence", row[6]))
            for where, row in content]
    return make_detections(path, *zip(*rows))


def objects(path, content):
    """([(where, image, object)], images, {image: (width, height)}) of JSON lines."""
    found, images, sizes = [], [], {}
    for where, line in content:
        if isinstance(line, dict) and "survivors" in line:
            raise BadInput(f"{where}: is of an older gst-crowd-read-survivors; make the file again")
        image = whole(where, "frame", get(where, line, "frame")) + 1
        images.append(image)
        size = line.get("resolution")
        if size is not None:
            sizes[image] = tuple(number(where, name, get(where, size, name)) for name in ("width", "height"))
        found += [(where, image, item) for item in items(where, line, "objects")]
    return found, np.unique(np.array(images, np.int64)), sizes


def kinds(found):
    """The classes of JSON lines, None where no object has one."""
    given = [(where, item["class"]) for where, _, item in found if "class" in item]
    if given and len(given) != len(found):
        raise BadInput(f"{given[0][0]}: has an object with a class, others have none; give it to all or to none")
    return [whole(where, "class", kind) + 1 for where, kind in given] or None


def lines_truth(path, content):
    found, images, sizes = objects(path, content)
    rows = []
    for where, image, item in found:
        box = box_of(where, get(where, item, "box"), corners=True)
        seen = box_of(where, item["visible-box"], corners=True) if "visible-box" in item else box
        ignore = bool(item.get("ignore"))
        rows.append((image, box, bool(item.get("crowd", ignore)), ignore,
                     seen_share(where, item.get("visibility"), box, seen), seen))
    image, box, crowd, ignore, visible, seen = columns_of(rows, 6)
    has_seen = any("visible-box" in item for _, _, item in found)
    return make_truth(path, image, box, kinds(found), crowd=crowd, ignore=ignore, visible=visible,
                      visible_box=seen if has_seen else None, images=images, sizes=sizes, lists_images=True)


def lines_detections(path, content):
    found, images, sizes = objects(path, content)
    boxes = [box_of(where, get(where, item, "box"), corners=True) for where, _, item in found]
    scores = [number(where, "score", item.get("score", 1)) for where, _, item in found]
    return make_detections(path, [image for _, image, _ in found], boxes, scores, kinds(found), images=images,
                           sizes=sizes)
