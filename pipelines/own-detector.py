#!/usr/bin/python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A detector of one's own in Python: numpy arrays go in as candidates, and survivors come back as numpy arrays.

    own-detector.py [FRAMES [FILE.mp4]]     how many frames; where to put them, with the boxes drawn

It finds a bright ball: every window that is bright in the middle is a candidate, crowdnms leaves one of them.
Debian's python3 is named above, because gi comes as packages for it: python3-gi, python3-gst-1.0.
"""

import sys

import gi
import numpy as np

gi.require_versions({"Gst": "1.0", "GstBase": "1.0", "GstVideo": "1.0", "GstCrowd": "1.0"})
from gi.repository import GLib, Gst, GstBase, GstCrowd, GstVideo  # noqa: E402

Gst.init(None)
SIDE, STEP = 48, 4  # of windows, pixels


def to_bytes(array, dtype):
    return GLib.Bytes.new(np.ascontiguousarray(array, dtype).tobytes())


def detect(luma):
    """Boxes, float32 x1 y1 x2 y2, and scores from 0 to 1: the mean brightness of windows."""
    sums = np.pad(luma.astype(np.float64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    height, width = luma.shape
    y, x = (grid.ravel() for grid in np.mgrid[0:height - SIDE + 1:STEP, 0:width - SIDE + 1:STEP])
    total = sums[y + SIDE, x + SIDE] - sums[y, x + SIDE] - sums[y + SIDE, x] + sums[y, x]
    scores = total / (255 * SIDE * SIDE)
    bright = scores > 0.35
    return np.stack([x, y, x + SIDE, y + SIDE], 1)[bright], scores[bright]


class BallDetector(GstBase.BaseTransform):
    """Attaches candidates in place. A pad probe could not: the pad that it is on holds the buffer as well, and what has
    two holders is read-only. The base class of transform elements hands on a writable buffer, a copy where it must."""

    CAPS = Gst.Caps.from_string("video/x-raw,format={I420,NV12}")
    __gstmetadata__ = ("Ball detector", "Analyzer/Video", "Finds a bright ball", "gst-crowd authors")
    __gsttemplates__ = (Gst.PadTemplate.new("sink", Gst.PadDirection.SINK, Gst.PadPresence.ALWAYS, CAPS),
                        Gst.PadTemplate.new("src", Gst.PadDirection.SRC, Gst.PadPresence.ALWAYS, CAPS))

    def __init__(self):
        super().__init__()
        self.set_in_place(True)

    def do_set_caps(self, caps, _):
        self.info = GstVideo.VideoInfo.new_from_caps(caps)
        return True

    def do_transform_ip(self, buffer):
        width, height, stride = self.info.width, self.info.height, self.info.stride[0]
        luma = np.frombuffer(buffer.extract_dup(0, stride * height), np.uint8).reshape(height, stride)[:, :width]
        boxes, scores = detect(luma)
        # Without classes; an array of another length is a GLib.Error that says so.
        GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(
            buffer, to_bytes(boxes, "f4"), to_bytes(scores, "f4"), None, ["ball"], width, height)
        return Gst.FlowReturn.OK


def read_survivors(_, probe, counts):
    """Reading needs no writable buffer: a pad probe will do."""
    meta = GstCrowd.buffer_get_crowd_survivors_meta(probe.get_buffer())
    boxes, scores, _, members, candidates = meta.get_bytes()
    boxes = np.frombuffer(boxes.get_data(), "f4").reshape(-1, 4)
    for box, score, n in zip(boxes, np.frombuffer(scores.get_data(), "f4"), np.frombuffer(members.get_data(), "u4")):
        print(f"frame {counts[0]}: {meta.get_label(0)} at {' '.join(f'{x:g}' for x in box)}, score {score:.3f}, from {n}")
    counts += (1, candidates, len(boxes))
    return Gst.PadProbeReturn.OK


def main(frames="50", file=None):
    tail = f"x264enc ! h264parse ! mp4mux ! filesink location=\"{file}\"" if file else "fakesink"
    # crowdoverlay reads regions or boxes, Python reads boxes: meta-output=boxes writes nothing else.
    pipeline = Gst.parse_launch(
        f"videotestsrc pattern=ball num-buffers={int(frames)} ! video/x-raw,format=I420,width=320,height=240 ! "
        "identity name=before  crowdnms name=nms iou-threshold=0.1 meta-output=boxes ! "
        f"crowdoverlay draw-summary=true ! queue ! {tail}")
    detector, nms, counts = BallDetector(), pipeline.get_by_name("nms"), np.zeros(3, int)
    pipeline.add(detector)
    if not (pipeline.get_by_name("before").link(detector) and detector.link(nms)):
        sys.exit("own-detector: the detector cannot be linked")
    nms.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, read_survivors, counts)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f"own-detector: {message.parse_error()[0].message}")
    print("done: {} frames, {} candidates, {} survivors".format(*counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
