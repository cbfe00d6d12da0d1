# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules that crowdnms has, run on recorded candidates: survivors, microseconds, and how good they are."""

import pathlib
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "tools"))
from crowd_eval import coco, crowdhuman, join, missrate, read  # noqa: E402
from crowd_eval.subsets import CALTECH  # noqa: E402

MAX_DETS = 1000
HARD = ("greedy", "map-reduce")  # methods that suppress, by any metric
IOU = .5  # at which a survivor has found a person


def nicks(name):
    """Values of a property of crowdnms, by the element's own list."""
    kind = Gst.ElementFactory.make("crowdnms").find_property(name).enum_class
    return [value.value_nick for value in kind.__enum_values__.values()]


def elements(crowd, rule, threshold):
    """From frames to survivors. The size of the frames is that of the crowd, so that nothing is scaled."""
    return ["videotestsrc", f"num-buffers={crowd.frames}", "pattern=black", "!",
            f"video/x-raw,format=GRAY8,width={crowd.size[0]},height={crowd.size[1]},framerate=25/1", "!", "crowdinject",
            f"location={crowd.candidates}", "strict=true", "!", "crowdnms", "name=nms", "backend=cpu",
            f"iou-threshold={threshold}", *(f"{name}={value}" for name, value in rule.items())]


def survivors(crowd, rule, threshold):
    """JSON lines."""
    done = subprocess.run(["gst-crowd-read-survivors", *elements(crowd, rule, threshold), "!", "appsink",
                           "name=survivors", "sync=false"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_rules.py: {rule} failed on {crowd.name}")
    return done.stdout


def microseconds(crowd, rule, threshold, runs=5):
    """Of crowdnms for a frame, by its own clock: the quickest run, as others use the machine, too."""
    times = []
    for _ in range(runs):
        pipeline = Gst.parse_launch(" ".join([*elements(crowd, rule, threshold), "! fakesink sync=false"]))
        pipeline.set_state(Gst.State.PLAYING)
        awaited = Gst.MessageType.EOS | Gst.MessageType.ERROR
        message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, awaited)
        stats = pipeline.get_by_name("nms").get_property("stats")
        pipeline.set_state(Gst.State.NULL)
        if message.type == Gst.MessageType.ERROR:
            sys.exit(f"bench_rules.py: {rule} failed on {crowd.name}: {message.parse_error()}")
        times.append(stats.get_value("nms-time") / stats.get_value("frames") / 1e3)
    return min(times)


def distinct(with_extras):
    """[(name, properties)]: the hard methods with each metric, greedy with each way of merging and, where candidates have
    what these read, with each rule for pairs, and all other methods."""
    rules = [(f"{method} {metric}", {"method": method, "metric": metric}) for method in HARD
             for metric in nicks("metric")]
    rules += [(f"greedy merge={merge}", {"method": "greedy", "merge": merge}) for merge in nicks("merge")[1:]]
    rules += [(f"greedy rule={rule}", {"method": "greedy", "rule": rule}) for rule in nicks("rule")[1:] if with_extras]
    return rules + [(method, {"method": method}) for method in nicks("method") if method not in HARD]


def judge(crowd, text, folder):
    """Survivors by the metrics of gst-crowd-eval."""
    path = folder / "survivors.jsonl"
    path.write_text(text)
    asked = join.Asked(min_visibility=crowd.min_visibility, visible_boxes=crowd.visible_boxes)
    classes, _ = join.join(read.read_truth(crowd.truth), read.read_detections(path), asked)
    scenes = next(iter(classes.values()))
    precision = coco.evaluate(scenes, coco.AREAS[""], MAX_DETS, True, MAX_DETS)[:, 0]
    curve = missrate.curve_of(scenes, CALTECH["all"], IOU)
    clipped = [crowdhuman.clipped(scene, True) for scene in scenes]
    return {"ap50": float(precision[0]), "mr": missrate.miss_rate(curve, missrate.REFERENCES),
            "ji": crowdhuman.jaccard(clipped, IOU, True)}
