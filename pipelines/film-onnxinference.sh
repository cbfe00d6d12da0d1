#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The film, searched by a network that GStreamer's onnxinference runs: OUT/film-onnxinference.mp4.
# film-onnxinference.sh [person-net|face-net [crowdoverlay|objectdetectionoverlay]]: with the latter crowdnms clusters.
. "$(dirname "$0")/env.sh"
need_onnxinference
FILM=${FILM:-$("$pipelines/fetch-film")}
FRAMES=${FRAMES:-0}
SIZE=${SIZE:-width=1152,height=864}
NETWORK=$(onnxinference "${1:-person-net}")
OVERLAY=${2:-crowdoverlay}
DECODE="crowdtensordec score-threshold=0.25 iou-threshold=0.3"
[ "$OVERLAY" = crowdoverlay ] || DECODE="crowdtensordec score-threshold=0.25 iou-threshold=1 ! crowdnms iou-threshold=0.3"

gst-crowd-launch --frames "$FRAMES" filesrc location="$FILM" ! decodebin ! videoconvert ! $NETWORK ! $DECODE ! \
  videoscale add-borders=false ! video/x-raw,"$SIZE",pixel-aspect-ratio=1/1 ! $OVERLAY ! queue ! videoconvert ! \
  x264enc speed-preset=veryfast ! video/x-h264,profile=high ! h264parse ! mp4mux faststart=true ! \
  filesink location="$OUT/film-onnxinference.mp4"
