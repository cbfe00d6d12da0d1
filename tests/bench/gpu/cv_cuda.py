# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CV-CUDA's NMS (PyPI's cvcuda-cu13), by its C functions: its Python ones cannot be captured in a graph. It keeps what
no better box overlaps, as map-reduce does: one pass over all pairs, boxes of 16-bit integers, a mask of survivors."""

import ctypes as c
import pathlib

import numpy as np
import torch

from . import reference
from .opencv import Contender

NO_SCORE = -1.0  # of room without a candidate: CV-CUDA takes no counts
MIN_SCORE = -.5
MAX_RANK = 15
STRIDED_CUDA = 1
# NVCVDataKind and NVCVPacking of the elements.
KINDS = {torch.uint8: (0, 4), torch.int16: (1, 64), torch.float32: (2, 192)}


class Layout(c.Structure):
    _fields_ = [("data", c.c_char * (MAX_RANK + 1)), ("rank", c.c_int32)]


class TensorData(c.Structure):
    """NVCVTensorData."""
    _fields_ = [("dtype", c.c_uint64), ("layout", Layout), ("rank", c.c_int32), ("shape", c.c_int64 * MAX_RANK),
                ("buffer_type", c.c_int), ("strides", c.c_int64 * MAX_RANK), ("base", c.c_void_p)]


class BenchCvCuda(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("submit", "operation", "boxes", "mask", "scores")] + [
        ("min_score", c.c_float), ("threshold", c.c_float)]


def must(status):
    if status:
        raise RuntimeError(f"CV-CUDA: status {status}")


def rounded(boxes):
    """Corners as x, y, width and height of whole pixels."""
    corners = np.rint(boxes)
    return np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]).astype(np.int16)


class CvCuda(Contender):
    name = "CV-CUDA nms"
    expected = "map-reduce"
    exact = False  # coordinates are rounded; of equal scores the larger box wins
    MOST = 131072  # candidates of a frame: time grows with the square

    def __init__(self, native, module):
        self.native, self.how = native, f"cvcuda {module.__version__}"
        libraries = next(pathlib.Path(module.__file__).parent.parent.glob("cvcuda_cu*.libs"))
        self.types = c.CDLL(str(next(libraries.glob("libnvcv_types*"))))
        self.operators = c.CDLL(str(next(libraries.glob("libcvcuda*"))))
        self.operation = c.c_void_p()
        must(self.operators.cvcudaNonMaximumSuppressionCreate(c.byref(self.operation)))

    @classmethod
    def load(cls, native):
        """None without the module."""
        try:
            import cvcuda
        except ImportError:
            return None
        return cls(native, cvcuda)

    def fits(self, workload):
        return super().fits(workload) and workload.n // workload.frames <= self.MOST

    def wrap(self, tensor, layout):
        """A handle of CV-CUDA's tensor in the memory of PyTorch's."""
        data = TensorData(rank=tensor.ndim, buffer_type=STRIDED_CUDA, base=tensor.data_ptr(),
                          layout=Layout(layout, len(layout)))
        must(self.types.nvcvMakeDataType(c.byref(data, TensorData.dtype.offset), *KINDS[tensor.dtype]))
        for k, (extent, stride) in enumerate(zip(tensor.shape, tensor.stride())):
            data.shape[k], data.strides[k] = extent, stride * tensor.element_size()
        handle = c.c_void_p()
        must(self.types.nvcvTensorWrapDataConstruct(c.byref(data), None, None, c.byref(handle)))
        return handle

    def prepare(self, on_device):
        return CvCudaCall(self, on_device.batch)


class CvCudaCall:
    captures = True

    def __init__(self, of, batch):
        self.of, self.batch, self.handles = of, batch, []
        boxes, scores = rounded(batch.boxes).reshape(batch.frames, -1, 4), batch.scores.reshape(batch.frames, -1).copy()
        for f in range(batch.frames):
            scores[f, len(batch.frame(f)[1]):] = NO_SCORE
        self.mask = torch.zeros(scores.shape, dtype=torch.uint8, device="cuda")
        self.tensors = torch.from_numpy(boxes).cuda(), self.mask, torch.from_numpy(scores).cuda()
        for tensor, layout in zip(self.tensors, (b"NWC", b"NW", b"NW")):
            self.handles.append(of.wrap(tensor, layout))
        self.fields = BenchCvCuda(c.cast(of.operators.cvcudaNonMaximumSuppressionSubmit, c.c_void_p), of.operation,
                                  *self.handles, MIN_SCORE, reference.THRESHOLD)
        self.run = c.cast(of.native.bench_cv_cuda, c.c_void_p).value
        self.context = c.addressof(self.fields)

    def __del__(self):
        for handle in self.handles:
            self.of.types.nvcvTensorDecRef(handle, None)

    def survivors(self):
        kept = [np.flatnonzero(row) for row in self.mask.cpu().numpy()]
        self.mask.zero_()
        torch.cuda.synchronize()
        return [reference.in_rank_order(its, self.batch.frame(f)[1]) for f, its in enumerate(kept)]
