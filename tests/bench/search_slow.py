#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Looks for frames that take long: mixtures of shapes, drawn by lot (gpu/mixtures.py); the slowest ones are changed a
little, again and again. Prints the slowest with their times, and writes them as recipes that --replay times anew.

    tests/bench/search_slow.py build/cuda/libcrowdnms.so --minutes 10 --seed 1 --out slow.json
    tests/bench/search_slow.py build/cuda/libcrowdnms.so --backend cuda --candidates 65536 --minutes 10
    tests/bench/search_slow.py build/cuda/libcrowdnms.so --backend cuda --replay slow.json
    tests/bench/search_slow.py build/cuda/libcrowdnms.so --steps build/tests/bench/count_steps --minutes 10

Microseconds of one call, the least of three, and of six for the slowest: of the processor's time on the CPU, by events
on the GPU, where each answer is checked against the CPU backend, and torchvision's nms is timed on the slowest. With
--steps what is counted is steps of the CPU backend, for each candidate: the same on every machine. Exit status 1: an
answer was wrong, or a call took more than --bound. 77: no numpy, or no PyTorch or GPU for --backend cuda.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gpu")]
try:
    import numpy as np
    from gpu import mixtures
    from gpu.reference import HostCall
    from gpu.timing import timed
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import crowd_nms  # noqa: E402
from gpu.machine import clocks, modules_for_gpu  # noqa: E402

METHODS = {"greedy": crowd_nms.GREEDY, "map-reduce": crowd_nms.MAP_REDUCE}
TIMES = 3
OF_A_FAMILY = 4


class Steps:
    """What the CPU backend looks at, counted by another program (count_steps.cpp)."""

    unit = "steps a candidate"

    def __init__(self, program):
        self.program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, params, boxes, scores, classes):
        n = len(scores)
        if classes is None:
            classes = np.zeros(n, np.int32)
        self.program.stdin.write(struct.pack("=Id", n, params.overlap_threshold))
        self.program.stdin.write(boxes.tobytes() + scores.tobytes() + classes.tobytes())
        self.program.stdin.flush()
        counts = self.program.stdout.readline().split()
        if not counts:
            sys.exit(f"{self.program.args} ended: {self.program.wait()}")
        return (), int(counts[list(METHODS.values()).index(params.method)]) / n


class Host:
    """Calls of the CPU backend."""

    unit = "us"

    def __init__(self, library):
        self.library = library

    def run(self, params, boxes, scores, classes, times=TIMES):
        """Survivors, and microseconds."""
        call = HostCall(self.library, params, boxes, scores, classes)
        least = float("inf")
        for _ in range(times):
            begin = time.thread_time()
            call()
            least = min(least, (time.thread_time() - begin) * 1e6)
        return call.found()[0], least


class Device:
    """Calls of the CUDA backend, each checked against the other."""

    unit = "us"

    def __init__(self, library):
        self.torch, = modules_for_gpu("torch")
        self.library, self.host = library, Host(library)

    def run(self, params, boxes, scores, classes):
        arrays = [None if a is None else self.torch.from_numpy(a).cuda() for a in (boxes, scores, classes)]
        call = crowd_nms.Call(self.library, params, *arrays)
        least = timed(self.torch, call, TIMES)
        survivors = call.indices[0][:int(call.reports[0][4])].cpu().numpy()
        expected, _ = self.host.run(params, boxes, scores, classes, times=1)
        return (survivors if np.array_equal(survivors, expected) else None), least

    def torchvision(self, boxes, scores, classes, threshold):
        """Microseconds of its nms; None with classes, which it knows by moved boxes alone, or where it is missing."""
        if classes is not None:
            return None
        try:
            from torchvision.ops import nms
        except ImportError:
            return None
        arrays = [self.torch.from_numpy(a).cuda() for a in (boxes, scores)]
        return timed(self.torch, lambda: nms(*arrays, threshold), TIMES)


def slowest_first(rows):
    return sorted(rows, key=lambda row: -row[0])


