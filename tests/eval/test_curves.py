#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metrics of curves worked out by hand. Exit status 77: there is no numpy."""

import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from scenes import options, place, row, scenes  # noqa: E402

from crowd_eval.coco import coco  # noqa: E402
from crowd_eval.crowdhuman import clip, crowdhuman  # noqa: E402
from crowd_eval.missrate import caltech, citypersons  # noqa: E402
from crowd_eval.voc import voc  # noqa: E402

T, F = True, False
# 4 people, found at ranks 1, 3 and 4: recalls .25 .25 .5 .75 .75, precisions 1 1/2 2/3 3/4 3/5.
MIXED = [T, F, T, T, F]


def near(a, b):
    return abs(a - b) < 1e-12


class Areas(unittest.TestCase):
    def test_coco_reads_101_recalls(self):
        # Recalls 0 to .25 (26 of them) read 1, .26 to .75 (50) read 3/4, the others 0. All IoUs are 1.
        values = coco(row(4, MIXED), options())
        self.assertTrue(near(values["COCO AP (maxDets 1000)"], (26 + 50 * .75) / 101), values)
        self.assertEqual(values["COCO AR1000"], .75)
        self.assertEqual(values["COCO AR1"], .25)

    def test_coco_judges_at_most_max_dets(self):
        values = coco(row(4, [T, T, T, T]), options(max_dets=2))
        self.assertTrue(near(values["COCO AP (maxDets 2)"], 51 / 101), values)

    def test_voc(self):
        # Points 0, .1, .2 read 1; .3 to .7 read 3/4; the others 0.
        values = voc(row(4, MIXED), options())
        self.assertTrue(near(values["VOC AP 11-point (IoU 0.5)"], (3 + 5 * .75) / 11), values)
        self.assertTrue(near(values["VOC AP all-point (IoU 0.5)"], .25 + .5 * .75), values)

    def test_crowdhuman_trapezoids(self):
        # From (.25, 1): no width to (.25, 1/2), then .25 wide each to 2/3 and to 3/4, none to 3/5.
        area = .25 * (1 / 2 + 2 / 3) / 2 + .25 * (2 / 3 + 3 / 4) / 2
        values = crowdhuman(row(4, MIXED), options())
        self.assertTrue(near(values["CrowdHuman AP (IoU 0.5)"], area), values)
        values = crowdhuman(row(4, MIXED), options(published=False))
        self.assertTrue(near(values["CrowdHuman AP (IoU 0.5)"], area + .25), values)

    def test_nothing_to_find_is_nan(self):
        empty = scenes([], [(1, place(0), .5)], images=1)
        for metric in (coco, voc, caltech, citypersons, crowdhuman):
            self.assertTrue(all(math.isnan(v) for v in metric(empty, options()).values()), metric.__name__)

    def test_nothing_found(self):
        none = scenes([(1, place(0))], [], images=1)
        self.assertEqual(coco(none, options())["COCO AP (maxDets 1000)"], 0)
        self.assertEqual(set(voc(none, options()).values()), {0})
        self.assertEqual(caltech(none, options())["Caltech MR-2 reasonable (IoU 0.5)"], 1)
        self.assertEqual(citypersons(none, options())["CityPersons MR-2 reasonable (IoU 0.5)"], 1)
        values = crowdhuman(none, options())
        self.assertEqual((values["CrowdHuman AP (IoU 0.5)"], values["CrowdHuman JI (IoU 0.5)"]), (0, 0))
        self.assertTrue(math.isnan(values["CrowdHuman MR (IoU 0.5)"]))
        self.assertEqual(crowdhuman(none, options(published=False))["CrowdHuman MR (IoU 0.5)"], 1)


class Rounding(unittest.TestCase):
    def test_seven_of_twenty_does_not_reach_coco_s_recall_of_35(self):
        # np.linspace(0, 1, 101)[35] is above 7 / 20.
        found = row(20, [T] * 7)
        self.assertTrue(near(coco(found, options())["COCO AP (maxDets 1000)"], 35 / 101))
        self.assertTrue(near(coco(found, options(published=False))["COCO AP (maxDets 1000)"], 36 / 101))

    def test_three_of_ten_does_not_reach_voc_s_recall_of_3(self):
        found = row(10, [T] * 3)
        self.assertTrue(near(voc(found, options())["VOC AP 11-point (IoU 0.5)"], 3 / 11))
        self.assertTrue(near(voc(found, options(published=False))["VOC AP 11-point (IoU 0.5)"], 4 / 11))


