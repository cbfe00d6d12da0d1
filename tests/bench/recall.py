#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recall and precision of detectors on 20 frames of OpenCV's vtest.avi, every 40th, whose people were labelled by hand.

usage: recall.py NAME=ELEMENTS|NAME=@FILE...    in meson devenv, or with gst-crowd-read-survivors in PATH

ELEMENTS is what stands between the frames and the survivors, say 'HOG=crowddetect ! crowdnms metric=ios
iou-threshold=0.6'. FILE has survivors of the whole film or of these frames: the JSON lines of gst-crowd-read-survivors
(frames from 0), or MOTChallenge's det.txt (frames from 1). --min-score drops what scores less.

Labels are in vtest-people.txt, as MOTChallenge's gt.txt: frame from 1, number of the person in its frame (no identity),
x, y, width, height, 1, 1, visible share. Boxes hold the whole body, hidden parts estimated, but end where the picture
ends. A person of whom less than 0.3 is visible need not be found, and is no error if it is. A survivor finds the
person whom it overlaps most, the best score first, each person once.
"""

import argparse
import collections
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from film import find_film  # noqa: E402

WIDTH, HEIGHT = 768, 576
SEEN = 0.3
OVERLAPS = (0.5, 0.4)
Frame = collections.namedtuple("Frame", "boxes scores")  # corners in pixels, shape [n, 4]; [n]


def read_mot(lines):
    """Rows of numbers by frame, from 0; boxes as corners."""
    frames = collections.defaultdict(list)
    for line in lines:
        row = [float(v) for v in line.split(",")]
        x, y, width, height = row[2:6]
        frames[int(row[0]) - 1].append([x, y, x + width, y + height] + row[6:])
    return {frame: np.array(rows) for frame, rows in frames.items()}


def read_labels(path):
    """Boxes and whether they must be found, by frame."""
    return {f: (rows[:, :4], rows[:, 6] >= SEEN) for f, rows in read_mot(path.read_text().splitlines()).items()}


def read_survivors(text):
    """Survivors by frame."""
    lines = text.splitlines()
    if not text.lstrip().startswith("{"):
        return {f: Frame(rows[:, :4], rows[:, 4]) for f, rows in read_mot(lines).items()}
    frames = {}
    for line in map(json.loads, lines):
        boxes = np.array([o["box"] for o in line["objects"]], float).reshape(-1, 4)
        frames[line["frame"]] = Frame(boxes, np.array([o.get("score", 1.0) for o in line["objects"]], float))
    return frames


def overlaps(box, boxes):
    width = np.minimum(box[2], boxes[:, 2]) - np.maximum(box[0], boxes[:, 0])
    height = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return shared / ((box[2] - box[0]) * (box[3] - box[1]) + areas - shared)


def match(survivors, labels, required, least):
    """(score, right) of each survivor but for those that find a person who need not be found."""
    free = np.ones(len(labels), bool)
    outcomes = []
    for i in np.argsort(-survivors.scores, kind="stable"):
        ratio = overlaps(survivors.boxes[i], labels)
        hits = free & (ratio >= least)
        if (hits & required).any():
            hits &= required
        if hits.any():
            best = int(np.argmax(np.where(hits, ratio, 0)))
            free[best] = False
            if not required[best]:
                continue
        outcomes.append((survivors.scores[i], bool(hits.any())))
    return outcomes


def average_precision(outcomes, people):
    """Area under precision over recall, precision made monotonous."""
    right = np.cumsum([r for _, r in sorted(outcomes, key=lambda o: -o[0])])
    precision = right / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(np.concatenate([[0], right])) * precision)) / people


def score(frames, labels, least):
    """Recall, precision and average precision."""
    outcomes = []
    for frame, (boxes, required) in labels.items():
        survivors = frames.get(frame, Frame(np.empty((0, 4)), np.empty(0)))
        outcomes += match(survivors, boxes, required, least)
    people = sum(int(required.sum()) for _, required in labels.values())
    right = sum(r for _, r in outcomes)
    return right / people, right / len(outcomes) if outcomes else 0.0, average_precision(outcomes, people)


def extract(film, frames, path):
    """Writes these frames of the film to a file, as I420."""
    size = WIDTH * HEIGHT * 3 // 2
    source = subprocess.Popen(["gst-launch-1.0", "-q", "filesrc", f"location={film}", "!", "decodebin", "!", "videoconvert",
                               "!", f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT}", "!", "fdsink"],
                              stdout=subprocess.PIPE)
    with open(path, "wb") as out:
        for number in range(max(frames) + 1):
            picture = source.stdout.read(size)
            if len(picture) != size:
                sys.exit(f"recall.py: {film} ends at frame {number}")
            if number in frames:
                out.write(picture)
    source.stdout.close()
    source.wait()


def read_lines(elements, raw):
    """What gst-crowd-read-survivors says of the frames in a file."""
    done = subprocess.run(["gst-crowd-read-survivors", "filesrc", f"location={raw}", "!", "rawvideoparse", f"width={WIDTH}",
                           f"height={HEIGHT}", "format=i420", "framerate=10/1", "!", *elements.split(), "!", "appsink",
                           "name=survivors", "sync=false"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {elements} failed")
    return done.stdout


def run(elements, raw, frames):
    """Survivors of the pipeline, and the seconds of CPU that a frame took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = read_lines(elements, raw)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    numbers = sorted(frames)
    survivors = {numbers[n]: frame for n, frame in read_survivors(text).items()}
    return survivors, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / len(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", metavar="NAME=ELEMENTS|NAME=@FILE")
    parser.add_argument("--min-score", type=float, default=0.0)
    parser.add_argument("--labels", type=pathlib.Path, default=HERE / "vtest-people.txt")
    options = parser.parse_args()
    labels = read_labels(options.labels)
    people = sum(int(required.sum()) for _, required in labels.values())
    print(f"{people} people in {len(labels)} frames, survivors that score {options.min_score:g} or more")
    print("| detector | survivors a frame | " + " | ".join(
        f"recall, precision, average precision at IoU {least}" for least in OVERLAPS) + " | CPU s a frame |")
    print("|---|---|" + "---|" * len(OVERLAPS) + "---|")
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / "frames.i420"
        for row in options.rows:
            name, _, what = row.partition("=")
            seconds = ""
            if what.startswith("@"):
                frames = read_survivors(pathlib.Path(what[1:]).read_text())
            else:
                if not raw.exists():
                    extract(find_film(), set(labels), raw)
                frames, cpu = run(what, raw, labels)
                seconds = f"{cpu:.2f}"
            frames = {n: Frame(f.boxes[f.scores >= options.min_score], f.scores[f.scores >= options.min_score])
                      for n, f in frames.items() if n in labels}
            count = sum(len(f.scores) for f in frames.values()) / len(labels)
            cells = [", ".join(f"{v:.2f}" for v in score(frames, labels, least)) for least in OVERLAPS]
            print(f"| {name} | {count:.1f} | " + " | ".join(cells) + f" | {seconds} |", flush=True)


if __name__ == "__main__":
    main()
