# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Reads graphs of TensorFlow: the numbers of graph.proto, node_def.proto, attr_value.proto and tensor.proto."""

import array
import math
import struct

from .onnx import FLOAT, Graph, little_endian
from .protobuf import Unreadable, fields, first, read_varint, text


class Node:
    def __init__(self, data):
        self.name = self.operator = ""
        self.inputs = []
        self.attributes = {}
        for number, value in fields(data):
            if number == 1:
                self.name = text(value)
            elif number == 2:
                self.operator = text(value)
            elif number == 3:
                self.inputs.append(text(value).split(":")[0])
            elif number == 5:
                self.attributes[text(first(value, 1))] = first(value, 2)

    def integers(self, name):
        packed, values, at = first(first(self.attributes[name], 1), 3), [], 0
        while at < len(packed):
            value, at = read_varint(packed, at)
            values.append(value)
        return values

    def number(self, name):
        return struct.unpack("<f", first(self.attributes[name], 4))[0]

    def tensor(self):
        """Dims and values of a Const of floats."""
        data = first(self.attributes["value"], 8)
        shape = [first(dim, 1, 0) for number, dim in fields(first(data, 2)) if number == 2]
        values = array.array("f", bytes(first(data, 4)))
        if first(data, 1, 0) != FLOAT or len(values) != math.prod(shape):
            raise Unreadable(f"{self.name} is no array of floats")
        return shape, little_endian(values)


class FrozenGraph:
    """Follows a TensorFlow graph back from its outputs, and writes what it meets as ONNX."""

    def __init__(self, data, images, kind):
        self.nodes = {node.name: node for node in (Node(value) for number, value in fields(data) if number == 1)}
        self.graph = Graph(kind)
        self.images = images
        self.done = {}

    def node(self, name):
        """The node of that name, or the one that Identity nodes of that name stand for."""
        while True:
            node = self.nodes.get(name)
            if node is None:
                raise Unreadable(f"it has no node {name}")
            if node.operator != "Identity":
                return node
            name = node.inputs[0]

    def write(self, name):
        """The name of the tensor, in ONNX, that the node `name` gives."""
        node = self.node(name)
        if node.name.startswith("Preprocessor/"):
            return self.images
        if node.name not in self.done:
            self.done[node.name] = self.write_node(node)
        return self.done[node.name]

    def write_node(self, node):
        if node.operator in ("BiasAdd", "FusedBatchNorm"):
            return self.write_convolution(node)
        if node.operator == "Relu6":
            limits = [self.graph.constant(f"limit_{limit}", [], "f", [limit]) for limit in (0, 6)]
            return self.graph.add("Clip", [self.write(node.inputs[0])] + limits, node.name)
        if node.operator == "Add":
            return self.graph.add("Add", [self.write(name) for name in node.inputs], node.name)
        raise Unreadable(f"{node.name} is a {node.operator}, which the person network does not have")

    def write_convolution(self, node):
        """A convolution with what follows it: a bias, or a normalisation, which becomes factors and a bias."""
        convolution = self.node(node.inputs[0])
        (height, width, inputs, outputs), weights = self.node(convolution.inputs[1]).tensor()
        depthwise = convolution.operator == "DepthwiseConv2dNative"
        if not depthwise and convolution.operator != "Conv2D":
            raise Unreadable(f"{node.name} follows a {convolution.operator}")
        if first(convolution.attributes["padding"], 2) != b"SAME" or \
                first(convolution.attributes["data_format"], 2) != b"NHWC":
            raise Unreadable(f"{convolution.name} is padded or laid out otherwise")
        groups = inputs if depthwise else 1
        inputs, outputs = inputs // groups, outputs * groups
        factors, bias = self.factors_and_bias(node, outputs)
        kernels = (array.array("f", (factor * weight for weight in kernel_of(weights, i, inputs, outputs)))
                   for i, factor in enumerate(factors))
        return self.graph.add(
            "Conv",
            [self.write(convolution.inputs[0]),
             self.graph.constant(f"{convolution.name}/weights", [outputs, inputs, height, width], "f",
                                 b"".join(kernel.tobytes() for kernel in kernels)),
             self.graph.constant(f"{convolution.name}/bias", [outputs], "f", bias)],
            node.name, kernel_shape=[height, width], strides=convolution.integers("strides")[1:3],
            auto_pad="SAME_UPPER", group=groups)

    def factors_and_bias(self, node, outputs):
        constants = [self.node(name).tensor()[1] for name in node.inputs[1:]]
        if any(len(constant) != outputs for constant in constants):
            raise Unreadable(f"{node.name} is of another size than the convolution before it")
        if node.operator == "BiasAdd":
            return [1] * outputs, constants[0]
        gamma, beta, mean, variance = constants
        epsilon = node.number("epsilon")
        factors = [g / math.sqrt(v + epsilon) for g, v in zip(gamma, variance)]
        return factors, [b - m * factor for b, m, factor in zip(beta, mean, factors)]


def kernel_of(weights, output, inputs, outputs):
    """The weights [inputs, height, width] of an output; `weights` is [height, width, inputs, outputs]."""
    kernel = weights[output::outputs]
    return (weight for i in range(inputs) for weight in kernel[i::inputs]) if len(kernel) > inputs else kernel
