#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""All methods, rules and ways of merging on a GPU, beside greedy: microseconds a call, back to back in a CUDA graph, and
the ratio to greedy on the same candidates. Checks each answer against the CPU backend first.

    meson compile -C build crowdnms
    tests/bench/bench_gpu_rules.py build/cuda/libcrowdnms.so [--out FILE.md] [--only REGEX]

Needs numpy, PyTorch, and a GPU (exit status 77 without). Exit status 1: an answer was wrong.
"""

import argparse
import datetime
import os
import pathlib
import re
import shlex
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gpu")]
from gpu import workloads  # noqa: E402
from gpu.machine import clocks, modules_for_gpu  # noqa: E402

METHODS = {"soft-linear": 3, "soft-gaussian": 4, "matrix-linear": 5, "matrix-gaussian": 6}
FUSIONS = {"nmw": 7, "wbf": 8}
ADAPTIVE, SET, VISIBLE, FEATURE = range(1, 5)
DIOU = 4
MEAN, WEIGHTED, UNION, VOTE = range(1, 5)
FLOOR = .05  # of scores, in soft methods
BOXES, MEMBERS, REPRESENTATIVES = ("boxes", "scores"), ("members",), ("representatives",)  # outputs beside the indices
FEATURE_LENGTH = 32
GRAPH_CALLS, REPLAYS = 20, 60


def rows():
    """Name, and what is set beside the defaults."""
    yield "greedy", {}
    yield "greedy, members", dict(outputs=MEMBERS)
    yield "greedy, members and representatives", dict(outputs=MEMBERS + REPRESENTATIVES)
    yield "greedy, boxes and scores", dict(outputs=BOXES)
    yield "diou", dict(metric=DIOU)
    yield "adaptive", dict(rule=ADAPTIVE)
    yield "set", dict(rule=SET)
    yield "visible", dict(rule=VISIBLE)
    yield f"feature, {FEATURE_LENGTH} values", dict(rule=FEATURE, min_overlap=.3, max_distance=2.)
    for name, method in METHODS.items():
        yield name, dict(method=method, score_threshold=FLOOR, outputs=BOXES)
    for name, merge in (("mean", MEAN), ("weighted", WEIGHTED), ("union", UNION), ("vote", VOTE)):
        yield f"greedy, merge {name}", dict(merge=merge, outputs=BOXES)
    for name, method in FUSIONS.items():
        yield name, dict(method=method, overlap_threshold=.55, outputs=BOXES)
    yield "greedy, merge weighted, min-members 2", dict(merge=WEIGHTED, min_members=2, outputs=BOXES)


def candidate_sets():
    for n in (200, 1027, 4096):
        yield f"{n} clustered", workloads.clustered(n, **workloads.OSCARS, seed=n)
    yield "4096 uniform", workloads.uniform(4096, **workloads.UHD, seed=1)
    yield "4096, a chain", workloads.chain(4096, 0)
    yield "4096, a pile", workloads.pile(4096, 1)
    yield "16384 clustered", workloads.clustered(16384, faces=588, width=9292, height=3600, seed=3)
    yield "65536 clustered", workloads.clustered(65536, faces=600, width=7680, height=4320, seed=4)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libcrowdnms.so")
    parser.add_argument("--out", type=pathlib.Path, help="Markdown file to write")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows or sets whose SET/ROW it is found in")
    parser.add_argument("--commit", default="not given", help="git commit of the library, for the record")
    return parser.parse_args()


class Run:
    """A call on the GPU, and the same on the CPU."""

    def __init__(self, torch, crowd_nms, library, candidates, settings):
        self.settings = dict(settings)
        self.outputs = self.settings.pop("outputs", ())
        boxes, scores = candidates.boxes, candidates.scores
        n = len(scores)
        random = np.random.default_rng(n)
        extras = {"densities": random.uniform(0, .8, n).astype(np.float32),
                  "proposals": random.integers(0, n // 2, n).astype(np.int32),
                  "visible": (boxes * np.float32(1)).copy(),
                  "features": random.uniform(0, 1, (n, FEATURE_LENGTH)).astype(np.float32)}
        self.params = library.params(**self.settings)
        self.calls = {}
        for device in ("cuda", "cpu"):
            on = {name: torch.from_numpy(array).to(device) for name, array in extras.items()}
            call = crowd_nms.Call(library, self.params, torch.from_numpy(boxes).to(device),
                                  torch.from_numpy(scores).to(device))
            call.extras = on
            for name, array in on.items():
                setattr(call.candidates, name, array.data_ptr())
            call.candidates.feature_length = FEATURE_LENGTH
            for name in self.outputs:
                array = torch.full((n, 4) if name == "boxes" else (n,), -1, device=device,
                                   dtype=torch.float32 if name in BOXES else torch.int32)
                setattr(call, name, array)
                setattr(call.outputs, name, array.data_ptr())
            self.calls[device] = call

    def check(self, torch):
        """What differs, or an empty text."""
        for call in self.calls.values():
            call()
        torch.cuda.synchronize()
        gpu, cpu = self.calls["cuda"], self.calls["cpu"]
        found = [int(call.reports[0, 4]) for call in (gpu, cpu)]
        if found[0] != found[1]:
            return f"{found[0]} survivors, not {found[1]}"
        for name in ("indices", *self.outputs):
            written = None if name == "representatives" else found[0]
            a, b = (getattr(call, name).reshape(-1, 4 if name == "boxes" else 1)[:written].cpu().numpy()
                    for call in (gpu, cpu))
            if a.tobytes() != b.tobytes():
                return f"{name} differ"
        return ""

    def survivors(self):
        return int(self.calls["cpu"].reports[0, 4])

    def time(self, torch):
        """Median microseconds a call."""
        call = self.calls["cuda"]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            call()
            graph = torch.cuda.CUDAGraph()
            stream.synchronize()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(GRAPH_CALLS):
                    call()
            times = []
            for replay in range(REPLAYS):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record(stream)
                graph.replay()
                end.record(stream)
                end.synchronize()
                times.append(begin.elapsed_time(end) * 1e3 / GRAPH_CALLS)
                if sum(times) * GRAPH_CALLS > 3e5:  # of slow ones a few are enough
                    break
        return float(np.median(times))


def environment(torch, options):
    return [f"# Methods, rules and merging on one {torch.cuda.get_device_name()}", "",
            f"{datetime.date.today().isoformat()}, commit {options.commit}, CUDA {torch.version.cuda}, "
            f"`{shlex.join([pathlib.Path(sys.argv[0]).name, *map(os.path.basename, sys.argv[1:])])}`; clocks before: "
            f"{clocks()}", ""]


def main():
    options = arguments()
    torch, crowd_nms = modules_for_gpu("torch", "crowd_nms")
    library = crowd_nms.Library(os.path.realpath(options.library))
    page = environment(torch, options) + [
        "Microseconds a call, back to back in a graph; each answer is the CPU backend's, to the bit.", "",
        "| candidates | row | survivors | µs | of greedy |", "|---|---|---|---|---|"]
    wrong = False
    for name, candidates in candidate_sets():
        greedy = None
        for row, settings in rows():
            if row != "greedy" and not re.search(options.only, f"{name}/{row}"):
                continue
            run = Run(torch, crowd_nms, library, candidates, settings)
            try:
                difference = run.check(torch)
            except RuntimeError as refusal:
                print(f"{name}/{row}: {refusal}", flush=True)
                continue
            wrong |= bool(difference)
            micros = run.time(torch)
            greedy = greedy or micros
            page.append(f"| {name} | {row} | {run.survivors()} | {micros:.2f} | {micros / greedy:.2f} |"
                        + (f" WRONG: {difference}" if difference else ""))
            print(page[-1], flush=True)
    page += ["", f"Clocks after: {clocks()}"]
    if options.out:
        options.out.write_text("\n".join(page) + "\n")
    return 1 if wrong else 0


sys.exit(main())
