#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-crowd-eval on files, good ones in each format and bad ones. Exit status 77: there is no numpy.

usage: test_files.py GST-CROWD-EVAL
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = sys.argv.pop(1)
COCO_TRUTH = {"images": [{"id": 1}, {"id": 2}], "categories": [{"id": 1}],
              "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 40, 100]},
                              {"id": 2, "image_id": 2, "category_id": 1, "bbox": [50, 0, 40, 100]}]}
COCO_FOUND = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 40, 100], "score": .9},
              {"image_id": 2, "category_id": 1, "bbox": [50, 0, 40, 100], "score": .8}]
MOT_TRUTH = "1,1,0,0,40,100,1,1,1\n2,1,50,0,40,100,1,1,1\n"
MOT_FOUND = "1,-1,0,0,40,100,.9\n2,-1,50,0,40,100,.8,-1,-1,-1\n"


def line(frame, *objects, **more):
    return json.dumps({"frame": frame, "objects": list(objects), **more}) + "\n"


def thing(x, **more):
    return {"box": [x, 0, x + 40, 100], **more}


LINES_TRUTH = line(0, thing(0)) + line(1, thing(50))
LINES_FOUND = line(0, thing(0, score=.9)) + line(1, thing(50, score=.8))
GOOD = {"coco": (COCO_TRUTH, COCO_FOUND), "mot": (MOT_TRUTH, MOT_FOUND), "lines": (LINES_TRUTH, LINES_FOUND)}


