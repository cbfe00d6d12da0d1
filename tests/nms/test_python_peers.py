#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Merging beside the Python packages whose rules it has, on random sets without ties: test_python_peers.py EXAMPLE LIBRARY

nmw and wbf beside ensemble-boxes, with weights of models and without, merge and cluster_score 'mean' beside lsnms' box
clustering. Both packages compute in float64, or in sums of float32; so boxes agree to some places only. Greedy by IoU and
IoS, and merge 'union' of the candidates of tiles, beside sahi's NMS and GREEDYNMM: which are kept, and which go into
which; sahi then merges only those that still overlap the box as it grows. Exit status 77: there is no numpy, or the
packages, some 700 kB, cannot be fetched with pip, which is done once.
"""

import importlib
import importlib.util
import pathlib
import sys
import types
import unittest
from ctypes import byref, c_float, c_int32, c_uint32, c_void_p, pointer

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from pip_packages import fetch  # noqa: E402


def without_numba():
    """numba makes Python quick, 100 MB of it. Without, these packages are Python."""
    def same(*arguments, **_):
        return arguments[0] if arguments and callable(arguments[0]) else lambda function: function

    class Anything:
        def __getitem__(self, _):
            return self

        def __getattr__(self, _):
            return self

        def __call__(self, *_):
            return self

    def jitclass(*_):
        def made(of):
            of.class_type = Anything()
            return of
        return made

    numba, experimental = types.ModuleType("numba"), types.ModuleType("numba.experimental")
    numba.jit = numba.njit = same
    experimental.jitclass = jitclass
    numba.boolean = numba.float64 = numba.int64 = numba.deferred_type = numba.optional = Anything()
    return {"numba": numba, "numba.experimental": experimental}


def without_shapely():
    """sahi looks for neighbours of 2000 boxes or more in a tree of shapely's; here are fewer."""
    shapely = types.ModuleType("shapely")
    shapely.STRtree = shapely.box = None
    return {"shapely": shapely}


sys.modules |= without_numba() | without_shapely()
ensemble_boxes, lsnms = fetch("ensemble_boxes", "1.0.9"), fetch("lsnms", "0.5.0")
sahi = fetch("sahi", "0.12.8") and importlib.import_module("sahi.postprocess._numpy_backend")
if not ensemble_boxes and not lsnms and not sahi:
    print("skipped: none of ensemble-boxes 1.0.9, lsnms 0.5.0 and sahi 0.12.8 can be had with pip")
    sys.exit(77)

