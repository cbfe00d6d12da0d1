#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# OpenCV's film of pedestrians with one box around each: OUT/film.mp4. FILM is another film, FRAMES ends it early.
. "$(dirname "$0")/env.sh"
FILM=${FILM:-$("$pipelines/fetch-film")}
FRAMES=${FRAMES:-0}
DETECT=${DETECT:-$(people_detector)}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}

gst-crowd-launch --frames "$FRAMES" filesrc location="$FILM" ! decodebin ! videoconvert ! \
  video/x-raw,format=I420 ! queue ! $DETECT ! queue ! $NMS ! \
  crowdoverlay draw-summary=true draw-labels=false ! queue ! \
  x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! mp4mux faststart=true ! \
  filesink location="$OUT/film.mp4"
