#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The synthetic crowd with NMS on the GPU, as quick as it goes: no pictures are made.
. "$(dirname "$0")/env.sh"
need_gpu
FRAMES=${FRAMES:-2000}
SEED=${SEED:-1}

gst-crowd-launch videotestsrc num-buffers="$FRAMES" pattern=solid-color ! \
  video/x-raw,format=NV12,width=3840,height=2160,framerate=25/1 ! crowdinject scene=mosaic seed="$SEED" ! \
  crowdnms iou-threshold=0.3 backend=cuda ! fakesink sync=false
