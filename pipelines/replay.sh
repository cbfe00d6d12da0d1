#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Clusters recorded candidates, a MOTChallenge det.txt or JSON lines, over the film they are from: OUT/replay.mp4.
. "$(dirname "$0")/env.sh"
FILM=${FILM:-$("$pipelines/fetch-film")}
FRAMES=${FRAMES:-10}
DETECTIONS=${DETECTIONS:-$pipelines/vtest-det.txt}

gst-crowd-launch --frames "$FRAMES" filesrc location="$FILM" ! decodebin ! videoconvert ! \
  video/x-raw,format=I420 ! crowdinject location="$DETECTIONS" ! crowdnms iou-threshold=0.3 ! \
  crowdoverlay draw-summary=true ! x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! \
  mp4mux faststart=true ! filesink location="$OUT/replay.mp4"
