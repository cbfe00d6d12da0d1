#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# STREAMS (32) films at once in one process, on the device: each has exactly the survivors, in order, that it has alone.
# streams.sh [STREAM_DIGEST]; FILM is an H.264 .mp4. Exit status 77: no GPU, or no nvh264dec.
. "$(dirname "$0")/../../../pipelines/env.sh"
digest=${1:-$build/tests/gpu/stream_digest}
STREAMS=${STREAMS:-32}
DETECT=${DETECT:-crowddetect}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6 meta-output=boxes}
OVERLAY=${OVERLAY:-crowdoverlay}

need_gpu
gst-inspect-1.0 nvh264dec >/dev/null 2>&1 || skip "no nvh264dec here"
film=${FILM:-$("$pipelines/fetch-film" h264)}

stream="filesrc location=$film ! qtdemux ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! $DETECT ! $NMS ! $OVERLAY"
alone=$(${RUNNER:-} "$digest" 1 "$stream")
echo "alone: $alone"
together=$(${RUNNER:-} "$digest" "$STREAMS" "$stream")
echo "$STREAMS at once:"
sort <<<"$together" | uniq -c
[ "$(sort -u <<<"$together")" = "$alone" ]
