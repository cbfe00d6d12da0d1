# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""OpenCV's NMSBoxes on the CPU; the one contender that needs no GPU and no PyTorch."""

import ctypes as c
import statistics
import time

import numpy as np

from . import reference


class Contender:
    """Something to time: prepare() makes a call on a batch, its survivors() what the call left, a list of frames."""
    expected = None  # whose answer it must give: a method of crowd/nms.h
    exact = True  # False: known to round otherwise, differences are only counted
    groups = None  # of workloads; None: all

    def fits(self, workload):
        return self.groups is None or workload.group in self.groups


class OpenCv(Contender):
    name = "OpenCV NMSBoxes"
    expected = "greedy"
    exact = False  # it computes in double
    groups = ("rows", "worst", "flat", "steps")
    MOST = 16384

    def __init__(self, make_call, how):
        self.make_call, self.how = make_call, how

    @classmethod
    def load(cls, path):
        """Through the small library at `path`, else through Python's cv2; None where there is neither."""
        try:
            native = NativeOpenCv(path)
            return cls(native.call, "linked")
        except OSError:
            pass
        try:
            import cv2
        except ImportError:
            return None
        return cls(lambda batch: Cv2Call(cv2, batch), f"cv2 {cv2.__version__}")

    def fits(self, workload):
        return super().fits(workload) and workload.full and workload.frames == 1 and workload.n <= self.MOST

    def prepare(self, on_device):
        return self.make_call(on_device.batch)


class HostCall:
    captures = False

    def wait(self):
        """Nothing is left to wait for."""


class NativeOpenCv:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.bench_opencv_new.restype = c.c_void_p
        self.lib.bench_opencv_new.argtypes = [c.c_void_p, c.c_void_p, c.c_uint32]
        self.lib.bench_opencv_run.argtypes = [c.c_void_p, c.c_float]
        self.lib.bench_opencv_kept.restype = c.POINTER(c.c_int)
        self.lib.bench_opencv_kept.argtypes = self.lib.bench_opencv_free.argtypes = [c.c_void_p]

    def call(self, batch):
        return NativeOpenCvCall(self.lib, batch)


class NativeOpenCvCall(HostCall):
    def __init__(self, lib, batch):
        self.lib, self.count = lib, 0
        self.frame = lib.bench_opencv_new(batch.boxes.ctypes.data, batch.scores.ctypes.data, len(batch.scores))

    def __del__(self):
        self.lib.bench_opencv_free(self.frame)

    def __call__(self):
        self.count = self.lib.bench_opencv_run(self.frame, reference.THRESHOLD)

    def survivors(self):
        return [np.array(self.lib.bench_opencv_kept(self.frame)[:self.count], np.int64)]


class Cv2Call(HostCall):
    """`overhead`: microseconds that the binding takes to convert its arguments, measured on a call that drops all."""

    def __init__(self, cv2, batch):
        corners = batch.boxes.astype(np.float64)
        self.nms = cv2.dnn.NMSBoxes
        self.boxes = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]).tolist()
        self.scores = batch.scores.tolist()
        self.kept = ()
        dropping = []
        for _ in range(5):
            start = time.perf_counter()
            self.nms(self.boxes, self.scores, float("inf"), reference.THRESHOLD)
            dropping.append((time.perf_counter() - start) * 1e6)
        self.overhead = statistics.median(dropping)

    def __call__(self):
        self.kept = self.nms(self.boxes, self.scores, 0.0, reference.THRESHOLD)

    def survivors(self):
        return [np.asarray(self.kept, np.int64).reshape(-1)]
