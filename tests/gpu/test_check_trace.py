#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check_trace.py on traces that are as they should be but for one thing. Needs no GPU."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_trace.py"
DIRECTIONS = ("host_to_device", "device_to_host", "device_to_device", "host_to_host", "peer", "unknown")


def counts(**given):
    kinds = ("launches", "graph_launches", "memsets", "synchronising", "queries", "frees", "streams", "events",
             "graphs")
    return {**dict.fromkeys(kinds, 0), "allocations": {"calls": 0, "bytes": 0},
            "copies": {d: {"calls": 0, "bytes": 0} for d in DIRECTIONS}, "functions": {}, **given}


def trace():
    ours = counts(launches=700, graph_launches=200, functions={"cuLaunchKernel": {"libgstcrowd.so+0x10": 700}})
    decoder = counts(synchronising=100)
    decoder["copies"]["host_to_device"] = {"calls": 100, "bytes": 500_000}
    decoder["copies"]["device_to_device"] = {"calls": 200, "bytes": 66_355_200}
    total = counts(launches=700, graph_launches=200, synchronising=100)
    total["copies"] = copy.deepcopy(decoder["copies"])
    steady = {"frames": 100, "total": total, "callers": {"ours": ours, "nvcodec": decoder},
              "kernels": {"hog": 600, "paint": 100}}
    return {"windows": {"start": {}, "steady": steady, "stop": {}}}


def copy_by(written, name, direction, size=4):
    """One copy more by this caller."""
    steady = written["windows"]["steady"]
    for counted in (steady["callers"].setdefault(name, counts()), steady["total"]):
        counted["copies"][direction]["calls"] += 1
        counted["copies"][direction]["bytes"] += size


class CheckTrace(unittest.TestCase):
    def run_on(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(text)
            return subprocess.run([sys.executable, CHECK, path, *options], capture_output=True, text=True)

    def failures(self, written, *options):
        """Claims that fail; the exit status has to agree."""
        result = self.run_on(json.dumps(written), *options)
        self.assertEqual(result.stderr, "")
        failed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
        self.assertEqual(result.returncode, 1 if failed else 0)
        return failed

    def test_good_trace_holds_and_has_a_table(self):
        result = self.run_on(json.dumps(trace()))
        self.assertEqual(result.returncode, 0, result)
        lines = result.stdout.splitlines()
        self.assertIn("100 frames after the start", lines)
        ours, = (line.split() for line in lines if line.startswith("ours "))
        self.assertEqual(ours[:3], ["ours", "9", "0"])
        self.assertIn("       6  hog", lines)
        self.assertIn("       7  ours: cuLaunchKernel from libgstcrowd.so+0x10", lines)

    def test_copies_fail(self):
        for name, direction, claims in [
            ("ours", "host_to_device", ["our elements copy nothing host to device", "only the decoder"]),
            ("ours", "device_to_host", ["our elements copy nothing device to host", "nothing copies device to host"]),
            ("ours", "unknown", ["our elements copy nothing to or from memory of an unknown kind"]),
            ("other", "host_to_device", ["only the decoder"]),
            ("nvcodec", "device_to_host", ["nothing copies device to host"]),
            ("coreelements", "device_to_host", ["nothing copies device to host"]),
        ]:
            with self.subTest(f"{name}, {direction}"):
                written = trace()
                copy_by(written, name, direction)
                failed = self.failures(written)
                self.assertEqual(len(failed), len(claims), failed)
                for claim, line in zip(claims, failed):
                    self.assertIn(claim, line)

    def test_copies_on_the_device_hold(self):
        written = trace()
        copy_by(written, "ours", "device_to_device")
        self.assertEqual(self.failures(written), [])

    def test_pictures_do_not_pass_as_film(self):
        written = trace()
        copy_by(written, "nvcodec", "host_to_device", 100 * 663_552)
        self.assertIn("no picture: 668552 bytes", *self.failures(written))
        self.assertEqual(self.failures(written, "--stream-bytes", "700000"), [])
        self.assertIn("only the decoder", *self.failures(trace(), "--decoder", "libav"))

    def test_launches_of_ours_are_missed(self):
        for what, claim in [("launches", "launch kernels"), ("graph_launches", "launch graphs")]:
            with self.subTest(what):
                written = trace()
                written["windows"]["steady"]["callers"]["ours"][what] = 0
                self.assertIn(f"our elements {claim}: 0 launches", *self.failures(written))

    def test_waits_and_allocations_of_ours_fail_and_of_others_hold(self):
        for what, value, claim in [("synchronising", 1, "do not wait"), ("events", 1, "no streams and events"),
                                   ("streams", 2, "no streams and events"), ("graphs", 1, "record no graphs"),
                                   ("allocations", {"calls": 1, "bytes": 9}, "allocate nothing")]:
            for name, expected in [("ours", 1), ("nvcodec", 0)]:
                with self.subTest(f"{what} of {name}"):
                    written = trace()
                    written["windows"]["steady"]["callers"][name][what] = value
                    failed = self.failures(written)
                    self.assertEqual(len(failed), expected, failed)
                    self.assertTrue(all(claim in line for line in failed))

    def test_nothing_seen_fails(self):
        written = trace()
        written["windows"]["steady"] = {"frames": 0, "total": counts(), "callers": {}, "kernels": {}}
        self.assertEqual(len(self.failures(written)), 2)

    def test_no_trace_fails(self):
        for text in ("", "{}", "[1]"):
            result = self.run_on(text)
            self.assertEqual(result.returncode, 1)
            self.assertIn("no trace in", result.stderr)
            self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
