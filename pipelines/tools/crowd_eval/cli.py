# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges detections by ground truth, each metric by its own published rules and under its own name.

Files are told by their content; images and classes count from 1, boxes are in pixels and half-open.
"""

import argparse
import inspect
import json
import math
import re
import sys
import warnings

import numpy as np

from . import read
from .coco import coco
from .crowdhuman import crowdhuman
from .join import Asked, join
from .missrate import caltech, citypersons
from .tables import BadInput
from .voc import voc

METRICS = {"coco": coco, "voc": voc, "caltech": caltech, "citypersons": citypersons, "crowdhuman": crowdhuman}


def numbers(text):
    """1,41,81-100 as a set."""
    ranges = [re.fullmatch(r"(\d+)(?:-(\d+))?", part) for part in text.split(",")]
    if not all(ranges):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers and ranges such as 1,41,81-100")
    return {n for r in ranges for n in range(int(r[1]), int(r[2] or r[1]) + 1)}


def pixels(text):
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size such as 1920x1080")
    return int(match[1]), int(match[2])


def between(low, high):
    def convert(text):
        value = float(text)
        if not low < value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not above {low:g} and at most {high:g}")
        return value
    return convert


def description():
    files = "Files:\n\n" + inspect.getdoc(read).split("\n", 2)[2]
    metrics = "\n\n".join(f"{name}: {inspect.getdoc(function)}" for name, function in METRICS.items())
    return f"{files}\n\nMetrics, nan where there is nothing to find:\n\n{metrics}"


def make_parser():
    parser = argparse.ArgumentParser(prog="gst-crowd-eval", description=__doc__, epilog=description(),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", metavar="TRUTH", help="ground truth: COCO, MOTChallenge gt.txt or JSON lines")
    parser.add_argument("detections", metavar="DETECTIONS", help="COCO, MOTChallenge det.txt or JSON lines")
    parser.add_argument("--metric", nargs="+", choices=METRICS, default=list(METRICS), metavar="NAME",
                        help=f"of {', '.join(METRICS)}; all unless given")
    parser.add_argument("--iou", type=between(0, 1), default=.5, help="threshold of all but coco, .5 unless given")
    parser.add_argument("--max-dets", type=int, default=1000,
                        help="detections an image for coco, 1000 unless given (pycocotools: 100)")
    parser.add_argument("--without-quirks", dest="published", action="store_false",
                        help="rules without what 'Published rules keep' lists below")
    parser.add_argument("--aspect", type=between(0, 100), help="width over height that caltech gives boxes, in dbEval .41")
    parser.add_argument("--frames", type=numbers, help="images to judge, such as 1,41,81-100; all unless given")
    parser.add_argument("--class", dest="kind", type=int, help="judge this class alone")
    parser.add_argument("--box", choices=("full", "visible"), default="full",
                        help="which boxes of TRUTH are to be found")
    parser.add_argument("--min-visibility", type=float, default=0.0, metavar="SHARE",
                        help="objects of which less can be seen need not be found, for all metrics")
    parser.add_argument("--size", type=pixels, help="of pictures, where the files do not say; for crowdhuman")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return parser


def judge(classes, options):
    """{metric: its mean over classes}; nan where no class has something to find."""
    results = [{name: value for metric in options.metric for name, value in METRICS[metric](scenes, options).items()}
               for scenes in classes.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing but nan
        return {name: float(np.nanmean([r[name] for r in results])) for name in results[0]}


def show(values, classes, as_json):
    if as_json:
        print(json.dumps({name: None if math.isnan(value) else value for name, value in values.items()}))
        return
    scenes = next(iter(classes.values()))
    detections = sum(len(scene.box) for c in classes.values() for scene in c)
    objects = sum(int((~scene.truth.ignored).sum()) for c in classes.values() for scene in c)
    print(f"{len(scenes)} images, {objects} objects to be found, {detections} detections, {len(classes)} classes")
    for name, value in values.items():
        print(f"{name:<44} {value:.4f}")


def main(arguments=None):
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.max_dets < 1:
        parser.error(f"--max-dets {options.max_dets} is not 1 or more")
    asked = Asked(options.frames, options.kind, options.min_visibility, options.box == "visible", options.size)
    try:
        classes, notes = join(read.read_truth(options.truth), read.read_detections(options.detections), asked)
    except BadInput as problem:
        print(f"gst-crowd-eval: {problem}", file=sys.stderr)
        return 1
    for note in notes:
        print(f"gst-crowd-eval: {note}", file=sys.stderr)
    show(judge(classes, options), classes, options.json)
    return 0