class MissRates(unittest.TestCase):
    """Of 10 images and 4 people. References 10^-2 to 10^-1.25 are below one false detection in 10 images, five are
    above."""

    def rates(self, outcomes, **given):
        found = row(4, outcomes, images=10)
        return [function(found, options(**given))[name + " (IoU 0.5)"] for function, name in (
            (caltech, "Caltech MR-2 reasonable"), (citypersons, "CityPersons MR-2 reasonable"), (crowdhuman, "CrowdHuman MR"))]

    def test_right_wrong_right_right_wrong(self):
        # Points (0, 3/4), (.1, 3/4), (.1, 1/2), (.1, 1/4), (.2, 1/4).
        low, high = 4 * math.log(3 / 4), 5 * math.log(1 / 4)
        expected = math.exp((low + high) / 9)
        # CrowdHuman: the first point with .1 or more is (.1, 3/4); of .1778 and more (.2, 1/4).
        first = math.exp((5 * math.log(3 / 4) + 4 * math.log(1 / 4)) / 9)
        self.assertTrue(np.allclose(self.rates(MIXED), [expected, expected, first], rtol=1e-12), self.rates(MIXED))
        self.assertTrue(np.allclose(self.rates(MIXED, published=False), [expected] * 3, rtol=1e-12))

    def test_best_detection_wrong(self):
        # Points (.1, 1), (.1, 3/4), (.1, 1/2): nothing is below four references.
        outcomes = [F, T, T]
        honest = math.exp(5 * math.log(1 / 2) / 9)
        # CityPersons reads the last point there: 1/2 everywhere. CrowdHuman reads (.1, 1) at five, the last at four.
        self.assertTrue(np.allclose(self.rates(outcomes), [honest, 1 / 2, math.exp(4 * math.log(1 / 2) / 9)], rtol=1e-12))
        self.assertTrue(np.allclose(self.rates(outcomes, published=False), [honest] * 3, rtol=1e-12))

    def test_all_found(self):
        self.assertTrue(np.allclose(self.rates([T] * 4), [1e-10, 0, 0], rtol=1e-6, atol=0), self.rates([T] * 4))
        self.assertTrue(np.allclose(self.rates([T] * 4, published=False), [1e-10] * 3, rtol=1e-6))

    def test_at_a_reference(self):
        # One false detection in 10 images is .1, and does not exceed it: at .1 and above 3/4.
        self.assertTrue(np.allclose(self.rates([F, T], published=False), math.exp(5 * math.log(3 / 4) / 9), rtol=1e-12))


class Ends(unittest.TestCase):
    """What decides where things are equal, or just at a bound."""

    def test_of_equal_overlaps_the_last_or_the_first(self):
        # The better detection is amid two people; the other one overlaps the first of them alone.
        people, amid, left = [(1, (0, 0, 40, 100)), (1, (20, 0, 40, 100))], (1, (10, 0, 40, 100), .9), (1, (-10, 0, 40, 100), .8)
        found = scenes(people, [amid, left])
        self.assertEqual(coco(found, options())["COCO AR1000"], .3)  # at .5, .55 and .6, as the overlaps are 3 / 5
        self.assertTrue(near(caltech(found, options())["Caltech MR-2 reasonable (IoU 0.5)"], 1e-10))
        self.assertEqual(crowdhuman(found, options())["CrowdHuman MR (IoU 0.5)"], .5)

    def test_citypersons_references_have_four_digits(self):
        # 5 in 281 images is between 10^-1.75 and .0178.
        found = row(2, [F] * 5 + [T], images=281)
        name = "CityPersons MR-2 reasonable (IoU 0.5)"
        self.assertEqual(citypersons(found, options(published=False))[name], math.exp(7 * math.log(1 / 2) / 9))
        found = row(2, [T] + [F] * 5 + [T], images=281)
        self.assertEqual(citypersons(found, options())[name], 0)
        two = row(3, [T] + [F] * 5 + [T], images=281)
        self.assertTrue(near(citypersons(two, options())[name], math.exp((math.log(2 / 3) + 8 * math.log(1 / 3)) / 9)))

    def test_heights_of_detections(self):
        # Small people are 50 to 75 pixels high: a false detection counts from 40 to below 93.75.
        for height, miss in ((39.9, 0), (40, 1), (93.7, 1), (93.75, 0)):
            found = scenes([(1, (0, 0, 20, 60))], [(1, (300, 0, 20, height), .9), (1, (0, 0, 20, 60), .8)])
            rate = citypersons(found, options(published=False))["CityPersons MR-2 small (IoU 0.5)"]
            self.assertEqual(rate > 1e-9, bool(miss), height)

    def test_boxes_are_clipped(self):
        boxes = np.array([[-10, -10, 30, 30], [90, 40, 30, 30], [120, 10, 5, 5.]])
        self.assertEqual(clip(boxes, (100, 50), False).tolist(), [[0, 0, 20, 20], [90, 40, 10, 10], [100, 10, 0, 5]])
        self.assertEqual(clip(boxes, (100, 50), True).tolist(), [[0, 0, 20, 20], [90, 40, 10, 10], [99, 10, 1, 5]])
        self.assertEqual(clip(boxes, None, True).tolist(), boxes.tolist())


class Jaccard(unittest.TestCase):
    def test_the_best_threshold(self):
        # 4 people; 3 found and a false one above .8, two false ones between .2 and .3: 3 / (4 + 4 - 3) from .3 to .8.
        wrong = (10, 500, 40, 100)
        found = scenes([(1, place(n)) for n in range(4)], [(1, place(n), .9) for n in range(3)] +
                       [(1, wrong, .95), (1, wrong, .25), (1, wrong, .25)])
        self.assertTrue(near(crowdhuman(found, options(published=False))["CrowdHuman JI (IoU 0.5)"], 3 / 5))
        self.assertTrue(near(crowdhuman(found, options())["CrowdHuman JI (IoU 0.5)"], 3 / (5 + 1e-6)))

    def test_the_matching_is_a_largest_one(self):
        # The better detection overlaps both people, more the one that alone the other one overlaps.
        people = [(1, (0, 0, 100, 10)), (1, (30, 0, 100, 10))]
        found = scenes(people, [(1, (10, 0, 100, 10), .9), (1, (-20, 0, 100, 10), .8)])
        values = crowdhuman(found, options(published=False))
        self.assertEqual(values["CrowdHuman JI (IoU 0.5)"], 1)
        self.assertEqual(values["CrowdHuman MR (IoU 0.5)"], .5)  # greedy: one right, one wrong in one image

    def test_images_without_anything_do_not_count(self):
        found = scenes([(1, place(0))], [(1, place(0), .95)], images=4)
        self.assertEqual(crowdhuman(found, options(published=False))["CrowdHuman JI (IoU 0.5)"], 1)


if __name__ == "__main__":
    unittest.main()