class Slowest:
    """The slowest recipes found, and no more than a few that are variations of each other."""

    def __init__(self, room):
        self.room, self.found = room, []

    def add(self, cost, recipe):
        self.found = slowest_first([*self.found, (cost, recipe)])
        alike = [row for row in self.found if mixtures.family(row[1]) == mixtures.family(recipe)]
        if len(alike) > OF_A_FAMILY:
            self.found.remove(alike[-1])
        del self.found[self.room:]


class Search:
    def __init__(self, options, library, backend):
        self.options, self.library, self.backend = options, library, backend
        self.wrong = self.frames = 0

    def cost(self, recipe):
        """In the backend's unit; says so where the answer is wrong."""
        params = self.library.params(method=METHODS[self.options.method], overlap_threshold=recipe["threshold"])
        survivors, cost = self.backend.run(params, *mixtures.make(recipe, self.options.candidates))
        self.frames += 1
        if survivors is None:
            self.wrong += 1
            print(f"WRONG: {json.dumps(recipe)}", flush=True)
        return cost

    def look(self):
        random = np.random.default_rng(self.options.seed)
        slowest = Slowest(self.options.keep)
        end = time.monotonic() + 60 * self.options.minutes
        while time.monotonic() < end and (not self.options.frames or self.frames < self.options.frames):
            recipe = mixtures.draw(random)
            if slowest.found and random.random() < .7:
                recipe = mixtures.mutated(slowest.found[random.integers(len(slowest.found))][1], random)
            slowest.add(self.cost(recipe), recipe)
        return self.timed_again(slowest.found)

    def timed_again(self, found):
        """Each by its least time: on a busy machine any frame looks slow once."""
        frames = self.frames
        rows = slowest_first((min(cost, self.cost(recipe)), recipe) for cost, recipe in found)
        self.frames = frames
        return rows

    def replay(self, file):
        recorded = json.loads(file.read_text())
        self.options.candidates, self.options.method = recorded["candidates"], recorded["method"]
        return slowest_first((self.cost(row["recipe"]), row["recipe"]) for row in recorded["slowest"])

    def show(self, found):
        print(f"{self.frames} frames of {self.options.candidates}, {self.options.method}, {self.wrong} wrong answers")
        for cost, recipe in found:
            beside = None
            if isinstance(self.backend, Device):
                beside = self.backend.torchvision(*mixtures.make(recipe, self.options.candidates), recipe["threshold"])
            text = "" if beside is None else f" torchvision {beside:10.1f}"
            print(f"{cost:10.1f} {self.backend.unit}{text}  {mixtures.describe(recipe)}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libcrowdnms.so")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--steps", metavar="PROGRAM", help="count_steps, to count steps instead")
    parser.add_argument("--method", choices=METHODS, default="greedy")
    parser.add_argument("--candidates", type=int, default=16384, metavar="N", help="of a frame, 16384 unless given")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to look, 1 unless given")
    parser.add_argument("--frames", type=int, help="how many frames to look at, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=int, default=20, metavar="N", help="of the slowest, 20 unless given")
    parser.add_argument("--bound", type=float, help="exit status 1 if a call takes more")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="where the slowest are written")
    parser.add_argument("--replay", type=pathlib.Path, metavar="FILE", help="look at these instead")
    return parser.parse_args()


def main():
    options = arguments()
    library = crowd_nms.Library(options.library)
    backend = Steps(options.steps) if options.steps else Device(library) if options.backend == "cuda" else Host(library)
    search = Search(options, library, backend)
    found = search.replay(options.replay) if options.replay else search.look()
    if options.backend == "cuda":
        print(clocks())
    search.show(found)
    if options.out:
        rows = [{"cost": round(cost, 1), "recipe": recipe} for cost, recipe in found]
        options.out.write_text(json.dumps({"candidates": options.candidates, "method": options.method,
                                           "unit": backend.unit, "seed": options.seed, "frames": search.frames,
                                           "slowest": rows}, indent=1) + "\n")
    slow = options.bound is not None and any(cost > options.bound for cost, _ in found)
    if slow:
        print(f"a call took more than {options.bound:g} {backend.unit}")
    return 1 if search.wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main())
