# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the benchmark runs on: seeded candidates in numpy, and the catalogue of workloads."""

import dataclasses
import re
from typing import Callable, Optional

import numpy as np

OSCARS = dict(faces=147, width=4646, height=1800)
CROWD_RUN = dict(faces=60, width=1920, height=1080)
MOSAIC = dict(faces=240, width=3840, height=2160)
UHD = dict(width=3840, height=2160)
PAPER_D_MAX = 4096  # what the paper's experiments allocate
OTHER_SEEDS = 100_000  # between the seeds of the sets that calls rotate over


@dataclasses.dataclass
class Batch:
    """Frames of up to `capacity` candidates; frame f begins at f * capacity of the arrays, which are float32."""
    boxes: np.ndarray  # [frames * capacity, 4]: x1 y1 x2 y2
    scores: np.ndarray
    counts: Optional[np.ndarray] = None  # None: all frames are full
    frames: int = 1

    @property
    def capacity(self):
        return len(self.scores) // self.frames

    def frame(self, f):
        """Boxes and scores of one frame."""
        first = f * self.capacity
        count = self.capacity if self.counts is None else int(self.counts[f])
        return self.boxes[first:first + count], self.scores[first:first + count]


@dataclasses.dataclass
class Workload:
    """Calls rotate over `sets` batches of the same kind, made by make(0), make(1), ..."""
    group: str
    name: str
    n: int  # candidates of a call
    make: Callable[[int], Batch]
    sets: int = 4
    frames: int = 1


def batch(boxes, scores):
    return Batch(np.ascontiguousarray(boxes, np.float32), np.ascontiguousarray(scores, np.float32))


def clustered(n, faces, width, height, seed, shown=None):
    """Windows jittered by 12 % around faces of 24 to 90 pixels; the nearer to the face, the better the score. In random
    order, the hardest for culling. shown: only the windows of the first so many faces."""
    random = np.random.default_rng(seed)
    centre_x, centre_y = random.uniform(40, width - 40, faces), random.uniform(40, height - 40, faces)
    face_size = random.uniform(24, 90, faces)
    face = random.integers(0, faces, n)
    centre_x, centre_y, size = centre_x[face], centre_y[face], face_size[face]
    side = size * np.exp(random.normal(0, .12, n))
    x = centre_x + random.normal(0, .12, n) * size - side / 2
    y = centre_y + random.normal(0, .12, n) * size - side / 2
    away = (x + side / 2 - centre_x) ** 2 + (y + side / 2 - centre_y) ** 2
    score = np.exp(-away / (2 * (.25 * size) ** 2)) * random.uniform(.7, 1, n)
    seen = slice(None) if shown is None else face < shown
    return batch(np.stack([x, y, x + side, y + side], 1)[seen], score[seen])


def uniform(n, width, height, seed):
    random = np.random.default_rng(seed)
    side = random.uniform(16, 96, n)
    x, y = random.uniform(0, width - 96, n), random.uniform(0, height - 96, n)
    return batch(np.stack([x, y, x + side, y + side * random.uniform(.7, 1.4, n)], 1), random.uniform(0, 1, n))


def raster(candidates):
    """The same candidates in the order of a sliding window: by level of scale, then row, then column."""
    x1, y1, x2, y2 = candidates.boxes.T
    level = np.floor(np.log(x2 - x1) / np.log(1.2))
    stride = 1.2 ** level / 8
    order = np.lexsort((x1, np.floor(y1 / stride), level))
    return batch(candidates.boxes[order], candidates.scores[order])


def chain(n, seed):
    """Squares of 24 pixels in a row, the best first; each overlaps its neighbours by more than half of the union, the
    next but one by less: greedy keeps every second after n steps that all wait for the one before."""
    step = 5.5 + .5 * (seed % 4)
    x = step * np.arange(n)
    return batch(np.stack([x, 0 * x, x + 24, 0 * x + 24], 1), np.linspace(1, .5, n))


def shuffled(candidates, seed):
    order = np.random.default_rng(seed).permutation(len(candidates.scores))
    return batch(candidates.boxes[order], candidates.scores[order])


def pile(n, seed):
    """Every box overlaps every other: one survivor."""
    random = np.random.default_rng(seed)
    at = random.uniform(500, 504, (n, 2))
    return batch(np.hstack([at, at + random.uniform(96, 100, (n, 2))]), random.uniform(0, 1, n))


def one_spot(n, seed):
    """Squares from 16 to 512 pixels around one point."""
    random = np.random.default_rng(seed)
    half = np.exp2(random.uniform(3, 8, n))[:, None]
    at = np.array([[960, 540]])
    return batch(np.hstack([at - half, at + half]), random.uniform(0, 1, n))


