#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures and tables of what bench_gpu.py wrote; needs matplotlib and no GPU.

usage: plot_gpu.py RESULTS.json FOLDER
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gpu import plots, report  # noqa: E402


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, folder = map(pathlib.Path, sys.argv[1:])
    results = report.Results(json.loads(source.read_text()))
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{source.stem}.md"
    page.write_text(report.page(results))
    for path in [page, *plots.write(results, folder, source.stem)]:
        print(path)


main()
