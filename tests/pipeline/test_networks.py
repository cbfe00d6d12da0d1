#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Candidates of the networks against those of the same networks in OpenCV's Python and in ONNX Runtime's, on pictures of
the film: boxes within a pixel, the same candidates but for 0.1 % whose scores are at the threshold.

Exit status 77: no cv2 (Debian's python3-opencv) or numpy, or the film or the models cannot be fetched. ONNX Runtime, 17
MB, is fetched with pip once; where it cannot be had, its tests are skipped.

usage: test_networks.py NET_CANDIDATES LAYOUTS    in an environment where CROWD_CACHE may name the cache
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("CROWD_CACHE", str(ROOT / ".cache"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
ONNXRUNTIME = "1.23.2"
FRAMES = (0, 280, 680)
EDGE = 2e-3  # part of a score: what another order of additions may change


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


try:
    import cv2
    import numpy as np

    import network_reference as reference
except ImportError as missing:
    skip(f"{missing}; apt-get install python3-opencv python3-numpy")
import pip_packages  # noqa: E402

# Anchors of the person network's grid of one cell, which OpenCV 4.10 computes otherwise than 4.6 and ONNX Runtime, which
# agree: logits differ by 0.3.
APART = 6 if tuple(map(int, cv2.__version__.split(".")[:2])) >= (4, 7) else 0


def fetched(program, *arguments):
    done = subprocess.run([ROOT / "pipelines" / program, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def pictures_of_film(film):
    """Frames in RGB."""
    capture = cv2.VideoCapture(film)
    for number in range(max(FRAMES) + 1):
        good, picture = capture.read()
        if not good:
            skip(f"cv2 cannot decode {film}")
        if number in FRAMES:
            yield np.ascontiguousarray(picture[:, :, ::-1])


def candidates(model, description, threshold, pictures, engine="opencv", tiles="1x1"):
    """[n, 6] for each picture: corners, score, class."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, picture in enumerate(pictures):
            paths.append(f"{folder}/{number}.ppm")
            cv2.imwrite(paths[-1], picture[:, :, ::-1])
        done = subprocess.run([PROGRAM, engine, model, f"{LAYOUTS}/{description}.modelinfo", tiles, repr(threshold),
                               *paths], stdout=subprocess.PIPE, text=True, check=True)
    return [np.array(json.loads(line), float).reshape(-1, 6) for line in done.stdout.splitlines()]


def has_engine(name):
    done = subprocess.run([PROGRAM, name, "no.onnx", f"{LAYOUTS}/person-net.modelinfo", "1x1", ".1", "no.ppm"],
                          stderr=subprocess.PIPE, text=True, check=False)
    return f"there is no engine {name}" not in done.stderr


def unmatched(some, others, threshold):
    """How many have no like with the others, but for scores at the threshold; each of the others is a like once."""
    used = np.zeros(len(others), bool)
    count = 0
    for one in some:
        near = ~used & (np.abs(others[:, :4] - one[:4]) <= 1).all(1) & (np.abs(others[:, 4] - one[4]) <= EDGE * one[4])
        if near.any():
            used[np.argmax(near)] = True
        elif one[4] > threshold * (1 + EDGE):
            count += 1
    return count


class Networks(unittest.TestCase):
    def compare(self, ours, theirs, threshold, least, apart=0):
        """apart: candidates of a picture that may differ."""
        theirs = [found[found[:, 4] >= threshold] for found in theirs]
        self.assertEqual(len(ours), len(theirs))
        total = sum(map(len, theirs))
        print(f"({total} candidates)", end=" ")
        self.assertGreaterEqual(total, least, "too few candidates to compare")
        self.assertLessEqual(abs(sum(map(len, ours)) - total), total / 1000)
        for mine, other in zip(ours, theirs):
            self.assertLessEqual(unmatched(mine, other, threshold), apart)
            self.assertLessEqual(unmatched(other, mine, threshold), apart)
            self.assertTrue((mine[:, 5] == 0).all())

    def persons(self):
        """Pictures of the network's size, and a smaller one that is not square, so that it is scaled."""
        return [cv2.resize(picture, (300, 300)) for picture in FILM] + [FILM[0][150:350, 460:690]]

    def faces(self):
        return [FILM[0], np.ascontiguousarray(FILM[1][128:288, 224:448])]

    def test_persons_against_opencv(self):
        theirs = reference.opencv_persons(PERSON_NET, self.persons())
        self.compare(candidates(PERSON_NET, "person-net", .001, self.persons()), theirs, .001, 300)

    def test_faces_against_opencv(self):
        theirs = reference.opencv_faces(FACE_NET, self.faces())
        self.compare(candidates(FACE_NET, "face-net", .03, self.faces()), theirs, .03, 50)

    def compare_tiles(self, engine, model, apart=0):
        """Tiles of the network's size, so that none is scaled, and the whole picture, which is as without tiles."""
        picture, places = cv2.resize(FILM[0], (780, 780)), (0, 240, 480)
        corners = [(x, y) for y in places for x in places]
        tiles = list(reference.opencv_persons(PERSON_NET, [np.ascontiguousarray(picture[y:y + 300, x:x + 300])
                                                           for x, y in corners]))
        theirs = [found + np.array([x, y, x, y] + [0] * (found.shape[1] - 4)) for found, (x, y) in zip(tiles, corners)]
        whole, = candidates(model, "person-net", .001, [picture], engine)
        theirs = np.concatenate(theirs + [whole[:, :theirs[0].shape[1]]])
        self.compare(candidates(model, "person-net", .001, [picture], engine, "3x3"), [theirs], .001, 1000,
                     apart * len(tiles))

    def test_persons_in_tiles(self):
        self.compare_tiles("opencv", PERSON_NET)

    def engine_onnxruntime(self):
        if not has_engine("onnxruntime"):
            self.skipTest("this build has no engine onnxruntime")
        return "onnxruntime"

    def test_persons_in_tiles_by_the_engine_onnxruntime(self):
        self.compare_tiles(self.engine_onnxruntime(), fetched("convert-model", "person-net"), APART)

    def test_persons_by_the_engine_onnxruntime(self):
        engine, theirs = self.engine_onnxruntime(), reference.opencv_persons(PERSON_NET, self.persons())
        model = fetched("convert-model", "person-net")
        self.compare(candidates(model, "person-net", .001, self.persons(), engine), theirs, .001, 300, APART)

    def test_faces_by_the_engine_onnxruntime(self):
        engine, theirs = self.engine_onnxruntime(), reference.opencv_faces(FACE_NET, self.faces())
        self.compare(candidates(FACE_NET, "face-net", .03, self.faces(), engine), theirs, .03, 50)

    def onnxruntime(self):
        onnxruntime = pip_packages.fetch("onnxruntime", ONNXRUNTIME)
        if onnxruntime is None:
            self.skipTest(f"onnxruntime {ONNXRUNTIME} cannot be had with pip")
        return onnxruntime

    def test_persons_against_onnxruntime(self):
        model = fetched("convert-model", "person-net")
        self.assertIsNotNone(model, "convert-model failed")
        theirs = reference.onnxruntime_persons(self.onnxruntime(), model, self.persons())
        self.compare(candidates(PERSON_NET, "person-net", .001, self.persons()), theirs, .001, 300, APART)

    def test_persons_in_float16_are_those_in_float32(self):
        """Logits within 0.1, which is a score within 0.025, and boxes within 1 % of an anchor's size."""
        onnxruntime = self.onnxruntime()
        picture = cv2.resize(FILM[0], (300, 300))[:, :, ::-1].transpose(2, 0, 1)[None] / np.float32(127.5) - 1
        answers = []
        for arguments, kind in ((), np.float32), (("--half",), np.float16):
            session = onnxruntime.InferenceSession(fetched("convert-model", *arguments, "person-net"))
            answers.append(session.run(["box_encodings", "class_predictions"], {"image_tensor": picture.astype(kind)}))
            self.assertEqual(answers[-1][0].dtype, kind)
        (boxes, logits), (half_boxes, half_logits) = answers
        self.assertLess(np.abs(logits - half_logits).max(), .1)
        self.assertLess(np.abs(boxes - half_boxes).max() / 10, .01)  # encodings are tenths of an anchor's size

    def test_faces_against_onnxruntime(self):
        theirs = reference.onnxruntime_faces(self.onnxruntime(), FACE_NET, self.faces())
        self.compare(candidates(FACE_NET, "face-net", .03, self.faces()), theirs, .03, 50)


if __name__ == "__main__":
    PROGRAM, LAYOUTS = sys.argv[1:]
    PERSON_NET, FACE_NET = fetched("fetch-model", "person-net"), fetched("fetch-model", "face-net")
    if not PERSON_NET or not FACE_NET:
        skip("the models cannot be fetched")
    FILM_PATH = fetched("fetch-film")
    if not FILM_PATH:
        skip("the film cannot be fetched")
    FILM = list(pictures_of_film(FILM_PATH))
    unittest.main(argv=sys.argv[:1], verbosity=2)