class Files(unittest.TestCase):
    def run_on(self, truth, found, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, content in (("truth", truth), ("found", found)):
                path = pathlib.Path(folder) / name
                if isinstance(content, bytes):
                    path.write_bytes(content)
                elif content is not None:
                    path.write_text(content if isinstance(content, str) else json.dumps(content))
                paths.append(path)
            return subprocess.run([sys.executable, PROGRAM, *paths, *arguments], capture_output=True, text=True, check=False)

    def values(self, truth, found, *arguments):
        done = self.run_on(truth, found, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def says(self, what, truth, found, *arguments):
        """One line that says what is wrong, and no traceback."""
        done = self.run_on(truth, found, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(what, done.stderr)

    def test_formats_go_with_each_other(self):
        for truth_form, (truth, _) in GOOD.items():
            for found_form, (_, found) in GOOD.items():
                with self.subTest(truth=truth_form, found=found_form):
                    values = self.values(truth, found, "--metric", "voc")
                    self.assertEqual(set(values.values()), {1.0})

    def test_the_table(self):
        done = self.run_on(COCO_TRUTH, COCO_FOUND, "--metric", "crowdhuman", "coco", "--max-dets", "100")
        self.assertIn("2 images, 2 objects to be found, 2 detections, 1 classes\n", done.stdout)
        self.assertIn("\nCOCO AP (maxDets 100)                        1.0000\n", done.stdout)
        self.assertIn("\nCrowdHuman AP (IoU 0.5)                      0.5000\n", done.stdout)
        self.assertNotIn("VOC", done.stdout)

    def test_help_has_definitions_and_sources(self):
        text = self.run_on(None, None, "--help").stdout
        for words in ("pycocotools", "Dollar et al.", "Repulsion Loss", "CrowdHuman, 2018", "Everingham"):
            self.assertIn(words, text)

    def test_output_that_is_read_no_further(self):
        with subprocess.Popen([sys.executable, PROGRAM, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdout.close()
            self.assertEqual(run.stderr.read(), b"")

    def test_visible_boxes(self):
        truth = line(0, thing(0, **{"visible-box": [0, 0, 40, 30]}))
        found = line(0, {"box": [0, 0, 40, 30], "score": 1})
        for box, ap in (("full", 0), ("visible", 1)):
            self.assertEqual(self.values(truth, found, "--metric", "voc", "--box", box)["VOC AP all-point (IoU 0.5)"], ap)
        reasonable = "CityPersons MR-2 reasonable (IoU 0.5)"
        self.assertIsNone(self.values(truth, found, "--metric", "citypersons")[reasonable])  # .3 of it can be seen
        self.says("no visible boxes", LINES_TRUTH, found, "--box", "visible")

    def test_some_frames_and_hidden_objects(self):
        name = "VOC AP all-point (IoU 0.5)"
        only_first = line(0, thing(0, score=.9)) + line(1)
        self.assertEqual(self.values(LINES_TRUTH, only_first, "--metric", "voc")[name], .5)
        self.assertEqual(self.values(LINES_TRUTH, only_first, "--metric", "voc", "--frames", "1")[name], 1)
        hidden = line(0, thing(0)) + line(1, thing(50, visibility=.2))
        for least, precision in ((".3", 1), (".2", .5)):
            self.assertEqual(self.values(hidden, only_first, "--metric", "voc", "--min-visibility", least)[name], precision)

    def test_regions_to_ignore(self):
        found = line(0, thing(0, score=.5), thing(200, score=.9), thing(250, score=.8))
        name = "COCO AP50 (maxDets 1000)"
        region = {"box": [190, 0, 400, 100], "ignore": True}
        for members, precision in (({}, 1), ({"crowd": False}, 1 / 3)):
            values = self.values(line(0, thing(0), region | members), found, "--metric", "coco", "--without-quirks")
            self.assertAlmostEqual(values[name], precision)

    def test_sizes_of_pictures(self):
        # Half of the person is beyond the picture: clipped, it is what was found.
        truth, found = "1,1,-20,0,40,100,1,1,1\n", {"box": [0, 0, 20, 100], "score": 1}
        name, size = "CrowdHuman JI (IoU 0.9)", {"resolution": {"width": 200, "height": 100}}
        beyond = ["--metric", "crowdhuman", "--iou", ".9", "--without-quirks"]
        self.assertEqual(self.values(truth, line(0, found), *beyond)[name], 0)
        self.assertEqual(self.values(truth, line(0, found), *beyond, "--size", "200x100")[name], 1)
        self.assertEqual(self.values(truth, line(0, found, **size), *beyond)[name], 1)

    def test_classes(self):
        truth = line(0, thing(0, **{"class": 0}), thing(100, **{"class": 1}))
        found = line(0, thing(0, score=.9, **{"class": 0}), thing(100, score=.8, **{"class": 0}))
        name = "VOC AP all-point (IoU 0.5)"
        self.assertEqual(self.values(truth, found, "--metric", "voc")[name], .5)
        self.assertEqual(self.values(truth, found, "--metric", "voc", "--class", "1")[name], 1)
        self.assertEqual(self.values(truth, found, "--metric", "voc", "--class", "2")[name], 0)

    def test_aspect(self):
        truth, found = line(0, thing(0)), line(0, {"box": [-30, 0, 70, 100], "score": 1})
        name = "Caltech MR-2 reasonable (IoU 0.5)"
        self.assertLess(self.values(truth, found, "--metric", "caltech", "--aspect", ".41")[name], 1e-9)
        self.assertEqual(self.values(truth, found, "--metric", "caltech")[name], 1)

    def test_files_that_do_not_match(self):
        self.says("it has images 1 to 2", COCO_TRUTH, MOT_FOUND + "3,-1,0,0,9,9,.5\n")
        self.says("does not match", MOT_TRUTH, "7,-1,0,0,9,9,.5\n")
        self.says("no line for 1 of 2 images, the first is image 2", LINES_TRUTH, line(0, thing(0, score=1)))
        self.says("no class in common, 2 against 1", COCO_TRUTH, [COCO_FOUND[0] | {"category_id": 2}])
        self.says("has no classes", COCO_TRUTH, MOT_FOUND, "--class", "1")
        left_out = self.run_on(MOT_TRUTH, MOT_FOUND + "3,-1,0,0,9,9,.5\n")
        self.assertEqual(left_out.returncode, 0)
        self.assertIn("1 detections in 1 images without ground truth are left out", left_out.stderr)

    def test_malformed(self):
        self.says("truth:2: expected one of MOTChallenge's lines", "1,1,0,0,40,100,1,1,1\n1,1,0\n", MOT_FOUND)
        self.says("unknown format", "<xml/>\n", MOT_FOUND)
        self.says("not UTF-8", b"\xff\xfe\x00", MOT_FOUND)
        self.says("found:2: Expecting", LINES_TRUTH, line(0) + '{"frame": 1, "objects": [}\n')
        self.says("too many arrays", "[" * 100000, MOT_FOUND)
        self.says("No such file", None, MOT_FOUND)
        self.says("is empty", "", MOT_FOUND)
        self.says("has no images", {"images": [], "annotations": []}, [])
        self.says("'images' is no array", {"images": 7, "annotations": []}, [])
        self.says("there is no 'bbox'", {**COCO_TRUTH, "annotations": [{"image_id": 1}]}, COCO_FOUND)
        self.says("which 'images' does not list", {**COCO_TRUTH, "images": [{"id": 1}]}, COCO_FOUND)
        self.says("detection 0: there is no 'image_id'", COCO_TRUTH, [7])
        self.says("ground truth is an object", COCO_FOUND, COCO_FOUND)
        self.says("detections are an array", COCO_TRUTH, COCO_TRUTH)
        self.says("older gst-crowd-read-survivors", LINES_TRUTH, '{"frame": 0, "survivors": []}\n')
        self.says("others have none", LINES_TRUTH, line(0, thing(0, **{"class": 0}), thing(9)) + line(1))

    def test_odd_values(self):
        self.says("found:1: the confidence is nan, expected a finite number", MOT_TRUTH, "1,-1,0,0,40,100,nan\n")
        self.says("detection 0: score is nan", COCO_TRUTH, [COCO_FOUND[0] | {"score": float("nan")}])
        self.says("found:1: score is inf", LINES_TRUTH, line(0, thing(0, score=float("inf"))) + line(1))
        self.says("-5 wide", MOT_TRUTH, "1,-1,0,0,-5,100,.5\n")
        self.says("expected a whole number from 1 on", MOT_TRUTH, "0,-1,0,0,40,100,.5\n")
        self.says("the visible share is 2", "1,1,0,0,40,100,1,1,2\n", MOT_FOUND)
        self.says("a side of the box is 'x'", LINES_TRUTH, line(0, {"box": ["x", 0, 1, 1]}) + line(1))

    def test_no_detections(self):
        for empty in ("", [], line(0) + line(1)):
            self.assertEqual(self.values(COCO_TRUTH, empty, "--metric", "coco")["COCO AP (maxDets 1000)"], 0)


if __name__ == "__main__":
    unittest.main()
