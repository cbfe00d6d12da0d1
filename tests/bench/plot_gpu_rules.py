#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A figure of the page that bench_gpu_rules.py --out wrote: how many times greedy's time each method, rule and way of
merging takes, beside the goals. Needs matplotlib and no GPU.

usage: plot_gpu_rules.py PAGE.md PICTURE.png
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gpu import plots  # noqa: E402

SETS = ("200 clustered", "1027 clustered", "4096 clustered")
LINE = re.compile(r"\| (?P<set>[^|]+) \| (?P<row>[^|]+) \| \d+ \| (?P<micros>[\d.]+) \| (?P<ratio>[\d.]+) \|")


def read(page):
    """(row, microseconds, ratio to greedy) by set of candidates."""
    rows = {name: [] for name in SETS}
    for line in LINE.finditer(page):
        if line["set"] in rows:
            rows[line["set"]].append((line["row"], float(line["micros"]), float(line["ratio"])))
    return rows


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read(pathlib.Path(sys.argv[1]).read_text())
    if not all(rows.values()):
        sys.exit(f"{sys.argv[1]} has no rows of {', '.join(name for name in SETS if not rows[name])}")
    plots.rules(rows).savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
