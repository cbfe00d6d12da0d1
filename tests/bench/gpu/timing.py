# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long calls take, in microseconds: back to back, and one by one on an idle stream."""

import ctypes as c
import dataclasses
import time

import numpy as np


class BenchCall(c.Structure):
    _fields_ = [("run", c.c_void_p), ("context", c.c_void_p)]


@dataclasses.dataclass
class Effort:
    """What a measurement may spend: microseconds in all, and samples at least and at most."""
    budget: float
    min_samples: int
    max_samples: int

    def samples(self, microseconds, share=1.0):
        return int(np.clip(share * self.budget / max(microseconds, 0.1), self.min_samples, self.max_samples))


THOROUGH = Effort(budget=4e4, min_samples=30, max_samples=200)
QUICK = Effort(budget=1e4, min_samples=5, max_samples=20)
SLOW = 5e3  # a call of more microseconds than this need be sampled SLOW_SAMPLES times only
SLOW_SAMPLES = 3
GRAPH = 1e3  # a captured graph runs for about so long, so that its own launch does not count
GRAPH_CALLS = 64  # but holds no more calls


def summary(times, how):
    times = np.asarray(times, float)
    p5, median, p95 = np.percentile(times, (5, 50, 95))
    return {"median": median, "p5": p5, "p95": p95, "min": times.min(), "max": times.max(), "samples": len(times),
            "how": how}


class Stopwatch:
    """Times calls: those with `run` and `context` by the contender library's stopwatches, other ones from Python."""

    def __init__(self, lib, stream, effort):
        self.lib, self.stream, self.effort = lib, stream, effort
        self.lib.bench_error_text.restype = c.c_char_p
        self.lib.bench_error_text.argtypes = [c.c_int]

    def must(self, error):
        if error:
            raise RuntimeError(self.lib.bench_error_text(error).decode())

    def native(self, calls):
        return (BenchCall * len(calls))(*((call.run, call.context) for call in calls)), len(calls)

    def once(self, calls):
        """Runs each call once; microseconds a call."""
        return self.loop(calls, len(calls), 1)[0]

    def cost(self, calls):
        """A guess at what a call takes, to share out the budget by."""
        return max(self.once(calls), 0.5)

    def samples(self, cost, share=1.0):
        effort = self.effort
        if cost > SLOW:
            effort = dataclasses.replace(effort, min_samples=SLOW_SAMPLES)
        return effort.samples(cost, share)

    def loop(self, calls, calls_a_sample, samples):
        if hasattr(calls[0], "run"):
            times = (c.c_float * samples)()
            self.must(self.lib.bench_loop(*self.native(calls), calls_a_sample, times, samples,
                                          c.c_void_p(self.stream)))
            return list(times)
        turn, times = 0, []
        overhead = np.mean([getattr(call, "overhead", 0) for call in calls])
        for _ in range(samples):
            start = time.perf_counter()
            for _ in range(calls_a_sample):
                calls[turn % len(calls)]()
                turn += 1
            calls[0].wait()
            times.append((time.perf_counter() - start) * 1e6 / calls_a_sample - overhead)
        return times

    def back_to_back(self, calls, cost):
        if not calls[0].captures:
            together = len(calls) if cost < SLOW else 1
            times = self.loop(calls, together, self.samples(cost * together))
            return summary(times, f"host loop, {together} calls a sample")
        captured = int(np.clip(GRAPH / cost, len(calls), GRAPH_CALLS)) // len(calls) * len(calls)
        replays = self.samples(cost * captured)
        times = (c.c_float * replays)()
        self.must(self.lib.bench_graph(*self.native(calls), captured, times, replays, c.c_void_p(self.stream)))
        return summary(times, f"graph of {captured} calls")

    def cold(self, calls, cost):
        """By events and by the host's clock, as two summaries; Python functions by the host's clock alone."""
        samples = self.samples(cost, share=.5)
        if not hasattr(calls[0], "run"):
            return None, summary(self.loop(calls, 1, samples), "host clock")
        events, wall = (c.c_float * samples)(), (c.c_float * samples)()
        self.must(self.lib.bench_cold(*self.native(calls), events, wall, samples, c.c_void_p(self.stream)))
        return summary(events, "events"), summary(wall, "host clock")


def timed(torch, call, times):
    """Microseconds of single calls on the current stream, the least of so many."""
    call()
    best = float("inf")
    for _ in range(times):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3)
    return best
