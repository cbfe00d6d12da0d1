# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""crowd/nms.h for ctypes, on PyTorch tensors."""

import ctypes as c

GREEDY, MAP_REDUCE, PAPER = range(3)


class Params(c.Structure):
    _fields_ = [("method", c.c_int), ("metric", c.c_int), ("comparator", c.c_int), ("overlap_threshold", c.c_float),
                ("score_threshold", c.c_float), ("pixel_offset", c.c_uint32), ("class_agnostic", c.c_uint32),
                ("paper_d_max", c.c_uint32), ("paper_k", c.c_uint32)]


class Candidates(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("boxes", "scores", "classes", "offsets", "counts")] + [
        ("frames", c.c_uint32), ("capacity", c.c_uint32)]


class Survivors(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("survivors", "members", "stand_ins", "reports")] + [
        ("max_survivors", c.c_uint32)]


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
        boxes' device. Allocation happens here, so that the call itself can be timed or captured."""
        import torch
        n = boxes.shape[0]
        on_gpu = boxes.is_cuda
        size = self.lib.crowd_nms_cuda_workspace_bytes if on_gpu else self.lib.crowd_nms_cpu_workspace_bytes
        bytes_needed = size(c.byref(params), 1, n)
        new = dict(device=boxes.device)
        workspace = torch.full((bytes_needed + 64,), 0xA5, dtype=torch.uint8, **new)
        survivors = torch.full((max(n, 1),), -1, dtype=torch.int32, **new)
        report = torch.full((REPORT_FIELDS,), -1, dtype=torch.int32, **new)
        start = (workspace.data_ptr() + 63) // 64 * 64
        into = Candidates(boxes.data_ptr(), scores.data_ptr(), classes.data_ptr() if classes is not None else None, None,
                          None, 1, n)
        out = Survivors(survivors.data_ptr(), None, None, report.data_ptr(), n)
        arguments = [c.byref(params), c.byref(into), c.byref(out), start, bytes_needed]
        keep = (params, boxes, scores, classes, workspace, into, out, survivors, report)

        def call():
            _ = keep
            if on_gpu:
                self.check(self.lib.crowd_nms_cuda(*arguments, torch.cuda.current_stream().cuda_stream))
            else:
                self.check(self.lib.crowd_nms_cpu(*arguments))

        return call, survivors, report

    def survivors(self, params, boxes, scores, classes=None):
        call, survivors, report = self.prepare(params, boxes, scores, classes)
        call()
        return survivors[:int(report[4])].long()
