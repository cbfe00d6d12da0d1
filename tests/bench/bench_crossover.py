#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where the GPU overtakes the CPU on host buffers: a session of each backend on the same candidates, survivors and
members wanted, results compared, medians of 300 calls. Chose gpu_crossover in gst-plugin/cluster/backends.hpp.

usage: bench_crossover.py libcrowdnms.so    (needs a GPU, numpy)
"""

import ctypes as c
import os
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
import crowd_nms  # noqa: E402

CALLS = 300
SIZES = (100, 250, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 16000)


def crowd(n, random):
    """Windows jittered by 12 % around n / 20 faces of 24 to 90 pixels."""
    faces = max(1, n // 20)
    centre = random.uniform((40, 40), (4606, 1760), (faces, 2))
    face = random.integers(0, faces, n)
    size = random.uniform(24, 90, faces)[face]
    side = size * np.exp(random.normal(0, .12, n))
    at = centre[face] + random.normal(0, .12, (n, 2)) * size[:, None] - side[:, None] / 2
    return np.hstack([at, at + side[:, None]]), random.uniform(.5, 1, n)


def uniform(n, random):
    at = random.uniform((0, 0), (3744, 2064), (n, 2))
    return np.hstack([at, at + random.uniform(16, 96, (n, 2))]), random.uniform(0, 1, n)


def run(library, session, params, boxes, scores):
    n = len(scores)
    survivors, members, report = (np.zeros(k, np.uint32) for k in (n, n, crowd_nms.REPORT_FIELDS))
    classes = np.zeros(n, np.int32)
    candidates = crowd_nms.Candidates(boxes.ctypes.data, scores.ctypes.data, classes.ctypes.data, None, None, 1, n)
    outputs = crowd_nms.Survivors(survivors.ctypes.data, members.ctypes.data, None, report.ctypes.data, n)
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        status = library.lib.crowd_nms_session_run(session, c.byref(params), c.byref(candidates), c.byref(outputs))
        seconds.append(time.perf_counter() - start)
        library.check(status)
    return np.median(seconds) * 1e6, np.concatenate([survivors, members, report])


def main():
    library = crowd_nms.Library(sys.argv[1])
    library.lib.crowd_nms_session_new.argtypes = [c.c_int, c.c_void_p, c.c_uint32, c.c_uint32, c.POINTER(c.c_void_p)]
    library.lib.crowd_nms_session_run.argtypes = [c.c_void_p, c.POINTER(crowd_nms.Params),
                                                  c.POINTER(crowd_nms.Candidates), c.POINTER(crowd_nms.Survivors)]
    sessions = []
    for backend in range(2):
        session = c.c_void_p()
        library.check(library.lib.crowd_nms_session_new(backend, None, 1, max(SIZES), c.byref(session)))
        sessions.append(session)
    print(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm", "--format=csv,noheader"],
                         capture_output=True, text=True, check=True).stdout.strip())
    params = library.params()
    for make in (crowd, uniform):
        for n in SIZES:
            boxes, scores = (np.ascontiguousarray(a, np.float32) for a in make(n, np.random.default_rng(n)))
            (cpu, on_cpu), (gpu, on_gpu) = (run(library, s, params, boxes, scores) for s in sessions)
            assert (on_cpu == on_gpu).all(), f"{make.__name__} n={n}: the backends differ"
            print(f"{make.__name__:8s} {n:6d}  cpu {cpu:7.0f} us  gpu {gpu:7.0f} us")


main()
