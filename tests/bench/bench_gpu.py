#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""NMS on a GPU beside everything a user would otherwise run, in one process on the same device buffers: checks every
answer against the CPU backend, then times it back to back in a CUDA graph and as a single call on an idle stream.

    meson compile -C build crowdnms benchcontenders
    tests/bench/bench_gpu.py build/cuda/libcrowdnms.so build/tests/bench/libbenchcontenders.so --out tests/bench/results
    tests/bench/plot_gpu.py tests/bench/results/GPU-DATE.json tests/bench/results

Needs numpy, PyTorch with torchvision, and a GPU (exit status 77 without). OpenCV comes from libbenchopencv.so beside
the contenders, or from Python's cv2; CV-CUDA from Python's cvcuda. Exit status 1: an answer was wrong.
"""

import argparse
import ctypes
import datetime
import os
import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gpu")]
from gpu.machine import clocks, modules_for_gpu  # noqa: E402


# Contenders that are there if they can be loaded, and from where.
LOADED = {"CV-CUDA": "no Python module cvcuda (PyPI's cvcuda-cu13)",
          "OpenCV": "neither libbenchopencv.so nor Python's cv2"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libcrowdnms.so")
    parser.add_argument("contenders", help="libbenchcontenders.so")
    parser.add_argument("--out", type=pathlib.Path, help="folder to write GPU-DATE.json to")
    parser.add_argument("--quick", action="store_true", help="few samples and frames: a trial, not a measurement")
    parser.add_argument("--only", default="", metavar="REGEX", help="workloads whose group/name it is found in")
    parser.add_argument("--contenders", dest="names", metavar="NAME,NAME", help="only contenders of these names")
    parser.add_argument("--commit", help="git commit of the library, for the record")
    return parser.parse_args()


def environment(torch, torchvision, options, versions):
    return {"gpu": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(),
            "command": shlex.join([x if x == options.only else os.path.basename(x) for x in sys.argv]),
            "library": os.path.basename(os.path.realpath(options.library)), "commit": options.commit or "not given",
            "cuda": torch.version.cuda, "torch": torch.__version__, "torchvision": torchvision.__version__,
            **versions, "clocks before": clocks()}


def show(record):
    if "wrong" in record:
        return f"  {record['contender']:28s} WRONG: {record['wrong']}"
    back, cold, wall = (record[what] for what in ("back_to_back", "cold", "cold_wall"))
    single = "         –" if cold is None else f"{cold['median']:10.2f}"
    return (f"  {record['contender']:28s} {back['median']:10.2f} [{back['p5']:.2f} {back['p95']:.2f}] single {single} "
            f"by events, {wall['median']:10.2f} on the host; {back['how']}"
            + (f"; differs in {record['differing']}" if record.get("differing") else ""))


def main():
    options = arguments()
    torch, torchvision, crowd_nms = modules_for_gpu("torch", "torchvision", "crowd_nms")
    from gpu import contenders, experiments, report, timing, workloads

    library = crowd_nms.Library(os.path.realpath(options.library))
    native = ctypes.CDLL(os.path.realpath(options.contenders))
    stream = torch.cuda.Stream()
    stopwatch = timing.Stopwatch(native, stream.cuda_stream, timing.QUICK if options.quick else timing.THOROUGH)
    opencv_path = str(pathlib.Path(options.contenders).resolve().parent / "libbenchopencv.so")
    everybody = contenders.everybody(native, library, stream, opencv_path)
    chosen = [x for x in everybody if not options.names or x.name in options.names.split(",")]
    versions = {name: next((x.how for x in everybody if x.name.startswith(name)), None) for name in LOADED}
    for name, how in versions.items():
        if how is None:
            print(f"{name} is left out: {LOADED[name]} can be loaded")

    written = {"environment": environment(torch, torchvision, options, versions), "records": [], "sweeps": {},
               "films": {}}
    for workload in workloads.catalogue(options.only):
        print(f"{workload.group}: {workload.name}, {workload.frames} x {workload.n // workload.frames}", flush=True)
        for record in experiments.run_workload(workload, chosen, library, stopwatch):
            written["records"].append(record)
            print(show(record), flush=True)
    written["sweeps"] = experiments.run_sweeps(options.only, native, stopwatch)
    in_films = [x for x in chosen if x.name in ("greedy", "map-reduce", "torchvision nms", "paper's kernels")]
    for name in ("crowd_run", "mosaic"):
        if re.search(options.only, f"film/{name}"):
            print(f"film: {name}", flush=True)
            film = experiments.run_film(name, 11 if options.quick else 101, in_films, library, native, stopwatch)
            written["films"][name] = film
    written["environment"]["clocks after"] = clocks()

    results = report.Results(written)
    print(report.page(results))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        gpu = written["environment"]["gpu"].lower().replace(" ", "-")
        stem = options.out / f"{gpu}-{written['environment']['date']}"
        stem.with_suffix(".json").write_text(report.as_json(written))
    return 1 if any("wrong" in record for record in written["records"]) else 0


sys.exit(main())
