#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metrics beside textbook.py's on random crowds with hidden people and ignore regions. Exit status 77: there is no
numpy.

usage: test_textbook.py [SEED...]
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import textbook  # noqa: E402
from scenes import options, scenes  # noqa: E402

from crowd_eval.crowdhuman import crowdhuman  # noqa: E402
from crowd_eval.missrate import caltech, citypersons  # noqa: E402
from crowd_eval.voc import voc  # noqa: E402

SEEDS = range(1, 61)
INF = math.inf
SUBSETS = {
    "Caltech": {"reasonable": ((50, INF), (.65, INF)), "all": ((20, INF), (.2, INF)), "partial": ((50, INF), (.65, 1)),
                "heavy": ((50, INF), (.2, .65))},
    "CityPersons": {"reasonable": ((50, INF), (.65, INF)), "small": ((50, 75), (.65, INF)), "heavy": ((50, INF), (.2, .65)),
                    "all": ((20, INF), (.2, INF)), "bare": ((50, INF), (.9, INF)), "partial": ((50, INF), (.65, .9))},
}


def random_box(random, step):
    height = int(random.integers(12, 120)) // step * step + step
    x, y = random.integers(0, 120, 2) // step * step
    return int(x), int(y), max(step, round(.4 * height) // step * step), height


def random_images(seed):
    random = np.random.default_rng(seed)
    step = int(random.choice([1, 5]))
    images = []
    for _ in range(int(random.integers(1, 9))):
        people = [random_box(random, step) + (float(random.choice([.1, .2, .5, .65, .87, .9, 1])),)
                  for _ in range(int(random.integers(0, 6)))]
        regions = [random_box(random, step) for _ in range(int(random.integers(0, 3)))]
        detections = []
        for box in people + regions + [random_box(random, step)]:
            for _ in range(int(random.integers(0, 3))):
                moved = [int(v) for v in np.array(box[:4]) + random.integers(-6, 7, 4) // step * step]
                detections.append((*moved[:2], max(1, moved[2]), max(1, moved[3]), float(random.integers(0, 25) / 25)))
        images.append((people, regions, detections))
    return images


def ours(images):
    people = [(n, o[:4], o[4] if len(o) > 4 else 1, k >= len(p)) for n, (p, r, _) in enumerate(images, 1)
              for k, o in enumerate(p + r)]
    found = [(n, d[:4], d[4]) for n, (_, _, detections) in enumerate(images, 1) for d in detections]
    judged = scenes([o[:2] for o in people], found, len(images), visible=[o[2] for o in people],
                    ignore=[o[3] for o in people])
    values = {}
    for metric in (voc, caltech, citypersons, crowdhuman):
        values |= metric(judged, options())
    return {name.removesuffix(" (IoU 0.5)"): value for name, value in values.items()}


def theirs(images):
    eleven, area = textbook.voc(images)
    values = {"VOC AP 11-point": eleven, "VOC AP all-point": area}
    for protocol, subsets in SUBSETS.items():
        for name, (heights, visible) in subsets.items():
            values[f"{protocol} MR-2 {name}"] = textbook.miss_rate(images, heights, visible, protocol == "CityPersons")
    return values | {"CrowdHuman AP": textbook.crowdhuman_ap(images), "CrowdHuman MR": textbook.crowdhuman_mr(images),
                     "CrowdHuman JI": textbook.crowdhuman_ji(images)}


def main():
    failed, values = 0, 0
    for seed in map(int, sys.argv[1:] or SEEDS):
        images = random_images(seed)
        if not any(i[0] for i in images) or not any(i[2] for i in images):
            continue
        a, b = ours(images), theirs(images)
        assert list(a) == list(b), (list(a), list(b))
        for name in a:
            values += not math.isnan(b[name])
            if not math.isclose(a[name], b[name], rel_tol=1e-9, abs_tol=1e-12) and not math.isnan(a[name] + b[name]):
                print(f"seed {seed}: {name} is {a[name]}, by the textbook {b[name]}")
                failed += 1
            if math.isnan(a[name]) != math.isnan(b[name]):
                print(f"seed {seed}: {name} is {a[name]}, by the textbook {b[name]}")
                failed += 1
    print(f"{values} values, {failed} differ")
    assert values, "no values were compared"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
