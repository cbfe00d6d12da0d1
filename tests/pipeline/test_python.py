#!/usr/bin/python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The typelib from Python, and pipelines/own-detector.py: test_python.py EXAMPLE

Without PyGObject, GStreamer's bindings or numpy the exit status is 77, a skip; with CROWD_CI=1 it is a failure.
"""

import importlib.util
import os
import re
import subprocess
import sys
import unittest

try:
    import gi
    import numpy as np

    gi.require_versions({"Gst": "1.0", "GstBase": "1.0", "GstVideo": "1.0", "GstCrowd": "1.0"})
    from gi.repository import GLib, Gst, GstCrowd, GstVideo

    Gst.init(None)
    Gst.Fraction(1, 2)  # of python3-gst-1.0 alone
except (ImportError, ValueError, TypeError, AttributeError) as missing:
    print(f"test_python: {missing}", file=sys.stderr)
    sys.exit(1 if os.environ.get("CROWD_CI") == "1" else 77)

EXAMPLE = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("own_detector", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
to_bytes = example.to_bytes

NONE = GLib.Bytes.new(b"")
BOXES = [[10, 10, 50, 90], [12, 10, 52, 90], [np.nan, 0, 9, 9], [200, 100, 230, 160], [5, 5, 5, 8]]
SCORES = [0.5, 0.75, 1, 0.25, 1]


def attach(buffer, boxes=BOXES, scores=SCORES, classes=None, labels=None, size=(320, 240)):
    return GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(
        buffer, to_bytes(boxes, "f4"), to_bytes(scores, "f4"), classes and to_bytes(classes, "i4"), labels, *size)


class Detector(example.BallDetector):
    """One that calls `work(buffer)`."""

    __gstmetadata__ = ("Test detector", "Analyzer/Video", "For tests", "gst-crowd authors")
    work = None

    def do_transform_ip(self, buffer):
        self.work(buffer)
        return Gst.FlowReturn.OK


def run(work, look, held=None):
    """What `look(buffer)` gives behind crowdnms for each of three frames, and the stats of crowdnms. `held` gets every
    buffer that the detector gets, and keeps it."""
    pipeline = Gst.parse_launch("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=320,height=240 ! "
                                "identity name=before  crowdnms name=nms meta-output=all ! fakesink name=sink")
    detector, seen = Detector(), []
    detector.work = work
    pipeline.add(detector)
    before, nms = pipeline.get_by_name("before"), pipeline.get_by_name("nms")
    assert before.link(detector) and detector.link(nms)

    def hold(_, info):
        held.append(Gst.Sample.new(info.get_buffer(), None, None, None))
        return Gst.PadProbeReturn.OK

    def probe(_, info):
        seen.append(look(info.get_buffer()))
        return Gst.PadProbeReturn.OK

    if held is not None:
        before.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, hold)
    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    stats = nms.get_property("stats")
    pipeline.set_state(Gst.State.NULL)
    assert message and message.type == Gst.MessageType.EOS, message and message.parse_error()
    return seen, stats


def survivors(buffer):
    boxes, scores, classes, members, candidates = GstCrowd.buffer_get_crowd_survivors_meta(buffer).get_bytes()
    return (np.frombuffer(boxes.get_data(), "f4").reshape(-1, 4).tolist(),
            np.frombuffer(scores.get_data(), "f4").tolist(), np.frombuffer(classes.get_data(), "i4").tolist(),
            np.frombuffer(members.get_data(), "u4").tolist(), candidates)


class Bytes(unittest.TestCase):
    def test_arrays_come_back_bit_for_bit(self):
        rng = np.random.default_rng(1)
        for n in (0, 1, 5, 4096):
            # Any bits: NaN of all kinds, infinities, -0 and denormal numbers among them.
            bits = rng.integers(0, 2**32, (n, 6), np.uint32)
            boxes, scores, classes = bits[:, :4].copy(), bits[:, 4].copy(), bits[:, 5].copy()
            buffer = Gst.Buffer.new()
            GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(
                buffer, to_bytes(boxes, "u4"), to_bytes(scores, "u4"), to_bytes(classes, "u4"), None, 0, 0)
            read = GstCrowd.buffer_get_crowd_boxes_meta(buffer.copy()).get_bytes()
            for before, after in zip((boxes, scores, classes), read):
                self.assertEqual(before.tobytes(), after.get_data())
            self.assertEqual(read[3:], (None, n))

    def test_what_rules_read_comes_back_bit_for_bit(self):
        rng = np.random.default_rng(2)
        for n in (1, 5, 1000):
            bits = [rng.integers(0, 2**32, (n, width), np.uint32) for width in (1, 1, 4, 7, 1)]
            buffer = Gst.Buffer.new()
            meta = attach(buffer, np.zeros((n, 4)), np.zeros(n))
            self.assertEqual(meta.get_array_bytes(), (None, None, None, None, None))
            self.assertTrue(meta.set_array_bytes(*(to_bytes(array, "u4") for array in bits)))
            self.assertEqual((meta.arrays, meta.feature_length), (31, 7))
            read = GstCrowd.buffer_get_crowd_boxes_meta(buffer.copy()).get_array_bytes()
            for before, after in zip(bits, read):
                self.assertEqual(before.tobytes(), after.get_data())
            self.assertTrue(meta.set_array_bytes(None, to_bytes(bits[1], "u4"), None, None))
            self.assertEqual(meta.arrays, GstCrowd.BoxesArrays.PROPOSALS)
            with self.assertRaisesRegex(GLib.Error, "bytes of densities"):
                meta.set_array_bytes(NONE, None, None, None)

    def test_the_meta_can_be_described(self):
        buffer = Gst.Buffer.new()
        meta = attach(buffer, labels=["head", "Körper"], classes=[0, 1, 1, 0, 0])
        meta.placement.xx, meta.confidence_slope = 2, 1.5
        meta = GstCrowd.buffer_get_crowd_boxes_meta(buffer)
        self.assertEqual((meta.placement.xx, meta.confidence_slope, meta.frame_width), (2, 1.5, 320))
        self.assertEqual([meta.get_label(i) for i in (-1, 0, 1, 2)], [None, "head", "Körper", None])
        known, placement = meta.get_placement(buffer, 320, 240, GstCrowd.BoxesBorders.UNKNOWN)
        self.assertEqual((known, placement.xx, placement.yy), (True, 2, 1))
        self.assertTrue(GstCrowd.buffer_remove_crowd_boxes_meta(buffer, meta))
        self.assertFalse(GstCrowd.boxes_lost(buffer, GstCrowd.BoxesKind.CANDIDATES))

    def assert_refused(self, code, words, buffer, *arguments):
        with self.assertRaises(GLib.Error) as raised:
            GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(buffer, *arguments, None, 320, 240)
        self.assertTrue(raised.exception.matches(GstCrowd.error_quark(), code), raised.exception)
        self.assertIn(words, raised.exception.message)
        self.assertIsNone(GstCrowd.buffer_get_crowd_boxes_meta(buffer))

    def test_wrong_lengths_are_errors(self):
        buffer, two, three = Gst.Buffer.new(), to_bytes(BOXES[:2], "f4"), to_bytes(SCORES[:3], "f4")
        refused = lambda *rest: self.assert_refused(GstCrowd.Error.LENGTH, *rest)
        refused("2 boxes need 8 bytes of scores, a float32 of each, but there are 12", buffer, two, three, None)
        refused("2 boxes need 8 bytes of scores", buffer, two, NONE, None)
        refused("2 boxes need 8 bytes of scores", buffer, two, to_bytes([1, 2], "f8"), None)
        refused("bytes of classes, an int32", buffer, two, to_bytes([1, 2], "f4"), NONE)
        refused("12 bytes are no whole number of boxes", buffer, three, three, None)
        # What GLib makes of an array of floats is a byte of each.
        refused("3 bytes are no whole number", buffer, GLib.Bytes.new(np.ones(3, "f4")), three, None)

    def test_a_buffer_with_another_holder_is_an_error(self):
        buffer = Gst.Buffer.new()
        sample = Gst.Sample.new(buffer, None, None, None)
        self.assert_refused(GstCrowd.Error.NOT_WRITABLE, "not writable", buffer, NONE, NONE, None)
        del sample
        self.assertIsNotNone(attach(buffer))

    def test_wrong_types_are_errors(self):
        buffer = Gst.Buffer.new()
        for wrong in ([None, NONE, NONE, None, None, 1, 1], [buffer, None, NONE, None, None, 1, 1],
                      [buffer, NONE, None, None, None, 1, 1], [buffer, np.ones(4, "f4"), NONE, None, None, 1, 1],
                      [buffer, b"", NONE, None, None, 1, 1], [buffer, NONE, NONE, None, [1], 1, 1],
                      [buffer, NONE, NONE, None, None, None, 1]):
            with self.assertRaises(TypeError, msg=wrong):
                GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(*wrong)
        with self.assertRaises(OverflowError):
            GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(buffer, NONE, NONE, None, None, -1, 1)
        self.assertIsNone(GstCrowd.buffer_get_crowd_boxes_meta(buffer))


class Pipelines(unittest.TestCase):
    def test_candidates_go_in_and_survivors_come_out(self):
        seen, stats = run(lambda buffer: attach(buffer, classes=[3, 3, 3, 2, 3]), survivors)
        self.assertEqual(seen, [([BOXES[1], BOXES[3]], [0.75, 0.25], [3, 2], [2, 1], 5)] * 3)
        self.assertEqual([stats.get_value(name) for name in ("candidates", "survivors", "invalid", "failures")],
                         [15, 6, 6, 0])

    def test_survivors_are_regions_of_the_standard_typelib_as_well(self):
        def regions(buffer):
            get, found = GstVideo.buffer_get_video_region_of_interest_meta_id, []
            first = 0 if get(buffer, 0) else 1  # of objects of GstAnalytics, else what crowdnms counts from
            while region := get(buffer, first + len(found)):
                found.append((GLib.quark_to_string(region.roi_type), region.x, region.y, region.w, region.h,
                              region.get_param("nms").get_value("members")))
            return found

        seen, _ = run(lambda buffer: attach(buffer, labels=["ball"]), regions)
        self.assertEqual(seen, [[("ball", 12, 10, 40, 80, 2), ("ball", 200, 100, 30, 60, 1)]] * 3)

    def test_a_frame_of_no_candidates_has_no_survivors(self):
        seen, _ = run(lambda buffer: attach(buffer, np.empty((0, 4)), []), survivors)
        self.assertEqual(seen, [([], [], [], [], 0)] * 3)

    def test_a_buffer_that_others_hold_is_copied_before_the_detector(self):
        held = []
        seen, _ = run(attach, survivors, held=held)
        self.assertEqual([len(boxes) for boxes, *_ in seen], [2, 2, 2])
        self.assertEqual([GstCrowd.buffer_get_crowd_boxes_meta(sample.get_buffer()) for sample in held], [None] * 3)

    def test_a_detector_that_fails_does_not_stop_the_video(self):
        raised, hook = [], sys.excepthook
        sys.excepthook = lambda kind, error, trace: raised.append(error)
        try:
            seen, stats = run(lambda buffer: attach(buffer, scores=[1]), GstCrowd.buffer_get_crowd_survivors_meta)
        finally:
            sys.excepthook = hook
        self.assertEqual(seen, [None] * 3)
        self.assertEqual([error.matches(GstCrowd.error_quark(), GstCrowd.Error.LENGTH) for error in raised], [True] * 3)
        self.assertEqual(stats.get_value("candidates"), 0)


class Example(unittest.TestCase):
    def test_finds_the_ball_where_it_is(self):
        y, x = np.mgrid[0:240, 0:320]
        for centre in ((60, 70), (251, 133)):
            ball = np.where(np.hypot(x - centre[0], y - centre[1]) < 20, 255, 0).astype(np.uint8)
            boxes, scores = example.detect(ball)
            self.assertGreater(len(boxes), 10)
            best = boxes[scores.argmax()]
            np.testing.assert_allclose([(best[0] + best[2]) / 2, (best[1] + best[3]) / 2], centre, atol=example.STEP)
        self.assertEqual(len(example.detect(np.zeros((240, 320), np.uint8))[0]), 0)

    def test_runs(self):
        result = subprocess.run([sys.executable, EXAMPLE, "8"], capture_output=True, text=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        *frames, last = result.stdout.splitlines()
        self.assertEqual([re.sub(r" at .*", "", line) for line in frames], [f"frame {i}: ball" for i in range(8)])
        self.assertGreater(len({line.split(" at ")[1].split(",")[0] for line in frames}), 4)
        self.assertRegex(last, r"^done: 8 frames, [0-9]{3,} candidates, 8 survivors$")


if __name__ == "__main__":
    unittest.main()
