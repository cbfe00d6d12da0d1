# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Everything that is timed, each as a class that makes calls on the same device buffers."""

import ctypes as c

import crowd_nms
import numpy as np
import torch

from . import reference, workloads
from .cv_cuda import CvCuda
from .opencv import Contender, OpenCv


class OnDevice:
    """A batch in device memory, shared by all contenders."""

    def __init__(self, batch):
        self.batch = batch
        self.boxes = torch.from_numpy(batch.boxes).cuda()
        self.scores = torch.from_numpy(batch.scores).cuda()
        self.counts = None if batch.counts is None else torch.from_numpy(batch.counts).cuda()


class BenchCrowd(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("run", "params", "candidates", "survivors", "workspace")] + [
        ("workspace_bytes", c.c_size_t)]


class BenchBitmask(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("boxes", "scores", "iota", "sorted_scores", "order", "sorted",
                                                "sort_workspace")] + [
        ("sort_workspace_bytes", c.c_size_t)] + [
        (name, c.c_void_p) for name in ("mask", "mask_host", "order_host", "kept", "kept_count")] + [
        ("n", c.c_uint32), ("threshold", c.c_float)]


class BenchPaper(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("d", "s", "matrix", "v")] + [
        (name, c.c_uint32) for name in ("d_max", "extent", "k", "steps")] + [("threshold", c.c_float)]


class NativeCall:
    """A function of the contender library with its context; `survivors` reads what it left."""

    def __init__(self, function, fields, survivors, keep, captures):
        self.run = c.cast(function, c.c_void_p).value
        self.fields = fields
        self.context = c.addressof(fields) if fields is not None else None
        self.survivors = survivors
        self.keep = keep
        self.captures = captures


class Empty(Contender):
    name = "empty kernel"

    def __init__(self, native):
        self.native = native

    def prepare(self, on_device):
        return NativeCall(self.native.bench_empty, None, None, None, captures=True)


class Ours(Contender):
    def __init__(self, native, library, method):
        self.native, self.library = native, library
        self.name = self.expected = method

    def fits(self, workload):
        return self.name != "paper" or workload.frames == 1 and workload.n <= workloads.PAPER_D_MAX

    def prepare(self, on_device):
        batch = on_device.batch
        params = reference.params_for(self.library, self.name)
        if self.name == "paper":
            params.paper_d_max = workloads.PAPER_D_MAX
        call = crowd_nms.Call(self.library, params, on_device.boxes, on_device.scores, counts=on_device.counts,
                              frames=batch.frames, capacity=batch.capacity)
        fields = BenchCrowd(c.cast(self.library.lib.crowd_nms_cuda, c.c_void_p), c.addressof(params),
                            c.addressof(call.candidates), c.addressof(call.outputs), call.workspace,
                            call.workspace_bytes)

        def survivors():
            indices, reports = call.indices.cpu().numpy(), call.reports.cpu().numpy()
            call.indices.fill_(-1)
            call.reports.fill_(-1)
            torch.cuda.synchronize()
            return [row[:max(report[4], 0)].astype(np.int64) for row, report in zip(indices, reports)]

        return NativeCall(self.native.bench_crowd, fields, survivors, call, captures=True)


class PaperKernels(Contender):
    """The paper's two kernels, with D_max = 4096. over: "D_max" (every slot, as the paper says) or "used" (only those
    that hold candidates, as its authors' program does)."""
    expected = "paper"
    groups = ("rows", "other seeds", "raster order", "worst", "flat", "steps")
    ONES, MAP, REDUCE = 1, 2, 4

    def __init__(self, native, k=32, over="D_max", steps=ONES | MAP | REDUCE):
        self.native, self.k, self.over, self.steps = native, k, over, steps
        self.name = "paper's kernels" + ("" if over == "D_max" else ", used slots")
        self.matrix = torch.empty(workloads.PAPER_D_MAX ** 2, dtype=torch.uint8, device="cuda")

    def fits(self, workload):
        return super().fits(workload) and workload.full and workload.n <= workloads.PAPER_D_MAX

    def prepare(self, on_device, k=None, steps=None):
        n, d_max = len(on_device.scores), workloads.PAPER_D_MAX
        d = torch.zeros(d_max, 4, device="cuda")
        s = torch.zeros(d_max, device="cuda")
        v = torch.full((d_max,), -1, dtype=torch.int32, device="cuda")
        d[:n], s[:n] = on_device.boxes, on_device.scores
        extent = d_max if self.over == "D_max" else (n + 15) // 16 * 16
        fields = BenchPaper(d.data_ptr(), s.data_ptr(), self.matrix.data_ptr(), v.data_ptr(), d_max, extent,
                            k or self.k, steps or self.steps, reference.THRESHOLD)

        def survivors():
            kept = np.flatnonzero(v[:n].cpu().numpy() == 1)
            v.fill_(-1)
            torch.cuda.synchronize()
            return [reference.in_rank_order(kept, on_device.batch.scores)]

        return NativeCall(self.native.bench_paper, fields, survivors, (d, s, v), captures=True)


