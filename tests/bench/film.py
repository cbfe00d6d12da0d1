# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The film that benchmarks run on: FILM, or OpenCV's vtest.avi, which is fetched once."""

import os
import pathlib
import subprocess


def find_film():
    if "FILM" in os.environ:
        return os.environ["FILM"]
    fetch = pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "fetch-film"
    return subprocess.run([fetch], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
