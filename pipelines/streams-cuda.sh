#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The film STREAMS times at once on one GPU, as quick as it goes: no films are made. Counts and FRAMES are the first one's.
. "$(dirname "$0")/env.sh"
need_gpu
FILM=${FILM:-$("$pipelines/fetch-film" h264)}
FRAMES=${FRAMES:-0} STREAMS=${STREAMS:-8}
DETECT=${DETECT:-crowddetect}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}

stream=(filesrc location="$FILM" ! qtdemux ! h264parse ! nvh264dec ! 'video/x-raw(memory:CUDAMemory)' ! \
  queue ! $DETECT ! $NMS ! crowdoverlay ! fakesink sync=false)
for ((i = 0; i < STREAMS; i++)); do streams+=("${stream[@]}"); done
gst-crowd-launch --frames "$FRAMES" "${streams[@]}"
