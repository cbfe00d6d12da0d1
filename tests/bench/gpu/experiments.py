# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is timed: a workload by all contenders, the paper's kernels over k, and the paper's films frame by frame."""

import re
import statistics

from . import reference, timing, workloads
from .contenders import OnDevice, PaperKernels

KS = (4, 8, 16, 32, 64, 128)
OVER = ("D_max", "used")
SLOW_SETS = 2  # that slow calls on the host rotate over


class WrongAnswer(Exception):
    """A contender and the CPU backend differ."""


def check(contender, calls, expected):
    """Compares what the calls left; the number of candidates that differ, over all sets."""
    if contender.expected is None:
        return 0
    answers = [call.survivors() for call in calls]
    wrong = sum(reference.differences(e, a) for e, a in zip(expected[contender.expected], answers))
    if wrong and contender.exact:
        raise WrongAnswer(f"{contender.name} differs from the CPU backend in {wrong} candidates")
    return wrong


def measure(contender, sets, expected, stopwatch, alone=True):
    """One contender on one workload: checked, timed, checked again; a record without names. alone: single calls too."""
    calls = [contender.prepare(sets[0])]
    stopwatch.once(calls)
    cost = stopwatch.cost(calls)
    slow = not calls[0].captures and cost > timing.SLOW
    calls += [contender.prepare(s) for s in sets[1:SLOW_SETS if slow else None]]
    stopwatch.once(calls)
    differing = check(contender, calls, expected)
    record = {"back_to_back": stopwatch.back_to_back(calls, cost)}
    if calls[0].captures:
        check(contender, calls, expected)
    if slow:  # it has been timed one by one already
        record |= {"cold": None, "cold_wall": record["back_to_back"]}
    elif alone:
        record["cold"], record["cold_wall"] = stopwatch.cold(calls, cost)
    if contender.expected:
        record["differing"] = differing
        record["survivors"] = [sum(map(len, answer)) for answer in expected[contender.expected]]
    return record


def run_workload(workload, contenders, library, stopwatch):
    """Yields a record per contender that fits; "wrong" in place of times where the answer is."""
    batches = [workload.make(i) for i in range(workload.sets)]
    fitting = [contender for contender in contenders if contender.fits(workload)]
    methods = {contender.expected for contender in fitting} - {None}
    expected = {method: [reference.on_cpu(library, method, b) for b in batches] for method in methods}
    sets = [OnDevice(b) for b in batches]
    for contender in fitting:
        record = {"group": workload.group, "workload": workload.name, "n": workload.n, "frames": workload.frames,
                  "contender": contender.name}
        try:
            record |= measure(contender, sets, expected, stopwatch)
        except WrongAnswer as wrong:
            record["wrong"] = str(wrong)
        yield record


def time_steps(contender, on_device, stopwatch, k, steps):
    calls = [contender.prepare(on_device, k=k, steps=steps)]
    return stopwatch.back_to_back(calls, stopwatch.cost(calls))["median"]


def sweep_k(native, on_device, stopwatch, over):
    """Map, reduce and both over k, without setting B to ones, which the paper does not count; on one frame, because B
    must be its own."""
    contender = PaperKernels(native, over=over)
    steps = {"map": contender.MAP, "reduce": contender.REDUCE, "total": contender.MAP | contender.REDUCE}
    return {"ones": time_steps(contender, on_device, stopwatch, KS[0], contender.ONES),
            "k": {str(k): {name: time_steps(contender, on_device, stopwatch, k, step) for name, step in steps.items()}
                  for k in KS}}


def run_sweeps(pattern, native, stopwatch):
    """By row of the goals, then by the slots that the kernels are launched over."""
    return {w.name: {over: sweep_k(native, OnDevice(w.make(0)), stopwatch, over) for over in OVER}
            for w in workloads.catalogue("^rows/")
            if w.n <= workloads.PAPER_D_MAX and re.search(pattern, f"k sweep/{w.name}")}


def run_film(name, frames, contenders, library, native, stopwatch):
    """Medians frame by frame, and of the paper's kernels over k the mean of every tenth frame."""
    film = {"n": [], "times": {contender.name: [] for contender in contenders}}
    sweeps = []
    for number, batch in enumerate(workloads.films(frames)[name]):
        on_device = OnDevice(batch)
        film["n"].append(len(batch.scores))
        for contender in contenders:
            expected = {contender.expected: [reference.on_cpu(library, contender.expected, batch)]}
            record = measure(contender, [on_device], expected, stopwatch, alone=False)
            film["times"][contender.name].append(record["back_to_back"]["median"])
        if number % 10 == 0:
            sweeps.append(sweep_k(native, on_device, stopwatch, "D_max")["k"])
    film["k"] = {k: {step: statistics.mean(sweep[k][step] for sweep in sweeps) for step in sweeps[0][k]}
                 for k in sweeps[0]}
    return film
