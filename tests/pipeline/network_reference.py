# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The networks of fetch-model as OpenCV's Python and ONNX Runtime's run them, decoded with numpy. Shares no code with
gst-crowd: OpenCV gets TensorFlow's graph with a text graph beside it."""

import math
import re
import tempfile

import cv2
import numpy as np

LAYERS = 6
GRIDS = (19, 10, 5, 3, 2, 1)


def text_nodes(graph):
    """Name to (text, operator, inputs) of the nodes of a frozen graph."""
    with tempfile.NamedTemporaryFile(suffix=".pbtxt") as file:
        cv2.dnn.writeTextGraph(graph, file.name)
        text = file.read().decode()
    nodes = {}
    for block in re.findall(r"^node \{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL):
        name, operator = (re.search(rf'^  {key}: "([^"]+)"', block, re.MULTILINE)[1] for key in ("name", "op"))
        nodes[name] = block, operator, re.findall(r'^  input: "([^"]+)"', block, re.MULTILINE)
    return nodes


def ssd_text_graph(graph):
    """What the box predictors need, as text, with the picture as input."""
    nodes = text_nodes(graph)
    text = ['node {\n  name: "image_tensor"\n  op: "Placeholder"\n}\n']
    seen = set()

    def real(name):
        while name in nodes and nodes[name][1] == "Identity":
            name = nodes[name][2][0]
        return name

    def add(name):
        if name in seen or name.startswith("Preprocessor/") or nodes[name][1] == "Const":
            return
        seen.add(name)
        block, _, inputs = nodes[name]
        for given in inputs:
            used = real(given)
            add(used)
            used = "image_tensor" if used.startswith("Preprocessor/") else used
            block = block.replace(f'  input: "{given}"', f'  input: "{used}"', 1)
        text.append(block)

    for layer in range(LAYERS):
        for head in ("BoxEncodingPredictor", "ClassPredictor"):
            add(f"BoxPredictor_{layer}/{head}/BiasAdd")
    return "".join(text)


def ssd_anchors():
    """Centre y and x, height and width of the anchors."""
    scales = [.2 + .75 * i / (LAYERS - 1) for i in range(LAYERS)] + [1.]
    anchors = []
    for layer, grid in enumerate(GRIDS):
        shapes = [(scales[layer], ratio) for ratio in (1, 2, .5, 3, .3333)]
        shapes.append((math.sqrt(scales[layer] * scales[layer + 1]), 1))
        if layer == 0:
            shapes = [(.1, 1), (scales[0], 2), (scales[0], .5)]
        anchors += [((y + .5) / grid, (x + .5) / grid, scale / math.sqrt(ratio), scale * math.sqrt(ratio))
                    for y in range(grid) for x in range(grid) for scale, ratio in shapes]
    return np.array(anchors)


def decode_ssd(encodings, logits, width, height):
    """[n, 5]: corners in pixels of a picture of that size, and scores."""
    cy, cx, h, w = ssd_anchors().T
    y, x = encodings[:, 0] * .1 * h + cy, encodings[:, 1] * .1 * w + cx
    h, w = np.exp(encodings[:, 2] * .2) * h, np.exp(encodings[:, 3] * .2) * w
    boxes = np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 1) * [width, height, width, height]
    return np.column_stack([boxes, 1 / (1 + np.exp(-logits[:, 1].astype(float)))])


def decode_centerface(heat, sizes, offsets):
    """[n, 5] for an input of the picture's size."""
    rows, columns = np.indices(heat.shape[2:])
    height, width = np.exp(sizes[0]) * 4
    y, x = (rows + offsets[0, 0] + .5) * 4, (columns + offsets[0, 1] + .5) * 4
    values = x - width / 2, y - height / 2, x + width / 2, y + height / 2, heat[0, 0]
    return np.stack([value.ravel() for value in values], 1)


def person_input(picture):
    """[1, 3, 300, 300] of a picture in RGB."""
    scaled = cv2.resize(picture.astype(np.float32), (300, 300), interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(((scaled - 127.5) / 127.5).transpose(2, 0, 1)[None])


def face_input(picture):
    return np.ascontiguousarray(picture.astype(np.float32).transpose(2, 0, 1)[None])


def opencv_persons(model, pictures):
    with tempfile.NamedTemporaryFile("w", suffix=".pbtxt") as file:
        file.write(ssd_text_graph(model))
        file.flush()
        net = cv2.dnn.readNetFromTensorflow(model, file.name)
    heads = [f"BoxPredictor_{layer}/{head}/Conv2D" for head in ("BoxEncodingPredictor", "ClassPredictor")
             for layer in range(LAYERS)]
    for picture in pictures:
        net.setInput(person_input(picture))
        blobs = [blob[0].transpose(1, 2, 0) for blob in net.forward(heads)]
        encodings = np.concatenate([blob.reshape(-1, 4) for blob in blobs[:LAYERS]])
        logits = np.concatenate([blob.reshape(-1, 2) for blob in blobs[LAYERS:]])
        yield decode_ssd(encodings, logits, picture.shape[1], picture.shape[0])


def opencv_faces(model, pictures):
    for picture in pictures:
        net = cv2.dnn.readNetFromONNX(model)  # anew: its results for a second size of input are wrong
        net.setInput(face_input(picture))
        yield decode_centerface(*net.forward(["537", "538", "539"]))


def onnxruntime_session(onnxruntime, model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns of weights that are not used
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnxruntime_persons(onnxruntime, model, pictures):
    session = onnxruntime_session(onnxruntime, model)
    name = session.get_inputs()[0].name
    for picture in pictures:
        encodings, logits = session.run(["box_encodings", "class_predictions"], {name: person_input(picture)})
        yield decode_ssd(encodings[0], logits[0], picture.shape[1], picture.shape[0])


def centerface_of_any_size(path):
    """The file says 10 pictures of 32x32, of a network that takes any: its dims get no value, a name of no letters."""
    model = open(path, "rb").read()
    start = model.index(b"\x0a\x07input.1\x12")
    dims = model[start:start + 40]
    for size in (10, 32):
        dims = dims.replace(b"\x0a\x02\x08" + bytes([size]), b"\x0a\x02\x12\x00")
    return model[:start] + dims + model[start + 40:]


def onnxruntime_faces(onnxruntime, model, pictures):
    session = onnxruntime_session(onnxruntime, centerface_of_any_size(model))
    name = session.get_inputs()[0].name
    for picture in pictures:
        yield decode_centerface(*session.run(["537", "538", "539"], {name: face_input(picture)}))
