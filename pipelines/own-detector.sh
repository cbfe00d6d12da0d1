#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# A detector of one's own in Python in front of crowdnms: own-detector.py, which finds a ball. OUT/own-detector.mp4.
. "$(dirname "$0")/env.sh"
need_python
"$pipelines/own-detector.py" "${FRAMES:-100}" "$OUT/own-detector.mp4"
