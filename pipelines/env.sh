# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Sourced by every pipeline: finds what was built in build/ (or CROWD_BUILD), else what is installed. Results go to the
# folder OUT.
set -euo pipefail
pipelines=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CROWD_BUILD:-$pipelines/../build}
if [ -x "$build/pipelines/gst-crowd-launch" ]; then
  PATH=$build/pipelines:$PATH
  export GST_CROWD_LAYOUTS=$pipelines/../gst-plugin/tensors/layouts
  export GST_PRESET_PATH=$pipelines/../gst-plugin/nms/presets${GST_PRESET_PATH:+:$GST_PRESET_PATH}
  export GST_PLUGIN_PATH=$build/gst-plugin${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  # For programs in Python: the typelib, and the library that it names.
  export GI_TYPELIB_PATH=$build/gst-plugin/lib${GI_TYPELIB_PATH:+:$GI_TYPELIB_PATH}
  export LD_LIBRARY_PATH=$build/gst-plugin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
elif ! command -v gst-crowd-launch >/dev/null; then
  echo "gst-crowd-launch is neither built nor installed: pipelines/run does all it takes" >&2
  exit 1
fi
OUT=${OUT:-out}
mkdir -p "$OUT"

# CHECK=1 only looks whether the pipeline can be made.
[ "${CHECK:-0}" = 1 ] && gst-crowd-launch() { command gst-crowd-launch --check "$@"; }

# Says why and ends the script with status 77, a skip; with 1 if CROWD_REQUIRE_GPU is 1.
skip() {
  echo "$1" >&2
  [ "${CROWD_REQUIRE_GPU:-0}" = 1 ] && exit 1
  exit 77
}

need_gpu() {
  [ -e /dev/nvidiactl ] || [ "${CHECK:-0}" = 1 ] || skip "no NVIDIA GPU here"
}

# Debian's python3 has numpy, GStreamer's bindings and our typelib. CI has to have them, but for the typelib, which builds
# with sanitizers lack.
need_python() {
  [ "${CROWD_CI:-0}" = 1 ] && [ -e "$build/gst-plugin/lib/GstCrowd-1.0.typelib" ] && return
  /usr/bin/python3 -c 'import gi, numpy
gi.require_versions({"Gst": "1.0", "GstVideo": "1.0", "GstCrowd": "1.0"})
from gi.repository import Gst, GstCrowd
Gst.Fraction(1, 2)' 2>/dev/null || skip "no python3-gi, python3-gst-1.0, python3-numpy or typelib of GstCrowd here"
}

# GStreamer's analytics metadata for Python, and elements that write it.
need_analytics() {
  /usr/bin/python3 -c 'import gi
gi.require_versions({"Gst": "1.0", "GstAnalytics": "1.0"})
from gi.repository import GstAnalytics
GstAnalytics.ODMtd.iter_direct_related' 2>/dev/null ||
    skip "no GStreamer 1.24 or later with gir1.2-gst-plugins-bad-1.0 and python3-gst-1.0 here"
}

# What finds people: the person network in tiles, or HOG where its model cannot be had, and a line that says so and why.
people_detector() {
  local network="crowddetect detector=person-net tiles=4x2 tile-overlap=0.3 score-threshold=0.25" model said
  said=$(mktemp)
  if [ "${CHECK:-0}" = 1 ]; then
    echo "$network"
  elif model=$("$pipelines/fetch-model" person-net 2>"$said"); then
    cat "$said" >&2
    echo "$network model=$model"
  else
    echo "HOG searches for people, which finds fewer of them, as there is no network: $(tail -n 1 "$said")" >&2
    echo crowddetect
  fi
  rm "$said"
}

# GStreamer's element that runs networks, and ours that decodes what they give.
need_onnxinference() {
  gst-inspect-1.0 --exists onnxinference && gst-inspect-1.0 --exists crowdtensordec ||
    skip "no onnxinference or no crowdtensordec here: take GStreamer 1.26 or later with its ONNX plugin (Debian 13), and build there"
}

# onnxinference NETWORK [SIZE]: the element with its model, behind what scales frames for it. GStreamer 1.28 reads in the
# .modelinfo beside the model how pictures become the input, 1.26 is told.
onnxinference() {
  local model told= size=${2:-}
  case $1 in
    person-net) size=width=300,height=300 ;; # it takes no other
    face-net) size=${size:-width=1536,height=1152} ;; # faces of the film are small
    *) echo "there is no network $1 for onnxinference: give person-net or face-net" >&2 && exit 2 ;;
  esac
  model=$("$pipelines/convert-model" "$1") || skip "the model of $1 cannot be had"
  if [[ $(gst-inspect-1.0 onnxinference) == *input-tensor-scale* ]]; then
    told=input-image-format=chw
    [ "$1" = face-net ] || told+=" input-tensor-offset=-127.5 input-tensor-scale=127.5"
  fi
  # 1.28 takes rows for packed, which those of memory that elements behind it propose are not.
  echo "videoscale add-borders=false ! video/x-raw,$size ! onnxinference model-file=$model $told \
    optimization-level=enable-all ! identity drop-allocation=true"
}
