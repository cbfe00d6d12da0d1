#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's onnxinference with the person and the face network in front of crowdtensordec: the boxes are those that
crowddetect finds with the same network, and lie on the labelled people of the film.

Exit status 77: no onnxinference, crowddetect or numpy, or the film or the models cannot be had.

usage: test_onnxinference.py    in an environment where CROWD_BUILD names the build, and CROWD_CACHE may name the cache
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "bench"))
EVERY = 80  # frames, of which each 40th is labelled
RATE = 10  # frames a second
OVERLAP = 0.5


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


try:
    import numpy as np

    from recall import overlaps, read_labels
except ImportError as missing:
    skip(f"{missing}; apt-get install python3-numpy")

LABELS = read_labels(ROOT / "tests" / "bench" / "vtest-people.txt")


def from_scripts(command, *arguments):
    """What a function of pipelines/env.sh, or a program beside it, prints. Where it fails, what it needs is missing."""
    done = subprocess.run(["bash", "-c", '. "$0/env.sh"; PATH=$0:$PATH; "$@"', ROOT / "pipelines", command, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env=os.environ | {"OUT": "/tmp", "CROWD_REQUIRE_GPU": "0"})
    if done.returncode != 0:
        raise unittest.SkipTest((done.stderr.strip().splitlines() or [f"{command} failed"])[-1])
    return done.stdout.strip()


def found(elements, size):
    """Boxes [n, 4] in pixels of the film, and scores, by the frame of the film."""
    words = f"""filesrc location={FILM} ! decodebin ! videorate ! video/x-raw,framerate={RATE}/{EVERY} ! videoconvert !
        video/x-raw,format=RGB ! {elements} ! appsink name=survivors sync=false max-buffers=8""".split()
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.stderr[-1000:]}")
    frames = {}
    for line in map(json.loads, done.stdout.splitlines()):
        resolution = np.array([line["resolution"]["width"], line["resolution"]["height"]] * 2)
        boxes = np.array([one["box"] for one in line["objects"]]).reshape(-1, 4) * size / resolution
        # videorate adds one at the end.
        if (frame := round(line["pts"] * RATE / 1e9)) in LABELS:
            frames[frame] = boxes, np.array([one["score"] for one in line["objects"]])
    return frames


class OnnxInference(unittest.TestCase):
    def both(self, network, threshold, input_size):
        """What is found in onnxinference and in crowddetect, scaled to the film."""
        nms = "iou-threshold=0.3"
        film = np.array([768, 576] * 2)
        inference = from_scripts("onnxinference", network, input_size)
        ours = found(f"{inference} ! crowdtensordec score-threshold={threshold} {nms}", film)
        theirs = found(f"crowddetect detector={network} model={from_scripts('convert-model', network)} "
                       f"model-info={network} score-threshold={threshold} ! crowdnms {nms}", film)
        self.assertEqual(list(ours), list(theirs))
        return ours, theirs

    def check_alike(self, some, others, sure, least):
        """Those of `some` that score `sure` are among the others."""
        hits = [len(others[frame][0]) > 0 and overlaps(box, others[frame][0]).max() >= OVERLAP
                for frame, (boxes, scores) in some.items() for box in boxes[scores >= sure]]
        print(f"({sum(hits)} of {len(hits)} alike)", end=" ")
        self.assertGreaterEqual(len(hits), least, "too few boxes to compare")
        self.assertGreaterEqual(sum(hits), .9 * len(hits))

    def check_places(self, frames, sure, part):
        hits = [is_on_person(box, LABELS[frame][0], part)
                for frame, (boxes, scores) in frames.items() for box in boxes[scores >= sure]]
        print(f"({sum(hits)} of {len(hits)} on people)", end=" ")
        self.assertGreaterEqual(sum(hits), .9 * len(hits))

    def test_persons(self):
        ours, theirs = self.both("person-net", .25, "width=300,height=300")
        self.check_alike(ours, theirs, .4, 20)
        self.check_alike(theirs, ours, .4, 20)
        self.check_places(ours, .4, 1)

    def test_faces(self):
        ours, theirs = self.both("face-net", .2, "width=768,height=576")
        self.check_alike(ours, theirs, .3, 8)
        self.check_alike(theirs, ours, .3, 8)
        self.check_places(ours, .3, 1 / 3)


def is_on_person(box, people, part):
    """Whether the middle of a box is in the upper part of a person."""
    x, y = (box[:2] + box[2:]) / 2
    ends = people[:, 1] + (people[:, 3] - people[:, 1]) * part
    return bool(((people[:, 0] <= x) & (x <= people[:, 2]) & (people[:, 1] <= y) & (y <= ends)).any())


if __name__ == "__main__":
    PROGRAM = pathlib.Path(os.environ["CROWD_BUILD"]) / "pipelines" / "gst-crowd-read-survivors"
    try:
        from_scripts("need_onnxinference")
        from_scripts("gst-inspect-1.0", "--exists", "crowddetect")
        FILM = from_scripts("fetch-film")
    except unittest.SkipTest as missing:
        skip(missing)
    result = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    if len(result.skipped) == result.testsRun:
        skip("no model")
    sys.exit(not result.wasSuccessful())