class Bitmask(Contender):
    """The classic kernel with the scan on the host; the mask comes down into pinned memory, which is kind to it."""
    name = "bitmask + host scan"
    expected = "greedy"
    groups = ("rows", "raster order", "worst", "flat", "doubling, same frame", "steps")
    MOST = 65536

    def __init__(self, native):
        self.native = native
        self.native.bench_sort_workspace_bytes.restype = c.c_size_t
        self.mask = self.mask_host = torch.empty(0, dtype=torch.int64)

    def fits(self, workload):
        return super().fits(workload) and workload.full and workload.frames == 1 and workload.n <= self.MOST

    def prepare(self, on_device):
        n = len(on_device.scores)
        words = n * ((n + 63) // 64)
        if self.mask.numel() < words:
            self.mask = torch.empty(words, dtype=torch.int64, device="cuda")
            self.mask_host = torch.empty(words, dtype=torch.int64, pin_memory=True)
        size = self.native.bench_sort_workspace_bytes(n)
        new = dict(device="cuda")
        scratch = (torch.arange(n, dtype=torch.int32, **new), torch.empty(n, **new),
                   torch.empty(n, dtype=torch.int32, **new), torch.empty(n, 4, **new),
                   torch.empty(max(size, 1), dtype=torch.uint8, **new))
        order_host = torch.empty(n, dtype=torch.int32, pin_memory=True)
        kept, count = np.zeros(n, np.uint32), np.zeros(1, np.uint32)
        fields = BenchBitmask(on_device.boxes.data_ptr(), on_device.scores.data_ptr(),
                              *(t.data_ptr() for t in scratch), size, self.mask.data_ptr(), self.mask_host.data_ptr(),
                              order_host.data_ptr(), kept.ctypes.data, count.ctypes.data, n, reference.THRESHOLD)

        def survivors():
            answer = kept[:count[0]].astype(np.int64)
            count[0] = 0
            return [answer]

        keep = (scratch, order_host, kept, count, self.mask, self.mask_host)
        return NativeCall(self.native.bench_bitmask, fields, survivors, keep, captures=False)


class TorchvisionCall:
    """nms, or batched_nms with the frame as the class; the host waits inside for the number of survivors."""
    captures = False

    def __init__(self, on_device, stream, batched):
        import torchvision
        self.batch, self.stream = on_device.batch, stream
        frames = [on_device.batch.frame(f) for f in range(on_device.batch.frames)]
        self.lengths = [len(scores) for _, scores in frames]
        if on_device.batch.counts is None:
            boxes, scores = on_device.boxes, on_device.scores
        else:
            boxes, scores = (torch.from_numpy(np.concatenate(part)).cuda() for part in zip(*frames))
        if batched:
            frame = torch.repeat_interleave(torch.arange(len(frames)), torch.tensor(self.lengths)).cuda()
            self.function = lambda: torchvision.ops.batched_nms(boxes, scores, frame, reference.THRESHOLD)
        else:
            self.function = lambda: torchvision.ops.nms(boxes, scores, reference.THRESHOLD)
        self.kept = None

    def __call__(self):
        with torch.cuda.stream(self.stream):
            self.kept = self.function()

    def wait(self):
        self.stream.synchronize()

    def survivors(self):
        kept, self.kept = self.kept.cpu().numpy(), None
        ends = np.cumsum(self.lengths)
        return [kept[(kept >= end - length) & (kept < end)] - (end - length) for end, length in zip(ends, self.lengths)]


class Torchvision(Contender):
    expected = "greedy"
    MOST = 131072  # candidates of a call: its mask takes memory by the square

    def __init__(self, stream, batched):
        self.stream, self.batched = stream, batched
        self.name = "torchvision batched_nms" if batched else "torchvision nms"
        self.exact = not batched  # it moves frames apart by adding to coordinates
        self.groups = ("rows", "batch", "worst", "flat", "steps") if batched else (
            "rows", "raster order", "worst", "flat", "doubling, same frame", "doubling, same density", "steps")

    def fits(self, workload):
        return super().fits(workload) and workload.n <= self.MOST and (self.batched or workload.frames == 1)

    def prepare(self, on_device):
        return TorchvisionCall(on_device, self.stream, self.batched)


def everybody(native, library, stream, opencv_path):
    everyone = [Empty(native), *(Ours(native, library, method) for method in reference.METHODS),
                Torchvision(stream, batched=False), Torchvision(stream, batched=True), Bitmask(native),
                PaperKernels(native), PaperKernels(native, over="used")]
    return everyone + [it for it in (CvCuda.load(native), OpenCv.load(opencv_path)) if it]
