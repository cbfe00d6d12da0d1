#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# A detector of one's own on the GPU in front of crowdnms: tools/device-detector.cpp, which finds bright blocks.
# OUT/own-detector.mp4; FILM is another film, an .mp4 with H.264; FRAMES ends it early.
. "$(dirname "$0")/env.sh"
need_gpu
FILM=${FILM:-$("$pipelines/fetch-film" h264)}

gst-crowd-device-detector filesrc location="$FILM" ! qtdemux ! h264parse ! nvh264dec ! \
  'video/x-raw(memory:CUDAMemory)' ! identity name=frames eos-after="${FRAMES:--1}" ! crowdnms ! \
  crowdoverlay draw-summary=true ! cudadownload ! queue ! x264enc speed-preset=veryfast ! \
  h264parse ! mp4mux ! filesink location="$OUT/own-detector.mp4"
