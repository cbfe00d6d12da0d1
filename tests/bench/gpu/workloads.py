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
    full: bool = True  # frames have no room for more candidates; else their numbers are on the device alone


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


def head(people, size, seed, strides=(8, 16, 32)):
    """The raw output of a one-stage detector: each cell of three grids, in raster order, regresses to a person near it.
    Scores have half precision."""
    random = np.random.default_rng(seed)
    width = random.uniform(12, 120, people)
    height = width * random.uniform(1.5, 2.8, people)
    centre_x, centre_y = random.uniform(0, size, people), random.uniform(0, size, people)
    boxes, scores = [], []
    for stride in strides:
        grid = np.arange(size // stride) * stride + stride / 2
        cell_y, cell_x = (a.ravel() for a in np.meshgrid(grid, grid, indexing="ij"))
        away = np.abs(cell_x[:, None] - centre_x) / width + np.abs(cell_y[:, None] - centre_y) / height
        nearest = away.argmin(1)
        n = len(cell_x)
        scale = 1 + .08 * random.normal(size=(n, 4))
        x = centre_x[nearest] + .1 * width[nearest] * random.normal(size=n)
        y = centre_y[nearest] + .1 * height[nearest] * random.normal(size=n)
        half_width, half_height = width[nearest] / 2, height[nearest] / 2
        boxes.append(np.stack([x - half_width * scale[:, 0], y - half_height * scale[:, 1],
                               x + half_width * scale[:, 2], y + half_height * scale[:, 3]], 1))
        scores.append(np.exp(-3 * away[np.arange(n), nearest]) * random.uniform(.6, 1, n))
    return batch(np.concatenate(boxes), np.concatenate(scores).astype(np.float16))


def ladder(n, k, seed):
    """The best first, each overlaps exactly the k before it by more than half of the union."""
    x = np.arange(n) * (100 / 3) / (k + .5) + seed
    return batch(np.stack([x, 0 * x, x + 100, 0 * x + 100], 1), np.linspace(1, .1, n))


def with_giant(n, seed):
    """One box of the whole picture among small ones."""
    made = uniform(n, seed=seed, **UHD)
    made.boxes[0] = 0, 0, UHD["width"], UHD["height"]
    return made


def far_scores(n, seed):
    """Two scores far off the others."""
    made = uniform(n, seed=seed, **UHD)
    made.scores[0], made.scores[n // 7] = 1e6, -1e9
    return made


def equal_boxes(n, at, seed):
    return batch(np.tile([at, at, at + 50, at + 50], (n, 1)), np.random.default_rng(seed).uniform(0, 1, n))


def with_room(candidates, capacity):
    """A frame of these candidates with room for more, their number on the device. The room holds the best of boxes."""
    n = len(candidates.scores)
    boxes, scores = np.tile(np.float32([0, 0, 9999, 9999]), (capacity, 1)), np.full(capacity, 2, np.float32)
    boxes[:n], scores[:n] = candidates.boxes, candidates.scores
    return Batch(boxes, scores, np.array([n], np.int32))


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
                               frames=frames, full=not ragged)


def of_worst_cases():
    n = 4096
    for name, make in (("chain4096", lambda i: chain(n, i)), ("chain4096 shuffled", lambda i: shuffled(chain(n, i), i)),
                       ("pile4096", lambda i: pile(n, i)), ("one_spot4096", lambda i: one_spot(n, i)),
                       ("equal_scores4096", lambda i: equal_scores(clustered(n, seed=i, **OSCARS)))):
        yield Workload("worst", name, n, make)
    yield Workload("worst", "uniform100000", 100_000, lambda i: uniform(100_000, 7680, 4320, i))


def of_flat_rows():
    """Rows of DESIGN.md where the cost has to stay flat: heads of networks, dense clusters, capacities larger than the
    frame, and frames made to be slow."""
    far = OTHER_SEEDS
    for name, n, frames, make in (
            ("head640", 8400, 1, lambda i: head(60, 640, 1 + far * i)),
            ("head1280", 33600, 1, lambda i: head(300, 1280, 2 + far * i)),
            ("clustered16384", 16384, 1, lambda i: clustered(16384, seed=3 + far * i, **OSCARS)),
            ("clustered65536", 65536, 1, lambda i: clustered(65536, 600, 7680, 4320, 4 + far * i)),
            ("16x8400 in 40 clusters", 16 * 8400, 16,
             lambda i: frames_of(lambda seed: clustered(8400, 40, 1920, 1080, seed), 16, far * i, False)),
            ("16xhead640", 16 * 8400, 16, lambda i: frames_of(lambda seed: head(60, 640, seed), 16, far * i, False)),
            ("16x8192 uniform", 16 * 8192, 16,
             lambda i: frames_of(lambda seed: uniform(8192, seed=seed, **UHD), 16, far * i, False)),
            ("32x1024 in 40 clusters", 32 * 1024, 32,
             lambda i: frames_of(lambda seed: clustered(1024, 40, 1920, 1080, seed), 32, far * i, False)),
            ("61 of 4096", 4096, 1, lambda i: with_room(clustered(61, seed=i, **OSCARS), 4096)),
            ("61 of 16384", 16384, 1, lambda i: with_room(clustered(61, seed=i, **OSCARS), 16384)),
            ("3000 of 16384", 16384, 1, lambda i: with_room(clustered(3000, seed=i, **OSCARS), 16384)),
            ("ladder1_4096", 4096, 1, lambda i: ladder(4096, 1, i)),
            ("ladder2_4096", 4096, 1, lambda i: ladder(4096, 2, i)),
            ("ladder3_4096", 4096, 1, lambda i: ladder(4096, 3, i)),
            ("ladder8_4096", 4096, 1, lambda i: ladder(4096, 8, i)),
            ("ladder100_4096", 4096, 1, lambda i: ladder(4096, 100, i)),
            ("ladder2_65536", 65536, 1, lambda i: ladder(65536, 2, i)),
            ("giant65536", 65536, 1, lambda i: with_giant(65536, 5 + far * i)),
            ("far_scores65536", 65536, 1, lambda i: far_scores(65536, 6 + far * i)),
            ("equal65536", 65536, 1, lambda i: equal_boxes(65536, 10 + i, 7 + i)),
            ("clustered1048575", 1048575, 1, lambda i: clustered(1048575, 20000, 16000, 9000, 11 + far * i))):
        yield Workload("flat", name, n, make, frames=frames, sets=2 if n > 1 << 18 else 4, full=" of " not in name)


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
    everything = [*of_rows(), *of_batches(), *of_worst_cases(), *of_flat_rows(), *of_doublings(), *of_steps()]
    return [w for w in everything if re.search(pattern, f"{w.group}/{w.name}")]


def films(frames):
    return {"crowd_run": film(**CROWD_RUN, low=360, high=698, frames=frames, seed=360),
            "mosaic": film(**MOSAIC, low=1440, high=2792, frames=frames, seed=1440)}
