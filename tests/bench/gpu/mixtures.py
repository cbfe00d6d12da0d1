# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames drawn by lot to be slow. A recipe is a dictionary of plain values, which gives the same frame wherever it is
made: {"seed", "threshold", "classes", "shuffled", "parts"}. Parts share the frame; each is a shape of `kind` with its own
number, a place, a scale, and the range of its scores."""

import copy

import numpy as np

THRESHOLDS = (.3, .5, .7, .9)


def ladder(n, random, number):
    """Squares in a row; each overlaps the `number` before it by more than half of the union."""
    x = np.arange(n) / 3 / (number + .5)
    return np.stack([x, 0 * x, x + 1, 0 * x + 1], 1)


def raster(n, random, number):
    """Squares that are apart, or overlap their neighbours: `number` is their distance in hundredths of a side."""
    columns = int(np.ceil(np.sqrt(n)))
    x, y = np.arange(n) % columns * number / 100, np.arange(n) // columns * number / 100
    return np.stack([x, y, x + 1, y + 1], 1)


def clusters(n, random, number):
    """Windows around `number` objects."""
    which = random.integers(0, max(int(number), 1), n)
    centre = random.uniform(0, 2 * np.sqrt(number), (max(int(number), 1), 2))[which]
    side = np.exp(random.normal(0, .12, n))[:, None]
    corner = centre + random.normal(0, .12, (n, 2)) - side / 2
    return np.hstack([corner, corner + side])


def sizes(n, random, number):
    """Squares of sides from 1 to `number` on a place as large as the largest."""
    side = np.exp(random.uniform(0, np.log(max(number, 1.01)), n))[:, None]
    corner = random.uniform(0, number, (n, 2))
    return np.hstack([corner, corner + side])


def nested(n, random, number):
    """Squares around one point, each `number` thousandths larger than the one before."""
    half = np.exp(np.minimum(np.arange(n) * np.log1p(number / 1000), 60))[:, None]
    return np.hstack([-half, -half, half, half])


def bars(n, random, number):
    """Bars `number` times as long as wide, half of them upright."""
    corner = random.uniform(0, number, (n, 2))
    upright = random.integers(0, 2, n)[:, None].astype(bool)
    return np.hstack([corner, corner + np.where(upright, [[1, number]], [[number, 1]])])


def jitter(n, random, number):
    """Squares moved by up to `number` hundredths of a side."""
    corner = random.uniform(0, number / 100, (n, 2))
    return np.hstack([corner, corner + 1])


KINDS = {shape.__name__: shape for shape in (ladder, raster, clusters, sizes, nested, bars, jitter)}
# Of scores within a part's range; `levels`: ten different ones.
SCORES = {
    "falling": lambda n, random: np.linspace(1, 0, n),
    "rising": lambda n, random: np.linspace(0, 1, n),
    "random": lambda n, random: random.uniform(0, 1, n),
    "levels": lambda n, random: random.integers(0, 10, n) / 10,
    "equal": lambda n, random: np.full(n, .5),
}


def log_uniform(random, low, high):
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def draw_part(random):
    return {"kind": str(random.choice(list(KINDS))), "number": log_uniform(random, 1, 3000),
            "share": log_uniform(random, .01, 1), "at": [float(a) for a in random.uniform(0, 1000, 2)],
            "scale": log_uniform(random, .1, 1000), "scores": str(random.choice(list(SCORES))),
            "best": float(random.uniform(0, 2)), "range": log_uniform(random, 1e-6, 2)}


def draw(random):
    """A recipe."""
    return {"seed": int(random.integers(1 << 31)), "threshold": float(random.choice(THRESHOLDS)),
            "classes": int(log_uniform(random, 1, 1e5)) if random.random() < .1 else 1,
            "shuffled": bool(random.integers(2)), "parts": [draw_part(random) for _ in range(random.integers(1, 5))]}


def mutated(recipe, random):
    """Another recipe, like this one but for one change."""
    recipe = copy.deepcopy(recipe)
    part = recipe["parts"][random.integers(len(recipe["parts"]))]
    change = random.integers(8)
    if change == 0 and len(recipe["parts"]) < 6:
        recipe["parts"].append(draw_part(random))
    elif change == 1 and len(recipe["parts"]) > 1:
        recipe["parts"].remove(part)
    elif change == 2:
        recipe.update(seed=int(random.integers(1 << 31)), shuffled=bool(random.integers(2)))
    elif change == 3:
        recipe["threshold"] = float(random.choice(THRESHOLDS))
    elif change == 4:
        other = draw_part(random)
        name = str(random.choice(list(part)))
        part[name] = other[name]
    else:
        name = str(random.choice(["number", "share", "scale", "range"]))
        part[name] *= log_uniform(random, .5, 2)
    return recipe


def counts(recipe, n):
    """Candidates of each part, n in all."""
    shares = np.array([part["share"] for part in recipe["parts"]])
    ends = np.round(np.cumsum(shares) / shares.sum() * n).astype(int)
    return np.diff(ends, prepend=0)


def make(recipe, n):
    """Boxes and scores, float32, and classes, int32 or None."""
    random = np.random.default_rng(recipe["seed"])
    boxes, scores = [], []
    for part, count in zip(recipe["parts"], counts(recipe, n)):
        shape = KINDS[part["kind"]](count, random, part["number"])
        boxes.append(shape * part["scale"] + np.tile(part["at"], 2))
        scores.append(part["best"] - part["range"] * (1 - SCORES[part["scores"]](count, random)))
    order = random.permutation(n) if recipe["shuffled"] else np.arange(n)
    classes = random.integers(0, recipe["classes"], n).astype(np.int32) if recipe["classes"] > 1 else None
    limit = 1e30
    return (np.ascontiguousarray(np.clip(np.concatenate(boxes), -limit, limit)[order], np.float32),
            np.ascontiguousarray(np.concatenate(scores)[order], np.float32), classes)


def describe(recipe):
    parts = "; ".join("{kind} {number:.3g} x{share:.2g} scale {scale:.3g} {scores} {best:.2g}-{range:.2g}".format(**part)
                      for part in recipe["parts"])
    return f"IoU {recipe['threshold']}, {recipe['classes']} classes, {'shuffled' if recipe['shuffled'] else 'in order'}: {parts}"


def family(recipe):
    """Recipes of the same one are variations of each other: what most of the frame is, and the threshold."""
    shares = np.array([part["share"] for part in recipe["parts"]])
    return recipe["threshold"], *sorted(part["kind"] for part in recipe["parts"] if part["share"] > shares.sum() / 4)
