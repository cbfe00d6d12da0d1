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


def on_cpu(library, method, batch):
    """Survivors in rank order, an array a frame, of crowd_nms_cpu()."""
    params = params_for(library, method)
    survivors = np.zeros((batch.frames, batch.capacity), np.uint32)
    reports = np.zeros((batch.frames, crowd_nms.REPORT_FIELDS), np.uint32)
    candidates = crowd_nms.Candidates(batch.boxes.ctypes.data, batch.scores.ctypes.data, None, None,
                                      None if batch.counts is None else batch.counts.ctypes.data, batch.frames,
                                      batch.capacity)
    outputs = crowd_nms.Survivors(survivors.ctypes.data, None, None, reports.ctypes.data, batch.capacity)
    size = library.lib.crowd_nms_cpu_workspace_bytes(c.byref(params), batch.frames, batch.capacity)
    memory = np.empty(size + 64, np.uint8)
    workspace = (memory.ctypes.data + 63) // 64 * 64
    library.check(library.lib.crowd_nms_cpu(c.byref(params), c.byref(candidates), c.byref(outputs), workspace, size))
    return [row[:report[4]].astype(np.int64) for row, report in zip(survivors, reports)]


def differences(expected, got):
    """How many candidates two answers disagree on, over all frames; a different order of the same ones counts as 1."""
    if len(expected) != len(got):
        raise ValueError(f"{len(expected)} frames expected, {len(got)} given")
    return sum(0 if np.array_equal(e, g) else max(1, len(np.setxor1d(e, g))) for e, g in zip(expected, got))
