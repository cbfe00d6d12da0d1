# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a file is, its content says: COCO's JSON, JSON lines or MOTChallenge's lines; and the values that they hold."""

import json
import math
import pathlib

from .tables import BadInput

MAX_NUMBER = 2**53  # above, a float is no exact integer
FORMATS = "COCO's JSON, JSON lines nor MOTChallenge's 7 to 10 numbers with commas between them"


def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not text: byte {error.start} is not UTF-8") from error


def parse(path, text):
    """("coco", value), ("lines", [(where, object)]), ("mot", [(where, numbers)]), or ("nothing", [])."""
    start = text.lstrip()[:1]
    if not start:
        return "nothing", []
    if start not in "{[":
        return "mot", parse_mot(path, text)
    try:
        return as_whole(path, json.loads(text))
    except json.JSONDecodeError as error:
        if start == "[" or error.msg != "Extra data":
            raise BadInput(f"{path}:{error.lineno}: {error.msg}: neither COCO's JSON nor JSON lines") from error
    except RecursionError as error:
        raise BadInput(f"{path}: too many arrays in each other") from error
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                lines.append((f"{path}:{number}", json.loads(line)))
            except (json.JSONDecodeError, RecursionError) as error:
                raise BadInput(f"{path}:{number}: {getattr(error, 'msg', error)}: not a line of JSON") from error
    return "lines", lines


def as_whole(path, value):
    if isinstance(value, dict) and "annotations" not in value and "images" not in value:
        return "lines", [(f"{path}:1", value)]
    return "coco", value


def parse_mot(path, text):
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = [float(field) for field in line.split(",")]
        except ValueError:
            row = []
        if not 7 <= len(row) <= 10:
            problem = f"expected one of MOTChallenge's lines, {FORMATS[FORMATS.index('7'):]}" if rows else \
                f"unknown format: neither {FORMATS}"
            raise BadInput(f"{path}:{number}: {problem}, found '{line.strip()[:60]}'")
        rows.append((f"{path}:{number}", row))
    return rows


def whole(where, name, value, low=0):
    """A whole number that a file gives."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value < MAX_NUMBER or value % 1:
        raise BadInput(f"{where}: {name} is {value!r}, expected a whole number from {low} on")
    return int(value)


def number(where, name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadInput(f"{where}: {name} is {value!r}, expected a finite number")
    return float(value)


def share(where, name, value):
    value = number(where, name, value)
    if not 0 <= value <= 1:
        raise BadInput(f"{where}: {name} is {value:g}, expected a share from 0 to 1")
    return value


def box_of(where, values, corners=False):
    """x, y, width, height."""
    if not isinstance(values, list) or len(values) != 4:
        raise BadInput(f"{where}: the box is {values!r}, expected four numbers")
    a, b, c, d = (number(where, "a side of the box", value) for value in values)
    x, y, width, height = (a, b, c - a, d - b) if corners else (a, b, c, d)
    if width < 0 or height < 0:
        raise BadInput(f"{where}: the box is {width:g} wide and {height:g} high")
    return x, y, width, height


def get(where, item, name):
    if not isinstance(item, dict) or name not in item:
        raise BadInput(f"{where}: there is no '{name}'")
    return item[name]


def items(where, item, name):
    values = get(where, item, name)
    if not isinstance(values, list):
        raise BadInput(f"{where}: '{name}' is no array")
    return values
