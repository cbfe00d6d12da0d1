#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# An application in Python that reads survivors as GStreamer's analytics metadata and as boxes: read-objects.py.
. "$(dirname "$0")/env.sh"
need_python
need_analytics
"$pipelines/read-objects.py" "${FRAMES:-10}"
