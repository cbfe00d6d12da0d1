#!/usr/bin/python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Presets of crowdnms beside the projects that they are named after, where this python3 has these.

Without torchvision, or without PyGObject, GStreamer's bindings or numpy, the exit status is 77, a skip.
"""

import sys
import unittest

try:
    import gi
    import numpy as np
    import torch
    import torchvision

    gi.require_versions({"Gst": "1.0", "GstCrowd": "1.0"})
    from gi.repository import GLib, Gst, GstCrowd

    Gst.init(None)
    Gst.Fraction(1, 2)  # of python3-gst-1.0 alone
except (ImportError, ValueError, TypeError, AttributeError) as missing:
    print(f"test_presets: {missing}", file=sys.stderr)
    sys.exit(77)
try:
    from ultralytics.utils.nms import non_max_suppression
except ImportError:
    non_max_suppression = None

SIZES = (1, 10, 100, 1000, 3000)
SEEDS = range(1, 9)


def crowd(n, seed):
    """Boxes, scores, classes. Corners are quarters of a pixel, so that nothing but a ratio is rounded; every tenth box
    is some tenths of its object. Scores are multiples of 1/40, some negative: many are equal, many on a threshold."""
    rng = np.random.default_rng(seed)
    objects = (n + 9) // 10
    boxes = np.empty((objects, 10, 4))
    boxes[..., :2] = rng.integers(0, [2200, 1600], (objects, 1, 2)) / 4
    boxes[..., 2:] = 10 + rng.integers(0, 320, (objects, 1, 2)) / 4 // 10 * 10
    boxes[:, 1:9, :2] += rng.integers(-16, 17, (objects, 8, 2)) / 4
    boxes[:, 9, 2] *= rng.integers(1, 10, objects) / 10
    boxes[..., 2:] += boxes[..., :2]
    boxes = rng.permutation(boxes.reshape(-1, 4))[:n].astype("f4")
    assert (boxes * 4 % 1 == 0).all()
    return boxes, ((rng.integers(0, 45, n) - 4) / 40).astype("f4"), rng.integers(0, 3, n).astype("i4")


def survivors(preset, frames):
    """What crowdnms leaves of each, in the order in which it leaves: an array of x1, y1, x2, y2, score, class."""
    pipeline = Gst.parse_launch(
        "appsrc name=src format=time caps=video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1 ! "
        f"crowdnms @preset={preset} meta-output=boxes ! appsink name=sink sync=false")
    source, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    for number, arrays in enumerate(frames):
        buffer = Gst.Buffer.new_allocate(None, 640 * 480, None)
        buffer.pts = number * Gst.SECOND
        GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(
            buffer, *[GLib.Bytes.new(array.tobytes()) for array in arrays], None, 640, 480)
        source.emit("push-buffer", buffer)
        sample = sink.emit("try-pull-sample", 60 * Gst.SECOND)
        boxes, scores, classes, _, _ = GstCrowd.buffer_get_crowd_survivors_meta(sample.get_buffer()).get_bytes()
        yield np.column_stack([np.frombuffer(boxes.get_data(), "f4").reshape(-1, 4),
                               np.frombuffer(scores.get_data(), "f4"), np.frombuffer(classes.get_data(), "i4")])
    pipeline.set_state(Gst.State.NULL)


def batched_nms(boxes, scores, classes):
    return torchvision.ops.batched_nms(torch.from_numpy(boxes), torch.from_numpy(scores), torch.from_numpy(classes),
                                       0.5).numpy()


def yolo_predict(boxes, scores, classes):
    prediction = np.zeros((1, 4 + 3, len(boxes)), "f4")
    prediction[0, :2] = ((boxes[:, :2] + boxes[:, 2:]) / 2).T
    prediction[0, 2:4] = (boxes[:, 2:] - boxes[:, :2]).T
    prediction[0, 4 + classes, np.arange(len(boxes))] = scores
    _, kept = non_max_suppression(torch.from_numpy(prediction), conf_thres=0.25, iou_thres=0.7, max_det=300,
                                  return_idxs=True)
    return kept[0].view(-1).long().numpy()


class Presets(unittest.TestCase):
    def compare(self, preset, rule):
        inputs = [(n, seed) for n in SIZES for seed in SEEDS]
        frames = [crowd(*arguments) for arguments in inputs]
        counts = []
        for (n, seed), frame, found in zip(inputs, frames, survivors(preset, frames)):
            kept = np.sort(rule(*frame))
            # Sorting by score may leave equal ones in any order: in that of the candidates here.
            kept = kept[np.argsort(-frame[1][kept], kind="stable")]
            np.testing.assert_array_equal(found, np.column_stack(frame)[kept], f"{preset} n={n} seed={seed}")
            counts.append(len(kept))
        print(f"{preset}: {len(counts)} frames, {sum(counts)} survivors, the same", file=sys.stderr)
        self.assertEqual(len(counts), len(inputs))

    def test_torchvision(self):
        self.compare("torchvision", batched_nms)

    @unittest.skipUnless(non_max_suppression, "no ultralytics here")
    def test_ultralytics(self):
        self.compare("ultralytics", yolo_predict)


if __name__ == "__main__":
    unittest.main()
