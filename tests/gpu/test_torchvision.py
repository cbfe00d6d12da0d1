#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torchvision as third opinion on a GPU: identical survivor lists on the same device tensors, and the CPU backend's.

On the CPU torchvision compares with the threshold as it is given, a double, and so do both backends; on the GPU it rounds
the threshold to a float first, so there it is asked with one that a float has.

usage: test_torchvision.py libcrowdnms.so    (exit 77: no torchvision or no GPU; CROWD_REQUIRE_GPU=1 makes that fail)
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crowd_nms  # noqa: E402

try:
    import torch
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(1 if os.environ.get("CROWD_REQUIRE_GPU") == "1" else 77)
if not torch.cuda.is_available():
    print("skipped: no CUDA device")
    sys.exit(1 if os.environ.get("CROWD_REQUIRE_GPU") == "1" else 77)

SEED = 20201


def clustered(n, generator):
    faces = max(1, n // 20)
    centre = torch.rand(faces, 2, generator=generator) * torch.tensor([4646.0, 1800.0])
    size = 24 + 66 * torch.rand(faces, generator=generator)
    face = torch.randint(faces, (n,), generator=generator)
    wh = size[face, None] * torch.exp(0.12 * torch.randn(n, 2, generator=generator))
    at = centre[face] + 0.12 * torch.randn(n, 2, generator=generator) * size[face, None] - wh / 2
    return torch.cat([at, at + wh], 1), torch.rand(n, generator=generator)


def uniform(n, generator):
    at = torch.rand(n, 2, generator=generator) * torch.tensor([3744.0, 2064.0])
    wh = 16 + 80 * torch.rand(n, 2, generator=generator)
    return torch.cat([at, at + wh], 1), torch.rand(n, generator=generator)


def tied(n, generator):
    boxes, scores = clustered(n, generator)
    return boxes.round(), (scores * 8).round() / 8


def main():
    library = crowd_nms.Library(sys.argv[1])
    cases = failures = 0
    for make in (clustered, uniform, tied):
        for n in (1, 10, 100, 1027, 2895, 4096, 20000):
            for threshold in (0.3, 0.45, 0.5, 0.6, 0.7):
                generator = torch.Generator().manual_seed(SEED + n)
                on_host = make(n, generator)
                on_device = [t.cuda() for t in on_host]
                rounded = float(torch.tensor(threshold, dtype=torch.float32))
                for theirs, given in ((on_host, threshold), (on_device, rounded)):
                    params = library.params(overlap_threshold=given)
                    expected = torchvision.ops.nms(*theirs, given).cpu()
                    ours = library.survivors(params, *on_device).cpu()
                    on_cpu = library.survivors(params, *on_host)
                    cases += 1
                    if not torch.equal(ours, expected) or not torch.equal(on_cpu, ours):
                        failures += 1
                        print(f"FAILED {make.__name__} n={n} threshold={given!r} seed={SEED + n}: torchvision on "
                              f"{theirs[0].device} {len(expected)}, cuda {len(ours)}, cpu {len(on_cpu)} survivors")
    print(f"torchvision {torchvision.__version__} on {torch.cuda.get_device_name()}: {cases} cases, {failures} differ")
    return 1 if failures or not cases else 0


sys.exit(main())
