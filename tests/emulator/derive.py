#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes C++ of a CUDA source, or of memory.cuh, for the emulator: shared memory becomes the emulator's, a kernel tells
its name, kernel<<<shape>>> becomes a call, an access to a volatile word one of the emulator's, and what is left to
Hopper is compiled in. Fails on what it would leave as it is. usage: derive.py SOURCE RESULT"""

import re
import sys


def shared_variables(match):
    """A struct for a declaration's variables, which every block has one of, and a reference to each of them."""
    declaration, variables = match.group(0)[len("__shared__ "):], match.group(2)
    names = [re.match(r"\w+", variable.strip()).group(0) for variable in variables.split(",")]
    holder = f"{names[0]}_of_block"
    references = " ".join(f"auto& {name} = {holder}_memory.{name};" for name in names)
    return (f"struct {holder} {{ {declaration} }}; "
            f"auto& {holder}_memory = crowd::emulator::shared_variable<{holder}>(); {references}")


RULES = [
    (r"extern __shared__ (\S+) (\w+)\[\];",
     r"auto* const \2 = reinterpret_cast<\1*>(crowd::emulator::shared_memory());"),
    # A type without blanks but for typename, names with or without extents.
    (r"__shared__ ((?:typename )?\S+) (\w+(?:\[[^\]]*\])*(?:, \w+(?:\[[^\]]*\])*)*);", shared_variables),
    (r"(__global__ [^;{}]*\) \{)", r"\1 crowd::emulator::begin_kernel(__PRETTY_FUNCTION__);"),
    (r"(\w+)<<<(.*?)>>>", r"crowd::emulator::with_shape(\1, \2)"),
    (r"\*static_cast<const volatile [^>]*>\((\w+)\);", r"crowd::emulator::load(\1);"),
    (r"\*static_cast<volatile [^>]*>\((\w+)\) = ([^;]*);", r"crowd::emulator::store(\1, \2);"),
    (r"#if __CUDA_ARCH__ >= 900", "#if 1"),
]
LEFT = re.compile(r"__shared__ |<<<|__global__ [^;{}]*\{(?! crowd)|<(const )?volatile")

with open(sys.argv[1]) as source:
    text = source.read()
for pattern, replacement in RULES:
    text = re.sub(pattern, replacement, text, flags=re.DOTALL)
left = LEFT.search(re.sub("//.*", "", text))
if left:
    sys.exit(f"{sys.argv[1]}: derive.py has no rule for {text[left.start():].splitlines()[0]!r}")
with open(sys.argv[2], "w") as result:
    result.write(f'#line 1 "{sys.argv[1]}"\n{text}')
