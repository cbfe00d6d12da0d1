#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# An application of its own, tools/read-survivors.cpp, prints the survivors of each frame of the film as a line of JSON.
. "$(dirname "$0")/env.sh"
FILM=${FILM:-$("$pipelines/fetch-film")}
FRAMES=${FRAMES:-20}
DETECT=${DETECT:-$(people_detector)}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}

gst-crowd-read-survivors --frames "$FRAMES" filesrc location="$FILM" ! decodebin ! videoconvert ! \
  video/x-raw,format=I420 ! queue ! $DETECT ! $NMS ! appsink name=survivors sync=false max-buffers=8
