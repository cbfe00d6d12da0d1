#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# film.sh on the GPU: decoded, searched, clustered and drawn in device memory. The host only encodes: OUT/film-cuda.mp4.
# FILM is another film, an .mp4 with H.264; FRAMES ends it early.
. "$(dirname "$0")/env.sh"
need_gpu
FILM=${FILM:-$("$pipelines/fetch-film" h264)}
FRAMES=${FRAMES:-0}
DETECT=${DETECT:-crowddetect}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}

gst-crowd-launch --frames "$FRAMES" filesrc location="$FILM" ! qtdemux ! h264parse ! nvh264dec ! \
  'video/x-raw(memory:CUDAMemory)' ! $DETECT ! $NMS ! crowdoverlay draw-summary=true draw-labels=false ! \
  cudadownload ! queue ! x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! \
  mp4mux faststart=true ! filesink location="$OUT/film-cuda.mp4"