def equal_scores(candidates):
    return batch(candidates.boxes, np.full_like(candidates.scores, .5))


def frames_of(make, frames, seed, ragged):
    """A batch of frames made by make(seed); ragged: frame f holds a random part of its candidates."""
    parts = [make(seed + f) for f in range(frames)]
    joined = batch(np.concatenate([p.boxes for p in parts]), np.concatenate([p.scores for p in parts]))
    joined.frames = frames
    if ragged:
        counts = np.random.default_rng(seed).integers(0, joined.capacity + 1, frames)
        joined.counts = counts.astype(np.int32)
    return joined


def film(faces, width, height, low, high, frames, seed):
    """A sequence whose number of candidates sways between `low` and `high`, as the paper's films do."""
    sway = (1 - np.cos(np.arange(frames) * 4 * np.pi / max(frames - 1, 1))) / 2
    return [clustered(int(round(low + (high - low) * s)), faces, width, height, seed + f)
            for f, s in enumerate(sway)]


# The rows that DESIGN.md states goals for, each with the seed it was measured with there.
ROWS = ([(f"oscars{n}", n, n, lambda n, seed: clustered(n, seed=seed, **OSCARS)) for n in (200, 1027, 2895, 4096)] +
        [("crowd_run698", 698, 7, lambda n, seed: clustered(n, seed=seed, **CROWD_RUN)),
         ("mosaic2792", 2792, 8, lambda n, seed: clustered(n, seed=seed, **MOSAIC))] +
        [(f"uniform{n}", n, n, lambda n, seed: uniform(n, seed=seed, **UHD)) for n in (1024, 4096, 16384, 65536)])

BATCHES = (1, 8, 32, 64)
DOUBLINGS = (16384, 32768, 65536, 131072)


def of_rows():
    for name, n, seed, make in ROWS:
        yield Workload("rows", name, n, lambda i, n=n, s=seed, make=make: make(n, s + OTHER_SEEDS * i))
        yield Workload("other seeds", name, n, lambda i, n=n, s=seed, make=make: make(n, s + OTHER_SEEDS * (i + 4)))
        yield Workload("raster order", name, n,
                       lambda i, n=n, s=seed, make=make: raster(make(n, s + OTHER_SEEDS * i)))


def of_batches():
    for ragged in (False, True):
        for frames in BATCHES:
            for kind, make in (("crowd", lambda seed: clustered(1024, seed=seed, **OSCARS)),
                               ("uniform", lambda seed: uniform(1024, seed=seed, **UHD))):
                name = f"{frames}x1024 {kind}{' ragged' if ragged else ''}"
                yield Workload("batch", name, 1024 * frames,
                               lambda i, make=make, f=frames, r=ragged: frames_of(make, f, OTHER_SEEDS * i, r),
                               frames=frames)


def of_worst_cases():
    n = 4096
    for name, make in (("chain4096", lambda i: chain(n, i)), ("chain4096 shuffled", lambda i: shuffled(chain(n, i), i)),
                       ("pile4096", lambda i: pile(n, i)), ("one_spot4096", lambda i: one_spot(n, i)),
                       ("equal_scores4096", lambda i: equal_scores(clustered(n, seed=i, **OSCARS)))):
        yield Workload("worst", name, n, make)
    yield Workload("worst", "uniform100000", 100_000, lambda i: uniform(100_000, 7680, 4320, i))


def of_doublings():
    for n in DOUBLINGS:
        yield Workload("doubling, same frame", f"uniform{n}", n,
                       lambda i, n=n: uniform(n, seed=n + OTHER_SEEDS * i, **UHD))
        scale = np.sqrt(n / DOUBLINGS[0])
        yield Workload("doubling, same density", f"uniform{n}", n,
                       lambda i, n=n, k=scale: uniform(n, UHD["width"] * k, UHD["height"] * k, n + OTHER_SEEDS * i))


def of_steps():
    """The paper's picture, with more and more faces uncovered: up to 3000 candidates."""
    for shown in range(7, 148, 7):
        made = [clustered(3000, seed=1 + OTHER_SEEDS * i, shown=shown, **OSCARS) for i in range(4)]
        n = round(np.mean([len(m.scores) for m in made]))
        yield Workload("steps", f"oscars, {shown} faces", n, lambda i, made=made: made[i])


def catalogue(pattern=""):
    """The workloads whose "group/name" the regular expression is found in."""
    everything = [*of_rows(), *of_batches(), *of_worst_cases(), *of_doublings(), *of_steps()]
    return [w for w in everything if re.search(pattern, f"{w.group}/{w.name}")]


def films(frames):
    return {"crowd_run": film(**CROWD_RUN, low=360, high=698, frames=frames, seed=360),
            "mosaic": film(**MOSAIC, low=1440, high=2792, frames=frames, seed=1440)}
