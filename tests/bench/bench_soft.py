#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Soft-NMS beside OpenCV's softNMSBoxes, and weighted box fusion beside ensemble-boxes, on the same candidates in the
same run, one thread each: milliseconds, the min of several calls, and the ratio. Checks first that both leave as many.

usage: bench_soft.py libcrowdnms.so [CANDIDATES...]    (default 1000 4000)

With Debian's python3-opencv and python3-numpy; ensemble-boxes is fetched with pip once. Its fusion is numpy, without
numba.
"""

import ctypes
import importlib.util
import pathlib
import sys
import time
import types
from ctypes import byref, c_float, c_uint32, c_void_p, pointer

import cv2
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
from pip_packages import fetch  # noqa: E402

spec = importlib.util.spec_from_file_location("nms_from_python", HERE.parents[1] / "pipelines" / "nms-from-python.py")
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

SOFT_LINEAR, SOFT_GAUSSIAN, WBF = 3, 4, 8
FLOOR = .05  # of scores
SIZE = 4096  # of the picture


def crowd(n, seed):
    """Windows of whole pixels around n / 20 people, and scores without ties."""
    random = np.random.default_rng(seed)
    people = random.uniform(100, SIZE - 200, (n // 20, 2))[random.integers(0, n // 20, n)]
    size = random.uniform(40, 90, (n, 2))
    corner = np.round(people + random.normal(0, 9, (n, 2)))
    boxes = np.clip(np.hstack([corner, corner + np.round(size)]), 0, SIZE).astype(np.float32)
    return boxes, (random.permutation(n) * .9 / n + .1).astype(np.float32)


class Ours:
    """A session, and everything that a call needs."""

    def __init__(self, library, boxes, scores, **settings):
        self.library, n = library, len(boxes)
        self.keep = np.ascontiguousarray(boxes), np.ascontiguousarray(scores)
        self.params = example.Params()
        library.crowd_nms_params_init(byref(self.params))
        for name, value in settings.items():
            setattr(self.params, name, value)
        self.candidates = example.Candidates((example.Box * n).from_buffer(self.keep[0]),
                                             (c_float * n).from_buffer(self.keep[1]), None, None, None, 1, n)
        self.report = example.Report()
        self.survivors = example.Survivors((c_uint32 * n)(), None, None, pointer(self.report), n, 0,
                                           (example.Box * n)(), (c_float * n)())
        self.session = c_void_p()
        assert library.crowd_nms_session_new(0, None, 1, n, byref(self.session)) == 0

    def run(self):
        status = self.library.crowd_nms_session_run(self.session, byref(self.params), byref(self.candidates),
                                                    byref(self.survivors))
        assert status == 0, self.library.crowd_nms_last_error()
        return self.report.survivors


def least_ms(call, seconds=2):
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def row(name, n, ours, theirs):
    found, wanted = ours.run(), theirs()
    if found != wanted:
        sys.exit(f"bench_soft.py: {name} leaves {found} of {n}, and there {wanted}")
    mine, other = least_ms(ours.run), least_ms(theirs)
    print(f"{name:14} {n:6} {found:6} {mine:10.3f} {other:12.3f} {other / mine:8.1f}x", flush=True)


def soft_rows(library, n):
    boxes, scores = crowd(n, n)
    whole = [[int(x1), int(y1), int(x2 - x1), int(y2 - y1)] for x1, y1, x2, y2 in boxes]
    listed = scores.tolist()
    for name, method, there in (("soft-linear", SOFT_LINEAR, 1), ("soft-gaussian", SOFT_GAUSSIAN, 2)):
        ours = Ours(library, boxes, scores, method=method, overlap_threshold=.3, score_threshold=FLOOR)
        row(name, n, ours, lambda: len(cv2.dnn.softNMSBoxes(whole, listed, FLOOR, .3, 0, .5, there)[1]))


def fusion_row(library, n, ensemble_boxes):
    boxes, scores = crowd(n, n)
    inside = boxes / np.float32(SIZE)
    ours = Ours(library, inside, scores, method=WBF, overlap_threshold=.55)
    row("wbf", n, ours, lambda: len(ensemble_boxes.weighted_boxes_fusion([inside], [scores], [[0] * n], iou_thr=.55)[0]))


def main():
    cv2.setNumThreads(1)
    library = ctypes.CDLL(sys.argv[1])
    library.crowd_nms_last_error.restype = ctypes.c_char_p
    numba = types.ModuleType("numba")
    numba.jit = lambda *_, **__: lambda function: function
    sys.modules["numba"] = numba
    ensemble_boxes = fetch("ensemble_boxes", "1.0.9")
    print(f"{'method':14} {'n':>6} {'left':>6} {'ours ms':>10} {'theirs ms':>12} {'ratio':>9}")
    for n in map(int, sys.argv[2:] or ("1000", "4000")):
        soft_rows(library, n)
        if ensemble_boxes:
            fusion_row(library, n, ensemble_boxes)


if __name__ == "__main__":
    main()
