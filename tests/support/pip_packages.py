# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python packages that tests compare with and Debian 12 does not have: fetched once, into .cache/ or CROWD_CACHE."""

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

CACHE = pathlib.Path(os.environ.get("CROWD_CACHE", pathlib.Path(__file__).resolve().parents[2] / ".cache"))


def fetch(package, version):
    """The module of that name; None where it cannot be had."""
    folder = CACHE / f"{package}-{version}-python{sys.version_info.major}.{sys.version_info.minor}"
    if not (folder / package).is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                                   "--no-input", "--retries", "2", "--no-deps", "--only-binary", ":all:", "--target",
                                   f"{work}/module", f"{package}=={version}"], check=False,
                                  env=os.environ | {"PIP_ROOT_USER_ACTION": "ignore"})
            if done.returncode != 0:
                return None
            if not folder.exists():
                os.rename(f"{work}/module", folder)
    sys.path.append(str(folder))
    return importlib.import_module(package)
