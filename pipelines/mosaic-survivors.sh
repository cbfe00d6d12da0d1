#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Prints the survivors of a synthetic crowd as lines of JSON; the same for every BACKEND: auto, cpu or cuda.
. "$(dirname "$0")/env.sh"
FRAMES=${FRAMES:-300}
SEED=${SEED:-1}
BACKEND=${BACKEND:-auto}

gst-crowd-read-survivors videotestsrc num-buffers="$FRAMES" pattern=solid-color ! \
  video/x-raw,format=NV12,width=3840,height=2160,framerate=25/1 ! crowdinject scene=mosaic seed="$SEED" ! \
  crowdnms backend="$BACKEND" ! appsink name=survivors sync=false max-buffers=8
