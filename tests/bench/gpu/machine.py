# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a benchmark says of the machine it runs on."""

import importlib
import os
import subprocess
import sys


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(1 if os.environ.get("CROWD_REQUIRE_GPU") == "1" else 77)


def modules_for_gpu(*names):
    """The modules of these names; skips where one is missing, or where PyTorch has no GPU."""
    try:
        modules = [importlib.import_module(name) for name in names]
        import torch
    except ImportError as missing:
        skip(missing)
    if not torch.cuda.is_available():
        skip("no CUDA device")
    return modules


def clocks():
    fields = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,temperature.gpu,power.draw"
    answer = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True,
                            text=True, check=True).stdout.splitlines()[0]
    return dict(zip(fields.split(","), answer.split(", ")))
