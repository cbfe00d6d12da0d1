# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""crowd/nms.h for ctypes, on PyTorch tensors."""

import ctypes as c

GREEDY, MAP_REDUCE, PAPER = range(3)


class ClassSettings(c.Structure):
    _fields_ = [("label", c.c_int32), ("score_threshold", c.c_float), ("overlap_threshold", c.c_double)]


class Params(c.Structure):
    _fields_ = [("method", c.c_int), ("metric", c.c_int), ("comparator", c.c_int), ("pixel_offset", c.c_uint32),
                ("overlap_threshold", c.c_double), ("score_threshold", c.c_float), ("class_agnostic", c.c_uint32),
                ("rule", c.c_int), ("max_distance", c.c_float), ("min_overlap", c.c_double), ("min_width", c.c_float),
                ("min_height", c.c_float), ("max_width", c.c_float), ("max_height", c.c_float),
                ("class_count", c.c_uint32), ("listed_only", c.c_uint32), ("class_settings", ClassSettings * 128),
                ("paper_d_max", c.c_uint32), ("paper_k", c.c_uint32), ("merge", c.c_int),
                ("cluster_score", c.c_int), ("min_members", c.c_uint32), ("sigma", c.c_float), ("models", c.c_uint32),
                ("weight_count", c.c_uint32), ("model_weights", c.c_float * 16), ("reserved", c.c_uint32 * 6)]


class Candidates(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("boxes", "scores", "classes", "offsets", "counts")] + [
        ("frames", c.c_uint32), ("capacity", c.c_uint32), ("feature_length", c.c_uint32), ("flags", c.c_uint32)] + [
        (name, c.c_void_p) for name in ("densities", "proposals", "visible", "features", "models")] + [
        ("reserved", c.c_void_p * 3)]


class Survivors(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("survivors", "members", "representatives", "reports")] + [
        ("max_survivors", c.c_uint32), ("flags", c.c_uint32), ("boxes", c.c_void_p), ("scores", c.c_void_p),
        ("reserved", c.c_void_p * 4)]


REPORT_FIELDS = 6  # uint32 each: candidates, overflow, invalid, below_threshold, survivors, clipped


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.crowd_nms_last_error.restype = c.c_char_p
        for name in ("crowd_nms_cuda_workspace_bytes", "crowd_nms_cpu_workspace_bytes"):
            getattr(self.lib, name).restype = c.c_size_t
            getattr(self.lib, name).argtypes = [c.POINTER(Params), c.c_uint32, c.c_uint32]
        self.lib.crowd_nms_cuda.argtypes = [c.POINTER(Params), c.POINTER(Candidates), c.POINTER(Survivors), c.c_void_p,
                                            c.c_size_t, c.c_void_p]
        self.lib.crowd_nms_cpu.argtypes = self.lib.crowd_nms_cuda.argtypes[:-1]

    def params(self, **changes):
        params = Params()
        self.lib.crowd_nms_params_init(c.byref(params))
        for name, value in changes.items():
            setattr(params, name, value)
        return params

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.crowd_nms_last_error().decode())

    def prepare(self, params, boxes, scores, classes=None):
        """A call of one frame as a function without arguments, and its outputs (survivors, report), as tensors on the
        boxes' device."""
        call = Call(self, params, boxes, scores, classes)
        return call, call.indices[0], call.reports[0]

    def survivors(self, params, boxes, scores, classes=None):
        call, survivors, report = self.prepare(params, boxes, scores, classes)
        call()
        return survivors[:int(report[4])].long()


class Call:
    """A call without arguments on tensors, on the side where they are. Allocation happens here, so that the call itself
    can be timed or captured; outputs and workspace are poisoned. counts and offsets are int32; the capacity is all
    boxes by default. Outputs: indices, a row a frame, and reports."""

    def __init__(self, library, params, boxes, scores, classes=None, counts=None, offsets=None, frames=1,
                 capacity=None):
        import torch
        capacity = boxes.shape[0] if capacity is None else capacity
        self.library = library
        self.inputs = (boxes, scores, classes, offsets, counts)
        self.on_gpu = boxes.is_cuda
        self.params = params
        size = (library.lib.crowd_nms_cuda_workspace_bytes if self.on_gpu else
                library.lib.crowd_nms_cpu_workspace_bytes)
        self.workspace_bytes = size(c.byref(params), frames, capacity)
        new = dict(device=boxes.device)
        self.memory = torch.full((self.workspace_bytes + 256,), 0xA5, dtype=torch.uint8, **new)
        self.workspace = (self.memory.data_ptr() + 255) // 256 * 256
        self.indices = torch.full((frames, max(capacity, 1)), -1, dtype=torch.int32, **new)
        self.reports = torch.full((frames, REPORT_FIELDS), -1, dtype=torch.int32, **new)
        self.candidates = Candidates(*(None if t is None else t.data_ptr() for t in self.inputs), frames, capacity)
        self.outputs = Survivors(self.indices.data_ptr(), None, None, self.reports.data_ptr(), self.indices.shape[1])

    def __call__(self):
        import torch
        arguments = [c.byref(self.params), c.byref(self.candidates), c.byref(self.outputs), self.workspace,
                     self.workspace_bytes]
        if self.on_gpu:
            stream = torch.cuda.current_stream().cuda_stream
            self.library.check(self.library.lib.crowd_nms_cuda(*arguments, stream))
        else:
            self.library.check(self.library.lib.crowd_nms_cpu(*arguments))
