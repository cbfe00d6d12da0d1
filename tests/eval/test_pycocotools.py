#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""COCO's metrics beside those of pycocotools on random sets, to the last places of a sum. Exit status 77: there is no
numpy, or pycocotools, 1 MB, cannot be fetched with pip, which is done once.

usage: test_pycocotools.py [SEED...]
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from pip_packages import fetch  # noqa: E402
from scenes import options  # noqa: E402

from crowd_eval import cli, join, read  # noqa: E402

VERSION = "2.0.11"
if not fetch("pycocotools", VERSION):
    print(f"skipped: pycocotools {VERSION} cannot be had with pip")
    sys.exit(77)
from pycocotools.coco import COCO  # noqa: E402
from pycocotools.cocoeval import COCOeval  # noqa: E402

SEEDS = range(1, 41)
STATS = ["AP", "AP50", "AP75", "AP small", "AP medium", "AP large"]


def random_set(seed):
    """Crowds in which boxes, scores and overlaps are often equal, and whatever COCO's format allows."""
    random = np.random.default_rng(seed)
    images, kinds = int(random.integers(1, 7)), int(random.integers(1, 4))
    step = int(random.choice([1, 4, 16]))
    first_id = int(random.choice([0, 1], p=[.2, .8]))
    annotations, detections = [], []
    for image in range(1, images + 1):
        for _ in range(int(random.integers(0, 25))):
            corner, size = random.integers(0, 200, 2) // step * step, random.integers(1, 130, 2) // step * step + 1
            box = corner.tolist() + size.tolist()
            crowd = int(random.random() < .1)
            annotations.append({"id": first_id + len(annotations), "image_id": image, "bbox": box, "iscrowd": crowd,
                                "category_id": int(random.integers(1, kinds + 1)), "ignore": int(random.random() < .1),
                                "area": box[2] * box[3] * float(random.choice([1, .5]))})
            for _ in range(int(random.integers(0, 4))):
                near = [float(v) for v in np.array(box) + random.integers(-8, 9, 4) // step * step]
                near[2:] = [max(1.0, v) for v in near[2:]]
                detections.append({"image_id": image, "category_id": int(random.integers(1, kinds + 1)), "bbox": near,
                                   "score": float(random.integers(0, 20) / 20)})
    truth = {"images": [{"id": n, "width": 400, "height": 400} for n in range(1, images + 1)], "annotations": annotations,
             "categories": [{"id": k} for k in range(1, kinds + 1)], "info": {}}
    return truth, detections


def theirs(truth_path, detections, max_dets):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(truth_path))
        judge = COCOeval(truth, truth.loadRes(detections), "bbox")
        judge.params.maxDets = [1, 10, max_dets]
        judge.evaluate()
        judge.accumulate()
    precision, recall = judge.eval["precision"], judge.eval["recall"]  # [T, R, K, A, M], [T, K, A, M]

    def mean(values):
        return float(np.mean(values[values > -1])) if (values > -1).any() else float("nan")

    values = [mean(precision[:, :, :, 0, 2]), mean(precision[0, :, :, 0, 2]), mean(precision[5, :, :, 0, 2])]
    values += [mean(precision[:, :, :, area, 2]) for area in (1, 2, 3)]
    names = [f"COCO {name} (maxDets {max_dets})" for name in STATS] + ["COCO AR1", "COCO AR10", f"COCO AR{max_dets}"]
    return dict(zip(names, values + [mean(recall[:, :, 0, m]) for m in range(3)]))


def ours(truth_path, detections_path, max_dets):
    classes, _ = join.join(read.read_truth(truth_path), read.read_detections(detections_path), join.Asked())
    return cli.judge(classes, options(max_dets=max_dets, metric=["coco"]))


def compare(seed, folder):
    """(largest difference, number of values that are no nan)."""
    truth, detections = random_set(seed)
    if not detections or not truth["annotations"]:
        return 0.0, 0
    truth_path, detections_path = folder / "truth.json", folder / "detections.json"
    truth_path.write_text(json.dumps(truth))
    detections_path.write_text(json.dumps(detections))
    largest, count = 0.0, 0
    for max_dets in (15, 100):
        a, b = ours(truth_path, detections_path, max_dets), theirs(truth_path, detections, max_dets)
        assert list(a) == list(b), (list(a), list(b))
        for name in a:
            if np.isnan(a[name]) != np.isnan(b[name]):
                return float("inf"), count
            if not np.isnan(a[name]):
                largest, count = max(largest, abs(a[name] - b[name])), count + 1
    return largest, count


def main():
    failed, values, largest = [], 0, 0.0
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            difference, count = compare(seed, pathlib.Path(folder))
            values, largest = values + count, max(largest, difference)
            # Means of means are added up in another order.
            if difference > 1e-13:
                print(f"seed {seed}: {difference:g} from pycocotools")
                failed.append(seed)
    print(f"seeds {seeds[0]} to {seeds[-1]}: {values} values, largest difference {largest:g}, {len(failed)} seeds differ")
    assert values or sys.argv[1:], "no values were compared"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
