#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The film from NVDEC to the last element, under the tracer: nothing crosses to the host, our elements neither wait nor allocate.
# film.sh [TRACER]; FILM is an H.264 .mp4, STREAMS how many of it at once. The counts go to OUT. Exit status 77: no GPU, or
# no nvh264dec.
. "$(dirname "$0")/../../../pipelines/env.sh"
tracer=$(realpath -m "${1:-$build/tests/gpu/trace/libcrowdtrace.so}")
checker=$(dirname "$0")/../check_trace.py
STREAMS=${STREAMS:-1}
DETECT=${DETECT:-crowddetect}
NMS=${NMS:-crowdnms metric=ios iou-threshold=0.6}
OVERLAY=${OVERLAY:-crowdoverlay draw-summary=true draw-labels=false}

need_gpu
gst-inspect-1.0 nvh264dec >/dev/null 2>&1 || skip "no nvh264dec here"
[ -f "$tracer" ] || skip "no $tracer: this build has no CUPTI"
film=${FILM:-$("$pipelines/fetch-film" h264)}

stream=(filesrc location="$film" ! qtdemux ! h264parse ! nvh264dec ! 'video/x-raw(memory:CUDAMemory)' ! \
  $DETECT ! $NMS ! $OVERLAY ! fakesink sync=false)
for ((i = 0; i < STREAMS; i++)); do streams+=("${stream[@]}"); done
export CROWD_TRACE_OUT=$OUT/film-$STREAMS.json CROWD_TRACE_START=${CROWD_TRACE_START:-$((100 * STREAMS))}
rm -f "$CROWD_TRACE_OUT"
CUDA_INJECTION64_PATH=$tracer gst-launch-1.0 -q "${streams[@]}"
"$checker" "$CROWD_TRACE_OUT"
