#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cluster boxes from Python: libcrowdnms through ctypes, no other package needed.

    nms-from-python.py                       clusters five boxes of its own
    nms-from-python.py boxes.txt             one box a line: x1 y1 x2 y2 score ("-": standard input)

Prints a line for each survivor, best first: index, box, score, and how many candidates it represents.
As a module (importlib, for the dashes in its name): Nms(library).greedy(boxes, scores, iou_threshold).
"""

import argparse
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int, c_int32, c_uint32, c_void_p

DEMO = [
    (100, 80, 148, 176, 0.91),
    (104, 84, 150, 178, 0.97),
    (98, 77, 149, 170, 0.55),
    (300, 90, 344, 182, 0.80),
    (316, 95, 356, 180, 0.62),
]


class Box(ctypes.Structure):
    _fields_ = [(name, c_float) for name in ("x1", "y1", "x2", "y2")]


class ClassSettings(ctypes.Structure):
    _fields_ = [("label", c_int32), ("score_threshold", c_float), ("overlap_threshold", c_double)]


class Params(ctypes.Structure):
    _fields_ = [
        ("method", c_int),
        ("metric", c_int),
        ("comparator", c_int),
        ("pixel_offset", c_uint32),
        ("overlap_threshold", c_double),
        ("score_threshold", c_float),
        ("class_agnostic", c_uint32),
        ("rule", c_int),
        ("max_distance", c_float),
        ("min_overlap", c_double),
        ("min_width", c_float),
        ("min_height", c_float),
        ("max_width", c_float),
        ("max_height", c_float),
        ("class_count", c_uint32),
        ("listed_only", c_uint32),
        ("class_settings", ClassSettings * 128),
        ("paper_d_max", c_uint32),
        ("paper_k", c_uint32),
        ("merge", c_int),
        ("cluster_score", c_int),
        ("min_members", c_uint32),
        ("sigma", c_float),
        ("models", c_uint32),
        ("weight_count", c_uint32),
        ("model_weights", c_float * 16),
        ("reserved", c_uint32 * 6),
    ]


class Candidates(ctypes.Structure):
    _fields_ = [
        ("boxes", POINTER(Box)),
        ("scores", POINTER(c_float)),
        ("classes", POINTER(c_int32)),
        ("offsets", POINTER(c_uint32)),
        ("counts", POINTER(c_uint32)),
        ("frames", c_uint32),
        ("capacity", c_uint32),
        ("feature_length", c_uint32),
        ("flags", c_uint32),
        ("densities", POINTER(c_float)),
        ("proposals", POINTER(c_uint32)),
        ("visible", POINTER(Box)),
        ("features", POINTER(c_float)),
        ("models", POINTER(c_uint32)),
        ("reserved", c_void_p * 3),
    ]


class Report(ctypes.Structure):
    _fields_ = [
        (name, c_uint32)
        for name in ("candidates", "overflow", "invalid", "below_threshold", "survivors", "clipped")
    ]


class Survivors(ctypes.Structure):
    _fields_ = [
        ("survivors", POINTER(c_uint32)),
        ("members", POINTER(c_uint32)),
        ("representatives", POINTER(c_uint32)),
        ("reports", POINTER(Report)),
        ("max_survivors", c_uint32),
        ("flags", c_uint32),
        ("boxes", POINTER(Box)),
        ("scores", POINTER(c_float)),
        ("reserved", c_void_p * 4),
    ]


class Nms:
    """The library. Calls raise ValueError with the library's own words where the arguments are wrong."""

    def __init__(self, library="libcrowdnms.so.0"):
        self._library = ctypes.CDLL(library)
        self._library.crowd_nms_last_error.restype = c_char_p
        self._library.crowd_nms_session_new.argtypes = [
            c_int, POINTER(Params), c_uint32, c_uint32, POINTER(c_void_p)]
        self._library.crowd_nms_session_run.argtypes = [
            c_void_p, POINTER(Params), POINTER(Candidates), POINTER(Survivors)]
        self._library.crowd_nms_session_free.argtypes = [c_void_p]

    def _check(self, status):
        if status:
            raise ValueError(self._library.crowd_nms_last_error().decode())

    def greedy(self, boxes, scores, iou_threshold=0.5):
        """Exact greedy NMS on the CPU: ([(index, members), ...] best first, how many boxes were invalid)."""
        if len(boxes) != len(scores):
            raise ValueError(f"{len(boxes)} boxes, but {len(scores)} scores")
        n = len(boxes)
        params = Params()
        self._library.crowd_nms_params_init(byref(params))
        params.overlap_threshold = iou_threshold
        candidates = Candidates(
            (Box * (n or 1))(*map(tuple, boxes)), (c_float * (n or 1))(*scores), None, None, None, 1, n)
        kept, members, report = (c_uint32 * (n or 1))(), (c_uint32 * (n or 1))(), Report()
        survivors = Survivors(kept, members, None, ctypes.pointer(report), n)
        session = c_void_p()
        self._check(self._library.crowd_nms_session_new(0, None, 1, n, byref(session)))
        try:
            self._check(self._library.crowd_nms_session_run(
                session, byref(params), byref(candidates), byref(survivors)))
        finally:
            self._library.crowd_nms_session_free(session)
        return [(kept[r], members[r]) for r in range(report.survivors)], report.invalid


def read_boxes(file):
    rows = []
    for number, line in enumerate(file, 1):
        fields = line.split()
        try:
            row = [float(field) for field in fields]
        except ValueError:
            row = []
        if len(row) != 5:
            raise ValueError(f"line {number}: expected 'x1 y1 x2 y2 score', found '{line.strip()}'")
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description="Cluster boxes with libcrowdnms.")
    parser.add_argument("boxes", nargs="?", type=argparse.FileType(), help="x1 y1 x2 y2 score a line; - is standard input")
    parser.add_argument("--iou-threshold", type=float, default=0.5, help="0 to 1, default 0.5")
    parser.add_argument("--library", default="libcrowdnms.so.0", help="default: wherever the system finds it")
    options = parser.parse_args()
    try:
        rows = read_boxes(options.boxes) if options.boxes else DEMO
        survivors, invalid = Nms(options.library).greedy(
            [row[:4] for row in rows], [row[4] for row in rows], options.iou_threshold)
    except (OSError, ValueError) as error:
        sys.exit(f"nms-from-python: {error}")
    print(f"{len(rows)} candidates, {len(survivors)} survivors, {invalid} invalid")
    for index, members in survivors:
        x1, y1, x2, y2, score = rows[index]
        print(f"{index:4d}  {x1:g} {y1:g} {x2:g} {y2:g}  score {score:g}  represents {members}")


if __name__ == "__main__":
    main()
