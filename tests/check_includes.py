#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes point down: fails on one that runs up or sideways between the layers of cuda/ and gst-plugin/.

usage: check_includes.py [SOURCE_ROOT]   or   check_includes.py --self-test
"""

import pathlib
import re
import sys
import tempfile

# A folder and what it may include beside itself and what lies in it. The first that matches a file is its layer.
LAYERS = {
    "cuda/include": [],
    "cuda/core": ["cuda/include"],
    "cuda/cpu": ["cuda/core", "cuda/include"],
    "cuda/kernels/direct": ["cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels/staged": ["cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels/paper": ["cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels/soft": ["cuda/kernels/staged", "cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels/fusion": ["cuda/kernels/staged", "cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels/merge": ["cuda/kernels", "cuda/core", "cuda/include"],
    "cuda/kernels": ["cuda/core", "cuda/include"],
    "cuda/api": ["cuda/cpu", "cuda/kernels", "cuda/core", "cuda/include"],
    "gst-plugin/lib": [],
    "gst-plugin/base": ["gst-plugin/lib", "cuda/include"],
    "gst-plugin/gpu": ["gst-plugin/base", "gst-plugin/lib", "cuda/include"],
    "gst-plugin/tensors": ["gst-plugin/gpu", "gst-plugin/base", "gst-plugin/lib", "cuda/include"],
    "gst-plugin/meta": ["gst-plugin/gpu", "gst-plugin/base", "gst-plugin/lib", "cuda/include"],
    "gst-plugin/cluster": ["gst-plugin/meta", "gst-plugin/gpu", "gst-plugin/base", "gst-plugin/lib", "cuda/include"],
    "gst-plugin/plugin.cpp": [],
    "pipelines": ["gst-plugin/lib", "cuda/include"],
}
# What no other layer has claimed under gst-plugin/ is the folder of an element.
ELEMENT = ["gst-plugin/cluster", "gst-plugin/meta", "gst-plugin/tensors", "gst-plugin/gpu", "gst-plugin/base",
           "gst-plugin/lib", "cuda/include"]

# Where #include "..." is looked up, beside the folder of the file.
ROOTS = ["cuda", "cuda/include", "gst-plugin", "gst-plugin/lib", "pipelines/tools"]
SOURCES = (".c", ".cpp", ".cu", ".cuh", ".h", ".hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def layer_of(path):
    """The layer of a file, as a path relative to the root, and the layers it may use."""
    for folder, below in LAYERS.items():
        if path == folder or path.startswith(folder + "/"):
            return folder, below
    parts = path.split("/")
    if parts[0] == "gst-plugin" and len(parts) > 2:
        return "/".join(parts[:2]), ELEMENT
    return None, []


def find(root, source, name):
    """The file of this tree that an include names, relative to the root; None for those of others."""
    for folder in [source.parent] + [root / r for r in ROOTS]:
        file = (folder / name).resolve()
        if file.is_file() and file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return None


def check(root):
    """The faults of a tree, one line each, and how many includes were looked at."""
    root = root.resolve()
    faults = []
    seen = 0
    sources = [f for top in ("cuda", "gst-plugin", "pipelines") for f in sorted((root / top).rglob("*"))]
    for source in (f for f in sources if f.suffix in SOURCES):
        path = source.relative_to(root).as_posix()
        layer, below = layer_of(path)
        if layer is None:
            faults.append(f"{path}: lies in no layer; see {pathlib.Path(__file__).name}")
            continue
        for name in INCLUDE.findall(source.read_text(encoding="utf-8")):
            target = find(root, source, name)
            if target is None:
                continue
            seen += 1
            its_layer = layer_of(target)[0]
            if its_layer != layer and its_layer not in below:
                faults.append(f"{path}: includes {target}, which {layer}/ must not use")
    return faults, seen


def self_test():
    """Each of these trees has one fault, and it is found."""
    good = {
        "cuda/include/crowd/nms.h": "",
        "cuda/core/order.hpp": '#include "crowd/nms.h"\n',
        "cuda/kernels/launch.cuh": '#include "core/order.hpp"\n',
        "gst-plugin/lib/gst/crowd/meta.h": "",
        "gst-plugin/gpu/device.hpp": "#include <gst/crowd/meta.h>\n",
        "gst-plugin/nms/properties.hpp": '#include "gpu/device.hpp"\n#include <crowd/nms.h>\n',
        "gst-plugin/overlay/overlay.cpp": '#include "overlay/overlay.hpp"\n#include <vector>\n',
        "gst-plugin/overlay/overlay.hpp": "",
    }
    bad = {
        "an element that includes another's file": ("gst-plugin/overlay/overlay.cpp", '#include "nms/properties.hpp"'),
        "a plugin that looks into the library": ("gst-plugin/gpu/device.hpp", '#include "core/order.hpp"'),
        "a lower layer that includes a higher one": ("cuda/core/order.hpp", '  #  include "kernels/launch.cuh"'),
        "a library that includes a plugin": ("cuda/kernels/launch.cuh", "#include <gst/crowd/meta.h>"),
        "a file in no layer": ("cuda/loose.hpp", ""),
    }
    failed = 0
    for name, change in {"no fault": None, **bad}.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {**good, **({change[0]: change[1]} if change else {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            (root / "pipelines").mkdir()
            faults, _ = check(root)
        if len(faults) != (1 if change else 0):
            failed += 1
            print(f"{name}: {faults}")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test() else 0)
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    faults, seen = check(root)
    print(*faults, sep="\n")
    if seen < 100:
        faults.append("few")
        print(f"only {seen} includes were found: is this the root of the sources?")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
