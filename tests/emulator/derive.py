#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes C++ of a CUDA source for the emulator: shared memory becomes static or the emulator's, kernel<<<shape>>> a call,
and what is left to Hopper is compiled in. usage: derive.py SOURCE.cu RESULT.cpp"""

import re
import sys

with open(sys.argv[1]) as source:
    text = source.read()
text = re.sub(r"extern __shared__ (\S+) (\w+)\[\];",
              r"auto* const \2 = reinterpret_cast<\1*>(crowd::emulator::shared_memory());", text)
text = text.replace("__shared__ ", "static ")
text = re.sub(r"(\w+)<<<(.*?)>>>", r"crowd::emulator::with_shape(\1, \2)", text, flags=re.DOTALL)
text = text.replace("#if __CUDA_ARCH__ >= 900", "#if 1")
with open(sys.argv[2], "w") as result:
    result.write(f'#line 1 "{sys.argv[1]}"\n{text}')
