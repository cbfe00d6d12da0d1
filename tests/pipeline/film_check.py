#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Looks at what film.sh made: film_check.py CHECK FOLDER, with film.mp4, film.log, survivors.jsonl, and the frames of
the film and of the original as RGB (film.rgb, original.rgb) in the folder. Prints what is wrong, and exits with 1 then.
"""

import json
import math
import os
import pathlib
import re
import struct
import sys

WIDTH, HEIGHT = 768, 576
FRAME_BYTES = WIDTH * HEIGHT * 3
FRAMES = int(os.environ["FRAMES"])
CHANGED = 60  # sum of the differences of R, G and B that compression does not make in an untouched place
LABEL_HEIGHT = 24  # above or below a box


def read_frames(path):
    data = path.read_bytes()
    assert len(data) == FRAMES * FRAME_BYTES, f"{path} has {len(data) / FRAME_BYTES} frames instead of {FRAMES}"
    return [data[i : i + FRAME_BYTES] for i in range(0, len(data), FRAME_BYTES)]


def pixels(box):
    """The smallest rectangle of pixels around the box, within the frame: x, y, width, height."""
    x1, y1 = max(math.floor(box[0]), 0), max(math.floor(box[1]), 0)
    x2, y2 = min(math.ceil(box[2]), WIDTH), min(math.ceil(box[3]), HEIGHT)
    return x1, y1, x2 - x1, y2 - y1


def read_survivors(folder):
    frames = [json.loads(line) for line in (folder / "survivors.jsonl").read_text().splitlines()]
    assert all(frame["resolution"] == {"width": WIDTH, "height": HEIGHT} for frame in frames)
    return [[{**survivor, "box": pixels(survivor["box"])} for survivor in frame["objects"]] for frame in frames]


def changed(film, original, x, y):
    at = (y * WIDTH + x) * 3
    return sum(abs(film[at + i] - original[at + i]) for i in range(3)) > CHANGED


def boxes_of_file(data):
    at = 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if size == 1:
            size = struct.unpack(">Q", data[at + 8 : at + 16])[0]
        yield kind.decode(), at
        at += size


def plays_anywhere(folder):
    data = (folder / "film.mp4").read_bytes()
    order = [kind for kind, _ in boxes_of_file(data)]
    assert order.index("moov") < order.index("mdat"), f"the index comes after the pictures: {order}"
    at = data.index(b"avcC")
    profile = data[at + 5]
    assert profile in (66, 77, 100), f"H.264 profile {profile} is not baseline, main or high"


def frames(folder):
    read_frames(folder / "film.rgb")


def survivors(folder):
    per_frame = read_survivors(folder)
    assert len(per_frame) == FRAMES, f"{len(per_frame)} lines for {FRAMES} frames"
    done = re.search(r"^done: (\d+) frames, (\d+) candidates, (\d+) survivors$", (folder / "film.log").read_text(), re.M)
    n_frames, n_candidates, n_survivors = map(int, done.groups())
    assert n_frames == FRAMES
    assert n_survivors == sum(map(len, per_frame)), "film.sh and read-survivors.sh do not agree"
    assert FRAMES <= n_survivors and n_survivors * 3 < n_candidates, f"{n_candidates} candidates, {n_survivors} survivors"
    assert n_candidates == sum(s["members"] for frame in per_frame for s in frame), "candidates without a survivor"


def outline(box):
    """The pixels just inside the edges that are in the frame."""
    x, y, w, h = box
    x1, y1, x2, y2 = max(x, 0), max(y, 0), min(x + w, WIDTH), min(y + h, HEIGHT)
    for px in range(x1, x2):
        yield from ((px, py) for py in (y, y + h - 1) if 0 <= py < HEIGHT)
    for py in range(y1, y2):
        yield from ((px, py) for px in (x, x + w - 1) if 0 <= px < WIDTH)


def outlines(folder):
    film, original = read_frames(folder / "film.rgb"), read_frames(folder / "original.rgb")
    for number, frame in enumerate(read_survivors(folder)):
        for survivor in frame:
            pixels = list(outline(survivor["box"]))
            share = sum(changed(film[number], original[number], *p) for p in pixels) / len(pixels)
            assert share > 0.85, f"frame {number}: {share:.0%} of the outline of {survivor} is drawn"


def near_box(x, y, box):
    bx, by, w, h = box
    inside = bx + 6 <= x < bx + w - 6 and by + LABEL_HEIGHT <= y < by + h - LABEL_HEIGHT
    around = bx - 6 <= x < bx + w + 160 and by - LABEL_HEIGHT <= y < by + h + LABEL_HEIGHT
    return around and not inside


def rest(folder):
    film, original = read_frames(folder / "film.rgb"), read_frames(folder / "original.rgb")
    for number, frame in enumerate(read_survivors(folder)):
        away = [
            (x, y)
            for y in range(LABEL_HEIGHT, HEIGHT, 5)
            for x in range(0, WIDTH, 5)
            if not any(near_box(x, y, survivor["box"]) for survivor in frame)
        ]
        share = sum(changed(film[number], original[number], *p) for p in away) / len(away)
        assert len(away) > 5000 and share < 0.001, f"frame {number}: {share:.1%} of {len(away)} untouched pixels changed"


if __name__ == "__main__":
    checks = {f.__name__: f for f in (plays_anywhere, frames, survivors, outlines, rest)}
    try:
        checks[sys.argv[1]](pathlib.Path(sys.argv[2]))
    except AssertionError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
