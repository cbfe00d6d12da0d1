#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which rule of crowdnms for which crowd: every method, metric and way of merging, on synthetic crowds of five densities
(crowds.py), on two scenes of crowdinject and on the labelled frames of vtest.avi with the person network, judged as
gst-crowd-eval does.
Tables as markdown, and a plot.

usage: bench_rules.py RESULTS.md [--frames N] [--seed N] [--thresholds .3,.5] [--densities 10,80] [--only "greedy iou"] [--no-film]

In meson devenv, on the CPU, with Debian's python3-gi, python3-numpy and python3-matplotlib. Rules are those that the
element lists: new ones come in by themselves, with their defaults. The plot is RESULTS.png.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import crowds  # noqa: E402
import recall  # noqa: E402
import rules  # noqa: E402
import rules_report  # noqa: E402
from film import find_film  # noqa: E402

DETECTOR = "crowddetect detector=person-net tiles=4x2 tile-overlap=0.3 score-threshold=0.05"
SCENES = {"crowd-run": (1920, 1080), "oscars": (4646, 1800)}
OTHERS = "Scenes of crowdinject, and the film"
SEEN = .3  # of a person in view; people of the film with less need not be found


@dataclasses.dataclass
class Crowd:
    name: str
    truth: pathlib.Path
    candidates: pathlib.Path
    frames: int
    size: tuple
    like: dict  # what it is like, see crowds.write()
    group: str  # of the tables
    min_visibility: float = 0.0
    visible_boxes: bool = False
    with_extras: bool = False  # candidates have what all rules read


def synthetic(folder, density, frames, seed, visible):
    boxes = "visible boxes" if visible else "full boxes"
    truth, found = folder / f"truth-{density}.jsonl", folder / f"candidates-{density}-{visible:d}.jsonl"
    like = crowds.write(seed, density, frames, visible, truth, found)
    return Crowd(f"{density} people, {boxes}", truth, found, frames, (crowds.WIDTH, crowds.HEIGHT), like,
                 f"Synthetic people, {boxes}", visible_boxes=visible, min_visibility=.1 if visible else 0, with_extras=True)


def count(path, separator):
    return path.read_text().count(separator)


def scene(folder, kind, size, frames):
    """Faces of a scene of crowdinject, loosely found."""
    truth, found = folder / f"{kind}.txt", folder / f"{kind}.jsonl"
    done = subprocess.run(["gst-crowd-read-survivors", "videotestsrc", f"num-buffers={frames}", "pattern=black", "!",
                           f"video/x-raw,format=GRAY8,width={size[0]},height={size[1]}", "!", "crowdinject",
                           f"scene={kind}", "jitter=0.1", f"truth-location={truth}", "!", "crowdnms", "iou-threshold=1", "!", "appsink",
                           "name=survivors", "sync=false"], stdout=subprocess.PIPE, text=True, check=True)
    found.write_text(done.stdout)
    like = {"people": count(truth, "\n") / frames, "candidates": count(found, '"box"') / frames}
    return Crowd(kind, truth, found, frames, size, like, OTHERS)


def film(folder):
    """The labelled frames, with all that the person network finds there."""
    labels = recall.read_mot((recall.HERE / "vtest-people.txt").read_text().splitlines())
    raw = folder / "frames.i420"
    recall.extract(find_film(), set(labels), raw)
    truth, found = folder / "film-truth.jsonl", folder / "film-candidates.jsonl"
    with open(truth, "w") as file:
        for number, frame in enumerate(sorted(labels)):
            objects = [{"box": row[:4].tolist(), "visibility": row[6]} for row in labels[frame]]
            file.write(json.dumps({"frame": number, "resolution": {"width": recall.WIDTH, "height": recall.HEIGHT},
                                   "objects": objects}) + "\n")
    # Nothing overlaps by more than 1: all candidates survive.
    found.write_text(recall.read_lines(f"{DETECTOR} ! crowdnms iou-threshold=1", raw))
    like = {"people": sum(map(len, labels.values())) / len(labels), "candidates": count(found, '"box"') / len(labels)}
    return Crowd("film", truth, found, len(labels), (recall.WIDTH, recall.HEIGHT), like, OTHERS, SEEN)


def measure(crowd, names, thresholds, folder):
    """{rule: {threshold: scores}} of a crowd; microseconds with crowdnms' own threshold and with the best."""
    results = {}
    for name, rule in names:
        scores = {f"{t:g}": rules.judge(crowd, rules.survivors(crowd, rule, t), folder) for t in thresholds}
        best = rules_report.best_threshold(scores)
        for threshold in {best, rules_report.DEFAULT}:
            scores[threshold]["us"] = rules.microseconds(crowd, rule, threshold)
        results[name] = scores
        print(f"{crowd.name}: {name}: AP50 {scores[best]['ap50']:.3f} at {best}", file=sys.stderr, flush=True)
    return results


def wanted(crowd, only):
    return [(name, rule) for name, rule in rules.distinct(crowd.with_extras) if not only or name in only.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=30, help="of each synthetic crowd")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thresholds", default=".3,.4,.5,.6,.7,.8,.9")
    parser.add_argument("--densities", default=",".join(map(str, crowds.DENSITIES)))
    parser.add_argument("--only", metavar="RULES", help="names of rows, separated by commas")
    parser.add_argument("--no-film", dest="film", action="store_false")
    return parser.parse_args()


def cpu():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.machine())


def main():
    options = parse_arguments()
    rules.Gst.init(None)
    thresholds = sorted({float(rules_report.DEFAULT), *map(float, options.thresholds.split(","))})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        judged = [synthetic(folder, int(density), options.frames, options.seed, visible) for visible in (False, True)
                  for density in options.densities.split(",")]
        judged += [scene(folder, kind, size, options.frames) for kind, size in SCENES.items()]
        judged += [film(folder)] if options.film else []
        measured = {crowd.name: measure(crowd, wanted(crowd, options.only), thresholds, folder) for crowd in judged}
    arguments = [pathlib.Path(a).name if a == str(options.results) else a for a in sys.argv[1:]]
    results = {"command": shlex.join(["tests/bench/bench_rules.py", *arguments]), "cpu": cpu(), "seed": options.seed,
               "date": datetime.date.today().isoformat(), "detector": DETECTOR,
               "crowds": {crowd.name: crowd.like | {"frames": crowd.frames, "group": crowd.group} for crowd in judged},
               "measured": measured}
    for path in rules_report.write(results, options.results):
        print(path)


if __name__ == "__main__":
    main()
