# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of the metrics once more, in plain loops that share nothing with gst-crowd-eval. An image is (people,
regions, detections): boxes x, y, width, height; people followed by their visible share, detections by their score."""

import itertools
import math

FOUR_DIGITS = [.01, .0178, .0316, .0562, .1, .1778, .3162, .5623, 1]


def shared(a, b):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0


def iou(a, b):
    return shared(a, b) / (a[2] * a[3] + b[2] * b[3] - shared(a, b)) if shared(a, b) else 0


def share_inside(a, region):
    return shared(a, region) / (a[2] * a[3]) if shared(a, region) else 0


def by_score(detections):
    return sorted(detections, key=lambda d: -d[4])


def judge(image, reaches, first):
    """(score, right) of each detection that counts. `reaches(overlap)`; of equal overlaps the first, or the last."""
    people, regions, detections = image
    free = list(range(len(people)))
    for detection in by_score(detections):
        best = None
        for n in free:
            overlap = iou(detection, people[n])
            if reaches(overlap) and (best is None or overlap > best[0] or (overlap == best[0] and not first)):
                best = overlap, n
        if best:
            free.remove(best[1])
            yield detection[4], True
        elif not any(reaches(share_inside(detection, region)) for region in regions):
            yield detection[4], False


def points(outcomes, people):
    """(recall, false detections, precision) after each detection, the best score first."""
    right = wrong = 0
    for _, is_right in sorted(outcomes, key=lambda o: -o[0]):
        right, wrong = right + is_right, wrong + (not is_right)
        yield right / people, wrong, right / (right + wrong)


def subset(image, heights, visible, closed):
    """People outside become regions; detections of other heights are gone."""
    def within(value, low, high):
        return low <= value <= high if closed else low <= value < high
    people, regions, detections = image
    wanted = [p for p in people if within(p[3], *heights) and within(p[4], *visible)]
    return (wanted, regions + [p for p in people if p not in wanted],
            [d for d in detections if heights[0] / 1.25 <= d[3] < heights[1] * 1.25])


def miss_rate(images, heights, visible, citypersons):
    images = [subset(image, heights, visible, citypersons) for image in images]
    people = sum(len(image[0]) for image in images)
    if not people:
        return math.nan
    curve = list(points([o for image in images for o in judge(image, lambda overlap: overlap >= .5, first=False)], people))
    logs = 0
    for reference in FOUR_DIGITS if citypersons else [10 ** (k / 4) for k in range(-8, 1)]:
        reached = [recall for recall, wrong, _ in curve if wrong / len(images) <= reference]
        if not reached and citypersons:
            reached = [recall for recall, _, _ in curve]
        miss = 1 - (reached[-1] if reached else 0)
        if citypersons and miss == 0:
            return 0
        logs += math.log(max(miss, 1e-10))
    return math.exp(logs / 9)


def crowdhuman_curve(images):
    people = sum(len(image[0]) for image in images)
    outcomes = [o for image in images for o in judge(image, lambda overlap: overlap > .5, first=True)]
    return list(points(outcomes, people))


def crowdhuman_ap(images):
    curve = crowdhuman_curve(images)
    return sum((b[0] - a[0]) * (a[2] + b[2]) / 2 for a, b in itertools.pairwise(curve))


def crowdhuman_mr(images):
    curve = crowdhuman_curve(images)
    if not curve:
        return math.nan
    misses = []
    for reference in FOUR_DIGITS:
        beyond = [1 - recall for recall, wrong, _ in curve if wrong / len(images) >= reference]
        misses.append(beyond[0] if beyond else 1 - curve[-1][0])
    return math.exp(sum(map(math.log, misses)) / 9) if all(misses) else 0


def most_pairs(detections, people):
    """(pairs, detections, people) of a largest matching, by trying them all; of its detections the best-ranked ones."""
    best = (0, (), ())

    def extend(at, used, rows):
        nonlocal best
        rank = (len(rows), tuple(-r for r in rows))
        if rank > (best[0], tuple(-r for r in best[1])):
            best = (len(rows), rows, used)
        for d in range(at, len(detections)):
            for n in range(len(people)):
                if n not in used and iou(detections[d], people[n]) >= .5:
                    extend(d + 1, used + (n,), rows + (d,))

    extend(0, (), ())
    return best


def jaccard_of(image, threshold):
    """(index, whether the image counts)."""
    people, regions, detections = image
    detections = [d for d in by_score(detections) if d[4] > threshold]
    pairs, rows, used = most_pairs(detections, people)

    def hidden(box):
        return any(share_inside(box, region) > .5 for region in regions)
    n = len(detections) - sum(hidden(d) for k, d in enumerate(detections) if k not in rows)
    m = len(people) - sum(hidden(p) for k, p in enumerate(people) if k not in used)
    return pairs / (m + n - pairs + 1e-6), n != 0 or m != 0


def crowdhuman_ji(images):
    best = 0
    for threshold in (.1 * k for k in range(10)):
        values = [jaccard_of(image, threshold) for image in images]
        count = sum(counts for _, counts in values)
        best = max(best, sum(value for value, _ in values) / count if count else 0)
    return best


def voc(images):
    """11 points and all points; regions are difficult objects here."""
    outcomes = []
    for people, regions, detections in images:
        objects, taken = people + regions, set()
        for detection in by_score(detections):
            ratios = [iou(detection, o) for o in objects]
            best = max(range(len(objects)), key=lambda n: ratios[n], default=None)
            if best is None or ratios[best] < .5:
                outcomes.append((detection[4], False))
            elif best < len(people):
                outcomes.append((detection[4], best not in taken))
                taken.add(best)
    people = sum(len(image[0]) for image in images)
    curve = list(points(outcomes, people))
    eleven = sum(max([p for recall, _, p in curve if recall >= k * .1], default=0) for k in range(11)) / 11
    area, last = 0, 0
    for n, (recall, _, _) in enumerate(curve):
        area, last = area + (recall - last) * max(p for _, _, p in curve[n:]), recall
    return eleven, area
