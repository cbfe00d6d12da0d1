#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# A synthetic crowd of four times 1920x1080, about 2000 candidates a frame: OUT/mosaic.mp4, at half the size.
. "$(dirname "$0")/env.sh"
FRAMES=${FRAMES:-100}
SEED=${SEED:-1}
BACKEND=${BACKEND:-auto}

gst-crowd-launch videotestsrc num-buffers="$FRAMES" pattern=solid-color foreground-color=0xff203040 ! \
  video/x-raw,format=NV12,width=3840,height=2160,framerate=25/1 ! crowdinject scene=mosaic seed="$SEED" ! \
  crowdnms iou-threshold=0.3 backend="$BACKEND" ! crowdoverlay draw-summary=true ! queue ! videoscale ! \
  video/x-raw,width=1920,height=1080 ! x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! \
  mp4mux faststart=true ! filesink location="$OUT/mosaic.mp4"
