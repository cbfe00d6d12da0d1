#!/usr/bin/python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Survivors in Python, read twice: as GStreamer's own analytics metadata, with their ids, and as gst-crowd's boxes.

    read-objects.py [FRAMES]

For GStreamer 1.24 and later (python3-gst-1.0, gir1.2-gst-plugins-bad-1.0). Where there is an ioutracker, from 1.28 on,
each object also has the id of its track, which it keeps from frame to frame.
"""

import sys

import gi
import numpy as np

gi.require_versions({"Gst": "1.0", "GstAnalytics": "1.0", "GstCrowd": "1.0"})
from gi.repository import GLib, Gst, GstAnalytics, GstCrowd  # noqa: E402

Gst.init(None)


def objects_of(buffer):
    """(id, label, (x, y, width, height), confidence, id of the track or None) of each object, as GStreamer has them."""
    meta = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    objects = []
    for mtd in meta or ():
        if not isinstance(mtd, GstAnalytics.ODMtd):
            continue
        _, *box, confidence = mtd.get_location()
        track = next((t.get_info()[1] for t in mtd.iter_direct_related(GstAnalytics.RelTypes.ANY,
                                                                       GstAnalytics.TrackingMtd)), None)
        objects.append((mtd.id, GLib.quark_to_string(mtd.get_obj_type()), tuple(box), confidence, track))
    return objects


def survivors_of(buffer):
    """Boxes x1 y1 x2 y2, not rounded, and how many candidates each represents, as crowdnms found them."""
    boxes, _, _, members, _ = GstCrowd.buffer_get_crowd_survivors_meta(buffer).get_bytes()
    return np.frombuffer(boxes.get_data(), "f4").reshape(-1, 4), np.frombuffer(members.get_data(), "u4")


def print_frame(_, probe, counts):
    buffer = probe.get_buffer()
    objects, (boxes, members) = objects_of(buffer), survivors_of(buffer)
    # Both are in the order of rank.
    for (number, label, box, confidence, track), exact, n in zip(objects, boxes, members, strict=True):
        print(f"frame {counts[0]}: object {number}, {label} at {box}, exactly {' '.join(f'{x:.2f}' for x in exact)}, "
              f"confidence {confidence:.2f}, from {n} candidates" + ("" if track is None else f", track {track}"))
    counts += (1, len(objects))
    return Gst.PadProbeReturn.OK


def main(frames="10"):
    track = "ioutracker" if Gst.ElementFactory.find("ioutracker") else "identity"
    pipeline = Gst.parse_launch(
        f"videotestsrc num-buffers={int(frames)} ! video/x-raw,format=I420,width=640,height=480 ! "
        f"crowdinject candidates=24 ! crowdnms meta-output=all ! {track} ! fakesink name=sink")
    counts = np.zeros(2, int)
    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, print_frame, counts)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f"read-objects: {message.parse_error()[0].message}")
    print("done: {} frames, {} survivors".format(*counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
