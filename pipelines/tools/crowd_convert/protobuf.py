# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Protocol buffers: https://protobuf.dev/programming-guides/encoding"""


class Unreadable(Exception):
    """A file that is not what it should be."""


def read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Unreadable("it ends too early")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message: an integer, or bytes."""
    if isinstance(data, int):
        raise Unreadable("it has another structure")
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        wire_type = key & 7
        if wire_type == 0:
            value, at = read_varint(data, at)
        elif wire_type in (1, 2, 5):
            size, at = read_varint(data, at) if wire_type == 2 else (8 if wire_type == 1 else 4, at)
            value = data[at:at + size]
            if len(value) < size:
                raise Unreadable("it ends too early")
            at += size
        else:
            raise Unreadable("it is no protocol buffer")
        yield key >> 3, value


def first(data, number, default=b""):
    return next((value for key, value in fields(data) if key == number), default)


def text(data):
    return bytes(data).decode()


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field with an integer, text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data