EXAMPLE, LIBRARY = sys.argv[1:3]
spec = importlib.util.spec_from_file_location("nms_from_python", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
library = example.Nms(LIBRARY)._library  # pylint: disable=protected-access

GREEDY, NMW, WBF = 0, 7, 8
IOU, IOS = 0, 1
GREATER, GREATER_EQUAL = 0, 1
MEAN, UNION, SCORE_MEAN = 1, 3, 2
SEEDS = range(1, 31)


def merged(boxes, scores, classes, of_each=None, weights=(), **settings):
    """(boxes, scores, classes, members) of the survivors. of_each: its model, of each candidate; weights: of models."""
    n = len(boxes)
    params = example.Params()
    library.crowd_nms_params_init(byref(params))
    for name, value in settings.items():
        setattr(params, name, value)
    params.weight_count = len(weights)
    params.model_weights[:len(weights)] = weights
    at = np.ascontiguousarray(boxes, np.float32), np.ascontiguousarray(scores, np.float32)
    labels = (c_int32 * n)(*map(int, classes))
    candidates = example.Candidates((example.Box * n).from_buffer(at[0]), (c_float * n).from_buffer(at[1]), labels, None,
                                    None, 1, n)
    if of_each is not None:
        candidates.models = (c_uint32 * n)(*map(int, of_each))
    kept, members, report = (c_uint32 * n)(), (c_uint32 * n)(), example.Report()
    out_boxes, out_scores = (example.Box * n)(), (c_float * n)()
    survivors = example.Survivors(kept, members, None, pointer(report), n, 0, out_boxes, out_scores)
    session = c_void_p()
    assert library.crowd_nms_session_new(0, None, 1, n, byref(session)) == 0
    status = library.crowd_nms_session_run(session, byref(params), byref(candidates), byref(survivors))
    library.crowd_nms_session_free(session)
    assert status == 0, library.crowd_nms_last_error()
    found = report.survivors
    return (np.array([(b.x1, b.y1, b.x2, b.y2) for b in out_boxes[:found]]), np.array(out_scores[:found]),
            np.array([classes[i] for i in kept[:found]]), np.array(members[:found]))


def crowd(seed, models):
    """Windows around objects in the unit square, as float32: a list for each model of boxes, scores, classes."""
    random = np.random.default_rng(seed)
    objects = random.uniform(.1, .8, (int(random.integers(1, 25)), 2))
    sizes = random.uniform(.03, .15, objects.shape)
    all_of = []
    for _ in range(models):
        n = int(random.integers(1, 60))
        of = random.integers(0, len(objects), n)
        size = sizes[of] * random.uniform(.8, 1.25, (n, 2))
        corner = objects[of] + sizes[of] * random.normal(0, .12, (n, 2))
        boxes = np.clip(np.hstack([corner, corner + size]), 0.001, .999).astype(np.float32)
        all_of.append((boxes, random.uniform(.05, .95, n).astype(np.float32), of % 3))
    return all_of


class Peers(unittest.TestCase):
    def expect_same(self, ours, theirs, name):
        """Rows of box, score and class, in any order."""
        ours, theirs = (np.column_stack([np.asarray(part, np.float64) for part in rows]) for rows in (ours, theirs))
        self.assertEqual(ours.shape, theirs.shape, name)
        left = list(range(len(ours)))
        for row in theirs:
            nearest = min(left, key=lambda k: np.abs(ours[k] - row).max())
            self.assertLess(np.abs(ours[nearest] - row).max(), 2e-6, f"{name}: {ours[nearest]} {row}")
            left.remove(nearest)

    def together(self, models):
        return np.vstack([m[0] for m in models]), *(np.concatenate([m[k] for m in models]) for k in (1, 2))

    def weights(self, seed, models):
        """Of each model, and in our words; every second time none."""
        if seed % 2:
            return None, {"models": len(models)}
        weights = [1.0, 2.0, .5, 3.0][:len(models)]
        of_each = np.repeat(range(len(models)), [len(m[1]) for m in models])
        return weights, {"weights": weights, "of_each": of_each}

    @unittest.skipIf(not ensemble_boxes, "no ensemble-boxes")
    def test_wbf(self):
        merges = 0
        for seed in SEEDS:
            for threshold in (.3, .55, .7):
                models = crowd(seed, 1 + seed % 4)
                weights, settings = self.weights(seed, models)
                theirs = ensemble_boxes.weighted_boxes_fusion(
                    *([m[k] for m in models] for k in range(3)), weights=weights, iou_thr=threshold, skip_box_thr=.1)
                ours = merged(*self.together(models), method=WBF, overlap_threshold=threshold, score_threshold=.1,
                              **settings)
                self.expect_same(ours[:3], theirs, f"seed {seed} IoU > {threshold}")
                merges += int((ours[3] > 1).sum())
        self.assertGreater(merges, 500)

    @unittest.skipIf(not ensemble_boxes, "no ensemble-boxes")
    def test_nmw(self):
        merges = 0
        for seed in SEEDS:
            for threshold in (.3, .55, .7):
                models = crowd(seed, 1 + seed % 4)
                weights, settings = self.weights(seed, models)
                theirs = ensemble_boxes.non_maximum_weighted(
                    *([m[k] for m in models] for k in range(3)), weights=weights, iou_thr=threshold, skip_box_thr=.1)
                ours = merged(*self.together(models), method=NMW, overlap_threshold=threshold, score_threshold=.1,
                              **settings)
                self.expect_same(ours[:3], theirs, f"seed {seed} IoU > {threshold}")
                merges += int((ours[3] > 1).sum())
        self.assertGreater(merges, 500)

    @unittest.skipIf(not lsnms, "no lsnms")
    def test_mean(self):
        merges = 0
        for seed in SEEDS:
            # A leaf of its tree. A tree of several is split by code that reads beyond an array, which numba lets pass.
            boxes, scores = (part[:32] for part in crowd(seed, 1)[0][:2])
            boxes, classes = boxes * np.float32(1024), [0] * len(boxes)
            pooled, pooled_scores, clusters = lsnms.wbc(boxes.astype(np.float64), scores.astype(np.float64), .4)
            ours = merged(boxes, scores, classes, method=GREEDY, comparator=GREATER_EQUAL, overlap_threshold=.4,
                          merge=MEAN, cluster_score=SCORE_MEAN)
            self.assertEqual(ours[3].tolist(), [len(members) for _, members in clusters])
            np.testing.assert_allclose(ours[0], pooled, rtol=1e-6)
            np.testing.assert_allclose(ours[1], pooled_scores, rtol=1e-6)
            merges += int((ours[3] > 1).sum())
        self.assertGreater(merges, 100)

    def sets_of_tiles(self):
        """Rows of sahi: corners, score, class; all of one class, as sahi calls these functions."""
        for seed in SEEDS:
            boxes, scores, _ = self.together(crowd(seed, 4))
            yield f"seed {seed}", np.column_stack([boxes * np.float32(1024), scores, np.zeros_like(scores)])

    @unittest.skipIf(not sahi, "no sahi")
    def test_greedy_nms_of_tiles(self):
        suppressed = 0
        for name, rows in self.sets_of_tiles():
            for metric, metric_name in (IOU, "IOU"), (IOS, "IOS"):
                for threshold in (.25, .5, .75):
                    kept = sahi.nms_numpy(rows, metric_name, threshold)
                    ours = merged(rows[:, :4], rows[:, 4], [0] * len(rows), method=GREEDY, metric=metric,
                                  comparator=GREATER_EQUAL, overlap_threshold=threshold)
                    np.testing.assert_array_equal(ours[0], rows[kept, :4], f"{name} {metric_name} >= {threshold}")
                    suppressed += len(rows) - len(kept)
        self.assertGreater(suppressed, 5000)

    @unittest.skipIf(not sahi, "no sahi")
    def test_union_of_tiles(self):
        merges = 0
        for name, rows in self.sets_of_tiles():
            for metric, metric_name in (IOU, "IOU"), (IOS, "IOS"):
                into = sahi.greedy_nmm_numpy(rows, metric_name, .5)
                ours = merged(rows[:, :4], rows[:, 4], [0] * len(rows), method=GREEDY, metric=metric,
                              comparator=GREATER_EQUAL, overlap_threshold=.5, merge=UNION)
                members = [[keeper, *others] for keeper, others in into.items()]
                boxes = [np.hstack([rows[of, :2].min(0), rows[of, 2:4].max(0)]) for of in members]
                np.testing.assert_array_equal(ours[0], boxes, f"{name} {metric_name}")
                np.testing.assert_array_equal(ours[1], rows[list(into), 4], f"{name} {metric_name}")
                self.assertEqual(ours[3].tolist(), [len(of) for of in members], f"{name} {metric_name}")
                merges += sum(len(of) > 1 for of in members)
        self.assertGreater(merges, 500)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
