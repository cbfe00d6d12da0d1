#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Swaps the method while playing, a second each: OUT/swap-method.mp4. Watch the survivors drop with map-reduce.
. "$(dirname "$0")/env.sh"
FRAMES=${FRAMES:-250}
METHODS=${METHODS:-greedy,map-reduce}

gst-crowd-launch --set nms.method="$METHODS" --every-frames 25 videotestsrc num-buffers="$FRAMES" pattern=solid-color \
  foreground-color=0xff203040 ! video/x-raw,format=I420,width=1920,height=1080,framerate=25/1 ! \
  crowdinject scene=crowd-run ! crowdnms name=nms iou-threshold=0.3 ! crowdoverlay draw-summary=true ! queue ! \
  x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! mp4mux faststart=true ! \
  filesink location="$OUT/swap-method.mp4"
