#!/bin/sh
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Runs a test in the Python that has pycocotools: CROWD_EVAL_PYTHON, where it is set.
exec "${CROWD_EVAL_PYTHON:-python3}" "$@"
