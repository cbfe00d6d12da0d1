#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Greedy on a GPU over frames made to be slow, beside torchvision's nms on the same boxes: microseconds of a single call,
best of three, slowest first. Checks each answer against the CPU backend.

    meson compile -C build crowdnms
    tests/bench/bench_gpu_hard.py build/cuda/libcrowdnms.so [--candidates 4096 65536]

Needs numpy, PyTorch with torchvision, and a GPU (exit status 77 without). Exit status 1: an answer was wrong.
"""

import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gpu")]
from gpu.machine import clocks, modules_for_gpu  # noqa: E402
from gpu.timing import timed  # noqa: E402
from gpu.workloads import (batch, clustered, equal_boxes, equal_scores, far_scores, ladder, one_spot, pile,  # noqa: E402
                           shuffled, with_giant)

THRESHOLD = .5
PLACES = ((50, 51, 100), (50, 51, 300), (50, 51, 1000), (1, 1000, 1000), (10, 100, 500), (30, 60, 200), (100, 140, 40))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libcrowdnms.so")
    parser.add_argument("--candidates", type=int, nargs="+", default=[4096, 65536], metavar="N")
    return parser.parse_args()


def joined(*parts):
    return batch(np.concatenate([p.boxes for p in parts]), np.concatenate([p.scores for p in parts]))


def moved(candidates, down, worse=0):
    return batch(candidates.boxes + np.float32([0, down, 0, down]), candidates.scores - np.float32(worse))


def isolated(n, size):
    """Squares of a raster, apart from each other, that rank better than all of a ladder."""
    columns = int(np.ceil(np.sqrt(n)))
    x, y = np.arange(n) % columns * size * 2, np.arange(n) // columns * size * 2
    return batch(np.stack([x, y, x + size, y + size], 1), np.linspace(3, 2, n))


def within(n, smallest, largest, place, seed=3):
    random = np.random.default_rng(seed)
    side = np.exp(random.uniform(np.log(smallest), np.log(largest), n))
    x, y = random.uniform(0, place, n), random.uniform(0, place, n)
    return batch(np.stack([x, y, x + side, y + side], 1), random.uniform(0, 1, n))


def ladders(n):
    """Each suppressed by the k before it, alone and among others."""
    for k in (1, 2, 3, 5, 8, 16, 33, 63, 64, 65, 100, 300, 1000):
        yield f"ladder{k}", ladder(n, k, 0)
        yield f"ladder{k} shuffled", shuffled(ladder(n, k, 0), 1)
    for k in (2, 8, 100, 1000):
        half, part = ladder(n // 2, k, 0), ladder(n // 16, k, 0)
        yield f"isolated+ladder{k}", joined(isolated(n // 2, 10), half)
        yield f"tiny inside+ladder{k}", joined(isolated(n // 2, .5), half)
        yield f"two ladders{k} interleaved", joined(half, moved(half, 200, 1e-5))
        yield f"16 ladders{k}", joined(*(moved(part, 200 * i) for i in range(16)))


def frames(n):
    yield from ladders(n)
    yield "pile", pile(n, 1)
    yield "one_spot", one_spot(n, 1)
    for place in PLACES:
        yield "within {} {} {}".format(*place), within(n, *place)
    yield "giant", with_giant(n, 5)
    yield "far", far_scores(n, 6)
    yield "equal", equal_boxes(n, 10, 7)
    yield "equal scores", equal_scores(within(n, 10, 100, 500, seed=4))
    for faces in 7, 40:
        yield f"clustered {faces}", clustered(n, faces, 1920, 1080, 3)


def measure(torch, nms, crowd_nms, library, candidates):
    """Microseconds, those of torchvision, and whether the survivors are the CPU backend's."""
    host = [torch.from_numpy(a) for a in (candidates.boxes, candidates.scores)]
    device = [a.cuda() for a in host]
    params = library.params(overlap_threshold=THRESHOLD)
    expected, call = (crowd_nms.Call(library, params, *arrays) for arrays in (host, device))
    expected()
    call()
    want, got = (c.indices[0][:int(c.reports[0][4])].cpu() for c in (expected, call))
    return timed(torch, call, 3), timed(torch, lambda: nms(*device, THRESHOLD), 1), torch.equal(want, got)


def main():
    options = arguments()
    torch, torchvision, crowd_nms = modules_for_gpu("torch", "torchvision", "crowd_nms")
    library = crowd_nms.Library(options.library)
    wrong = 0
    print(f"{torch.cuda.get_device_name()}, {clocks()}")
    for n in options.candidates:
        rows = [(*measure(torch, torchvision.ops.nms, crowd_nms, library, made), name) for name, made in frames(n)]
        rows.sort(reverse=True)
        wrong += sum(not right for _, _, right, _ in rows)
        print(f"\n{n} candidates: {sum(ours > theirs for ours, theirs, _, _ in rows)} slower than torchvision")
        for ours, theirs, right, name in rows:
            print(f"{ours:10.1f} us, torchvision {theirs:10.1f}  {name}{'' if right else '  WRONG'}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
