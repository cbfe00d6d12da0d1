# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CPU backend's answers, and how far another answer is from them."""

import ctypes as c

import crowd_nms
import numpy as np

METHODS = {"greedy": crowd_nms.GREEDY, "map-reduce": crowd_nms.MAP_REDUCE, "paper": crowd_nms.PAPER}
THRESHOLD = 0.5


def params_for(library, method):
    """In method paper an overlap of exactly the threshold suppresses: the comparator is ignored."""
    return library.params(method=METHODS[method], overlap_threshold=THRESHOLD)


class HostCall:
    """A call of crowd_nms_cpu() without arguments on numpy arrays. Outputs: survivors, a row a frame, and reports."""

    def __init__(self, library, params, boxes, scores, classes=None, counts=None, frames=1):
        capacity = len(scores) // frames
        self.library, self.params, self.inputs = library, params, (boxes, scores, classes, counts)
        self.survivors = np.zeros((frames, capacity), np.uint32)
        self.reports = np.zeros((frames, crowd_nms.REPORT_FIELDS), np.uint32)
        data = [None if a is None else a.ctypes.data for a in (boxes, scores, classes, None, counts)]
        self.candidates = crowd_nms.Candidates(*data, frames, capacity)
        self.outputs = crowd_nms.Survivors(self.survivors.ctypes.data, None, None, self.reports.ctypes.data, capacity)
        self.bytes = library.lib.crowd_nms_cpu_workspace_bytes(c.byref(params), frames, capacity)
        self.memory = np.empty(self.bytes + 64, np.uint8)

    def __call__(self):
        workspace = (self.memory.ctypes.data + 63) // 64 * 64
        self.library.check(self.library.lib.crowd_nms_cpu(c.byref(self.params), c.byref(self.candidates),
                                                          c.byref(self.outputs), workspace, self.bytes))

    def found(self):
        """Survivors in rank order, an array a frame."""
        return [row[:report[4]].astype(np.int64) for row, report in zip(self.survivors, self.reports)]


def on_cpu(library, method, batch):
    """Survivors in rank order, an array a frame, of crowd_nms_cpu()."""
    call = HostCall(library, params_for(library, method), batch.boxes, batch.scores, counts=batch.counts,
                    frames=batch.frames)
    call()
    return call.found()


def in_rank_order(kept, scores):
    """Indices of survivors, the best first."""
    return kept[np.lexsort((kept, -scores[kept]))]


def differences(expected, got):
    """How many candidates two answers disagree on, over all frames; a different order of the same ones counts as 1."""
    if len(expected) != len(got):
        raise ValueError(f"{len(expected)} frames expected, {len(got)} given")
    return sum(0 if np.array_equal(e, g) else max(1, len(np.setxor1d(e, g))) for e, g in zip(expected, got))
