#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# 4096 candidates a frame, clustered and drawn in device memory, as quick as it goes: no film is made.
. "$(dirname "$0")/env.sh"
need_gpu
FRAMES=${FRAMES:-2000}
SEED=${SEED:-1}

gst-crowd-launch videotestsrc num-buffers="$FRAMES" pattern=solid-color ! \
  video/x-raw,format=NV12,width=3840,height=2160,framerate=25/1 ! cudaupload ! \
  'video/x-raw(memory:CUDAMemory)' ! crowdinject scene=mosaic candidates=4096 seed="$SEED" ! \
  crowdnms iou-threshold=0.3 backend=cuda ! crowdoverlay draw-summary=true ! fakesink sync=false
