# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Synthetic crowds with occlusion, as JSON lines: the people of each frame with full box, visible box and visible
share, regions to ignore, and the candidates that a detector of full bodies might leave on them. crowdinject replays the
candidates, gst-crowd-eval reads the people.

People stand on a plane, in groups and alone, in 1920x1080; nearer ones are larger and hide those behind them. Each has
a pile of candidates, the fewer and the worse the less of the person can be seen, around the full box and drawn towards
what can be seen, or around the visible box. Some lie between two people who overlap, some are wrong. Regions to ignore
are far crowds above the horizon, with piles of their own. What rules read of candidates is drawn from the person that
they are of: density (the person's largest overlap with another), visible part, a feature, and a proposal that the
candidates of two people who overlap share one by one, as in CrowdDet. It is as good as a detector's can be hoped to be,
and rules that read it are judged by that. None of this was measured on a detector: rules are compared
on the same crowds, and that is all it is for.
"""

import json

import numpy as np

WIDTH, HEIGHT = 1920, 1080
DENSITIES = (10, 20, 40, 80, 160)  # people a frame
HORIZON = 280
CELL = 4  # pixels, of the raster on which people hide each other
ASPECT = .41
JITTER = .07  # of place and size of a candidate, as a part of the person
MIN_SCORE = .05
DENSITY_NOISE = .05  # deviation of a candidate's density from its person's
FEATURE_LENGTH, FEATURE_NOISE = 8, .2  # people are 4 apart on average, candidates of one of them .8


def people(random, count):
    """Full boxes as corners, the farthest first."""
    groups = count // 3 + 1
    centre = np.column_stack([random.uniform(60, WIDTH - 60, groups), random.uniform(.05, .95, groups)])
    member = random.integers(0, groups, count)
    alone = random.random(count) < .3
    depth = np.where(alone, random.random(count), centre[member, 1] + .04 * random.standard_normal(count))
    depth = np.sort(np.clip(depth, 0, 1))  # 0 far, 1 near
    height = (40 + 300 * depth) * np.exp(.06 * random.standard_normal(count))
    width = ASPECT * height * np.exp(.08 * random.standard_normal(count))
    x = np.where(alone, random.uniform(0, WIDTH, count), centre[member, 0] + 1.8 * width * random.standard_normal(count))
    x = np.clip(x, width / 2, WIDTH - width / 2)
    feet = np.minimum(HORIZON + height * .3 + (HEIGHT - HORIZON) * depth, HEIGHT)
    return np.column_stack([x - width / 2, feet - height, x + width / 2, feet])


def visible_parts(boxes):
    """(visible boxes, visible shares): what those that come later in `boxes` do not hide."""
    owner = np.full((HEIGHT // CELL, WIDTH // CELL), -1)
    cells = np.rint(boxes / CELL).astype(int)
    for n, (x1, y1, x2, y2) in enumerate(cells):
        owner[y1:y2, x1:x2] = n
    seen, shares = boxes.copy(), np.zeros(len(boxes))
    for n, (x1, y1, x2, y2) in enumerate(cells):
        rows, columns = np.nonzero(owner[y1:y2, x1:x2] == n)
        shares[n] = len(rows) / max(1, (y2 - y1) * (x2 - x1))
        if 0 < shares[n] < 1:
            part = CELL * np.array([x1 + columns.min(), y1 + rows.min(), x1 + columns.max() + 1, y1 + rows.max() + 1])
            seen[n] = np.concatenate([np.maximum(part[:2], boxes[n, :2]), np.minimum(part[2:], boxes[n, 2:])])
        elif shares[n] == 0:
            seen[n, 2:] = seen[n, :2]
    return seen, shares


def pile(random, box, quality, count):
    """Candidates around a box: [count, 5], corners and score."""
    size = box[2:] - box[:2]
    offset, grown = JITTER * random.standard_normal((count, 2)), JITTER * random.standard_normal((count, 2))
    centre = (box[:2] + box[2:]) / 2 + offset * size
    half = size * np.exp(grown) / 2
    away = (offset ** 2).sum(1) + (grown ** 2).sum(1)
    score = quality * np.exp(-away / (2 * .2 ** 2)) * random.uniform(.85, 1, count)
    return np.column_stack([centre - half, centre + half, score])


def overlap(a, b):
    """IoU of each of `a` with each of `b`."""
    sides = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2])
    shared = np.maximum(sides, 0).prod(2)
    whole = (a[:, 2:] - a[:, :2]).prod(1)[:, None] + (b[:, 2:] - b[:, :2]).prod(1)[None] - shared
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)


def candidates(random, boxes, seen, shares, regions, visible):
    """Corners, score and person of each, -1 for none; around visible boxes if `visible`."""
    piles, owners = [], []

    def add(made, owner=-1):
        piles.append(made)
        owners.append(np.full(len(made), owner))

    quality = np.clip(.45 + .5 * shares + .12 * random.standard_normal(len(boxes)), .05, 1)
    for person, (box, part, share, best) in enumerate(zip(boxes, seen, shares, quality)):
        if share >= .1:
            drawn = part if visible else box + (1 - share) * .25 * (part - box)
            add(pile(random, drawn, best, random.poisson(2 + 12 * share)), person)
    found = seen if visible else boxes
    ratio = overlap(found, found)
    for a, b in np.argwhere(np.triu((ratio > .3) & (ratio < .8), 1)):
        if random.random() < .3:
            add(pile(random, (found[a] + found[b]) / 2, .5 * min(quality[a], quality[b]), 2))
    for _ in range(random.poisson(3 + .4 * len(boxes))):
        height = random.uniform(40, 250)
        corner = random.uniform(0, 1, 2) * [WIDTH - ASPECT * height, HEIGHT - height]
        box = np.concatenate([corner, corner + [ASPECT * height, height]])
        add(pile(random, box, .1 + .5 * random.random() ** 2, int(random.integers(1, 4))))
    for x1, y1, x2, y2 in regions:
        for _ in range(12):
            height = random.uniform(20, y2 - y1)
            corner = np.array([random.uniform(x1, x2 - ASPECT * height), random.uniform(y1, y2 - height)])
            box = np.concatenate([corner, corner + [ASPECT * height, height]])
            add(pile(random, box, random.uniform(.2, .7), 3))
    rows = np.column_stack([np.concatenate(piles), np.concatenate(owners)]) if piles else np.empty((0, 6))
    rows[:, :4] = np.clip(rows[:, :4], 0, [WIDTH, HEIGHT, WIDTH, HEIGHT])
    rows = rows[rows[:, 4] >= MIN_SCORE]
    return rows[random.permutation(len(rows))]


def extras(random, boxes, seen, rows, visible):
    """What rules read, of each row of candidates(): [{"density", "proposal", "visible-box", "feature"}]."""
    boxes = seen if visible else boxes
    ratio = overlap(boxes, boxes) * (1 - np.eye(len(boxes)))
    looks = random.standard_normal((len(boxes), FEATURE_LENGTH))
    partner = ratio.argmax(1) if len(boxes) else np.empty(0, int)
    proposals, made, found = {}, np.zeros(len(boxes), int), []
    for number, row in enumerate(rows):
        person = int(row[5])
        if person < 0:
            density, part, look = 0, row[:4], random.standard_normal(FEATURE_LENGTH)
            proposal = ("wrong", number)
        else:
            size = np.maximum(boxes[person, 2:] - boxes[person, :2], 1)
            share = (seen[person] - np.tile(boxes[person, :2], 2)) / np.tile(size, 2)
            part = np.tile(row[:2], 2) + share * np.tile(row[2:4] - row[:2], 2)
            density = ratio[person].max() + DENSITY_NOISE * random.standard_normal()
            look = looks[person] + FEATURE_NOISE * random.standard_normal(FEATURE_LENGTH)
            other = partner[person]
            pair = (min(person, other), max(person, other)) if partner[other] == person else (person, person)
            proposal = (*pair, made[person])
            made[person] += 1
        found.append({"density": round(float(np.clip(density, 0, 1)), 4), "visible-box": corners(part),
                      "proposal": proposals.setdefault(proposal, len(proposals)),
                      "feature": [round(float(value), 3) for value in look]})
    return found


def far_crowds(random):
    count = int(random.integers(1, 3))
    size = np.column_stack([random.uniform(150, 350, count), random.uniform(40, 80, count)])
    corner = np.column_stack([random.uniform(0, WIDTH - 350, count), random.uniform(80, 140, count)])
    return np.column_stack([corner, corner + size])


def frame(seed, density, number, visible=False):
    """(boxes, visible boxes, visible shares, regions, candidates)."""
    random = np.random.default_rng([seed, density, number])
    boxes = people(random, int(random.integers(density - density // 10, density + density // 10 + 1)))
    seen, shares = visible_parts(boxes)
    regions = far_crowds(random)
    return boxes, seen, shares, regions, candidates(random, boxes, seen, shares, regions, visible)


def line(number, objects):
    return json.dumps({"frame": number, "resolution": {"width": WIDTH, "height": HEIGHT}, "objects": objects}) + "\n"


def corners(box):
    return [round(float(v), 2) for v in box]


def write(seed, density, frames, visible, truth_path, candidates_path):
    """Writes both files; what the crowd is like: people and candidates a frame, the share of people who can be seen by
    .65 or more, and of those who overlap another by IoU .5 or more."""
    counts = np.zeros(4)
    with open(truth_path, "w") as truth, open(candidates_path, "w") as found:
        for number in range(frames):
            boxes, seen, shares, regions, rows = frame(seed, density, number, visible)
            objects = [{"box": corners(b), "visible-box": corners(s), "visibility": round(float(v), 3)}
                       for b, s, v in zip(boxes, seen, shares)]
            objects += [{"box": corners(b), "visible-box": corners(b), "ignore": True} for b in regions]
            truth.write(line(number, objects))
            known = extras(np.random.default_rng([seed, density, number, 1]), boxes, seen, rows, visible)
            found.write(line(number, [{"box": corners(r[:4]), "score": round(float(r[4]), 7)} | more
                                      for r, more in zip(rows, known)]))
            wanted = seen if visible else boxes
            close = (overlap(wanted, wanted) * (1 - np.eye(len(boxes))) >= .5).any(1)
            counts += len(boxes), len(rows), (shares >= .65).sum(), close.sum()
    return {"people": counts[0] / frames, "candidates": counts[1] / frames, "visible": counts[2] / counts[0],
            "close": counts[3] / counts[0]}
