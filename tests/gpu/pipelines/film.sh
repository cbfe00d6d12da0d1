#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The film from NVDEC to the last element, under the tracer: nothing crosses to the host, our elements neither wait nor allocate.
# film.sh [TRACER]; FILM is an H.264 .mp4, STREAMS how many of it at once. NETWORK, what convert-model takes, searches with
# that network and the properties in DETECT, else DETECT is the whole element. The counts go to OUT. Exit status 77: no
# GPU, or no nvh264dec, or for a network no model or no ONNX Runtime with CUDA.
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
# A skip even where a GPU is required: these are not the GPU's.
no_network() {
  echo "$1" >&2
  exit 77
}

if [ -n "${NETWORK:-}" ]; then
  # shellcheck disable=SC2086
  model=$("$pipelines/convert-model" $NETWORK) || no_network "no model of $NETWORK here"
  DETECT="crowddetect $DETECT model=$model"
  # A frame, to see whether ONNX Runtime can be had.
  said=$(gst-launch-1.0 -q filesrc location="$film" ! qtdemux ! h264parse ! identity eos-after=3 ! nvh264dec ! \
    'video/x-raw(memory:CUDAMemory)' ! $DETECT ! fakesink 2>&1) || case $said in
    *"ONNX Runtime"*LD_LIBRARY_PATH*) no_network "$(grep -m 1 'ONNX Runtime' <<<"$said")" ;;
  esac
fi

stream=(filesrc location="$film" ! qtdemux ! h264parse ! nvh264dec ! 'video/x-raw(memory:CUDAMemory)' ! \
  $DETECT ! $NMS ! $OVERLAY ! fakesink sync=false)
for ((i = 0; i < STREAMS; i++)); do streams+=("${stream[@]}"); done
export CROWD_TRACE_OUT=$OUT/film-$STREAMS.json CROWD_TRACE_START=${CROWD_TRACE_START:-$((100 * STREAMS))}
rm -f "$CROWD_TRACE_OUT"
CUDA_INJECTION64_PATH=$tracer gst-launch-1.0 -q "${streams[@]}"
"$checker" "$CROWD_TRACE_OUT"
