#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# One frame of the film, with all raw windows and with what NMS leaves of them: OUT/before.png, after.png and, side by
# side, before-after.png. FROM and TO enclose the frame, in seconds.
. "$(dirname "$0")/env.sh"
FILM=${FILM:-$("$pipelines/fetch-film")}
FROM=${FROM:-30.0} TO=${TO:-30.1} WIDTH=${WIDTH:-768}
DETECT=${DETECT:-$(people_detector)}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}

gst-crowd-launch --quiet --from "$FROM" --to "$TO" filesrc location="$FILM" ! decodebin ! videoconvert ! \
  video/x-raw,format=RGB ! $DETECT ! tee name=frame \
  frame. ! queue ! crowdoverlay show=candidates draw-summary=true ! tee name=before \
  frame. ! queue ! $NMS ! crowdoverlay draw-summary=true draw-labels=false ! tee name=after \
  compositor name=both sink_1::xpos="$WIDTH" ! videoconvert ! pngenc ! filesink location="$OUT/before-after.png" \
  before. ! queue ! both.sink_0 before. ! queue ! pngenc ! filesink location="$OUT/before.png" \
  after. ! queue ! both.sink_1 after. ! queue ! pngenc ! filesink location="$OUT/after.png"
