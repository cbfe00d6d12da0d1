# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Writes ONNX: the numbers of onnx.proto."""

import array
import struct
import sys

from .protobuf import field

OPSET = 13
IR_VERSION = 7
FLOAT, INT64, FLOAT16 = 1, 7, 10  # TensorProto.DataType of ONNX
ATTRIBUTE_INT, ATTRIBUTE_STRING, ATTRIBUTE_INTS = 2, 3, 7


def little_endian(values):
    """The bytes of an array, or an array of such bytes."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values


def onnx_tensor(name, dims, kind, values):
    data = (struct.pack(f"<{len(values)}e", *values) if kind == FLOAT16 else little_endian(values).tobytes())
    return b"".join(field(1, size) for size in dims) + field(2, kind) + field(8, name) + field(9, data)


def onnx_value(kind, name, dims):
    """A dimension that has a name is of any size."""
    shape = b"".join(field(1, field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def onnx_attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, ATTRIBUTE_INT)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, ATTRIBUTE_STRING)
    return field(1, name) + b"".join(field(8, number) for number in value) + field(20, ATTRIBUTE_INTS)


def onnx_metadata(entries):
    return b"".join(field(14, field(1, key) + field(2, value)) for key, value in entries.items())


class Graph:
    """An ONNX graph while it is written, whose floats are of `kind`. Nodes go in the order in which they run."""

    def __init__(self, kind):
        self.kind = kind
        self.nodes = []
        self.constants = {}

    def constant(self, name, dims, kind, values):
        """`kind` is f for floats, q for 64-bit integers."""
        number = self.kind if kind == "f" else INT64
        self.constants[name] = field(5, onnx_tensor(name, dims, number, array.array(kind, values)))
        return name

    def add(self, operator, inputs, output, **attributes):
        self.nodes.append(field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) +
                                field(4, operator) +
                                b"".join(field(5, onnx_attribute(*item)) for item in attributes.items())))
        return output

    def model(self, inputs, outputs, ids):
        graph = (b"".join(self.nodes) + field(2, "gst-crowd") + b"".join(self.constants.values()) +
                 b"".join(field(11, onnx_value(self.kind, *value)) for value in inputs) +
                 b"".join(field(12, onnx_value(self.kind, *value)) for value in outputs))
        return (field(1, IR_VERSION) + field(2, "gst-crowd convert-model") + field(7, graph) +
                field(8, field(2, OPSET)) + onnx_metadata(ids))
