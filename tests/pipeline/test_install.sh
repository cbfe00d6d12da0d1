#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# What meson install puts where it belongs works from there: elements, tools, headers and pkg-config files.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1

install_it() {
  meson install -C "$CROWD_BUILD" --no-rebuild --quiet --destdir "$work/root"
  prefix=$work/root$(sed -n 's/^prefix=//p' "$(find "$work/root" -name crowd-nms.pc)")
  libraries=$(dirname "$(find "$work/root" -name 'libcrowdnms.so')")
  plugins=$(dirname "$(find "$work/root" -name 'libgstcrowd.so')")
}

has_files() {
  local file
  for file in "$libraries"/{libcrowdnms.so,libgstcrowd-1.0.so,pkgconfig/crowd-nms.pc,pkgconfig/gstreamer-crowd-1.0.pc} \
    "$plugins/libgstcrowd.so" "$prefix/include/crowd/nms.h" \
    "$prefix"/include/gstcrowd-1.0/gst/crowd/gstcrowd{boxesbytes,boxesmeta,prelude,version}.h \
    "$prefix"/bin/gst-crowd-{launch,read-survivors,fetch-model,convert-model,eval} "$prefix/share/gst-crowd/pipelines/film.sh" \
    "$prefix/share/gstreamer-1.0/presets/GstCrowdNms.prs"; do
    [ -e "$file" ] || { echo "no $file"; return 1; }
  done
}

# speaks_python: this python3 has PyGObject and GStreamer's bindings. CI has to have them.
speaks_python() {
  [ "${CROWD_CI:-0}" = 1 ] && return
  /usr/bin/python3 -c 'import gi; gi.require_version("Gst", "1.0"); from gi.repository import Gst' ||
    { echo "no bindings of GStreamer for Python"; return 77; }
}

# What is found in its folder alone.
typelib_works() {
  local gir=$prefix/share/gir-1.0/GstCrowd-1.0.gir typelibs=$libraries/girepository-1.0
  [ "${CROWD_CI:-0}" = 1 ] || [ -e "$gir" ] || { echo "this build has no introspection"; return 77; }
  [ -e "$gir" ] && [ -e "$typelibs/GstCrowd-1.0.typelib" ] || { echo "no GIR or no typelib"; return 1; }
  grep -q '<package name="gstreamer-crowd-1.0"/>' "$gir" || { echo "the GIR does not name the package"; return 1; }
  speaks_python || return
  env -u GST_PLUGIN_PATH_1_0 GI_TYPELIB_PATH="$typelibs" LD_LIBRARY_PATH="$libraries" /usr/bin/python3 typelib.py \
    "$(pkg-config --modversion gstreamer-crowd-1.0)"
}

# Its modules are found beside it.
installed_eval() {
  /usr/bin/python3 -c 'import numpy' || { echo "no numpy"; return 77; }
  echo 1,-1,0,0,40,100,1 >one.txt
  # Not -q, which closes the pipe that the program may still write to.
  /usr/bin/python3 "$prefix/bin/gst-crowd-eval" one.txt one.txt --metric coco | grep '^COCO AP (maxDets 1000) *1.0000$' >/dev/null
}

# Likewise, among the programs and among the pipelines.
installed_convert_model() {
  fails_with 1 "usage: convert-model" /usr/bin/python3 "$prefix/bin/gst-crowd-convert-model" &&
    fails_with 1 "usage: convert-model" /usr/bin/python3 "$prefix/share/gst-crowd/pipelines/convert-model"
}

# Other packages have programs called launch or detector: all of ours begin with gst-crowd-.
has_names_of_its_own() {
  local others
  others=$(find "$prefix/bin" -type f ! -name 'gst-crowd-*')
  [ -z "$others" ] || { echo "$others"; return 1; }
}

# The pkg-config files name the final place: make them name this one.
use_here() {
  mkdir -p pc
  for file in "$libraries"/pkgconfig/*.pc; do
    sed "s|^prefix=.*|prefix=$prefix|" "$file" >"pc/$(basename "$file")"
  done
  export PKG_CONFIG_PATH=$work/pc LD_LIBRARY_PATH=$libraries
}

# What a program includes is in Requires, what the library links in Requires.private.
pkg_config_files_are_right() {
  pkg-config --validate "$work"/pc/*.pc &&
    [ "$(pkg-config --modversion "$work"/pc/*.pc | sort -u)" = "$(sed -n 's/^Version: //p' pc/crowd-nms.pc)" ] &&
    [ -z "$(pkg-config --print-requires --print-requires-private crowd-nms)" ] &&
    [ "$(pkg-config --print-requires gstreamer-crowd-1.0 | cut -d' ' -f1)" = gstreamer-1.0 ] &&
    [ "$(pkg-config --print-requires-private gstreamer-crowd-1.0 | cut -d' ' -f1)" = gstreamer-video-1.0 ]
}

compiles() {
  # shellcheck disable=SC2046
  cc -std=c11 -Wall -Wextra -Werror -o "$2" "$1" $(pkg-config --cflags --libs "$3") && "./$2"
}

installed_pipeline() {
  need_element crowdinject && need_element crowdnms || return
  env -u CROWD_BUILD -u GST_PLUGIN_PATH_1_0 PATH="$prefix/bin:/usr/bin:/bin" GST_PLUGIN_PATH="$plugins" \
    GST_REGISTRY="$work/registry.bin" OUT="$work/out" FRAMES=2 \
    "$prefix/share/gst-crowd/pipelines/mosaic-survivors.sh" | tail -n 1 | grep '"frame": 1'
}

cat >library.c <<'C'
#include <crowd/nms.h>
#include <stdio.h>

int main(void) {
  const CrowdNmsBox boxes[] = {{0, 0, 10, 20}, {1, 1, 11, 21}, {40, 0, 50, 20}};
  const float scores[] = {0.5f, 0.9f, 0.1f};
  const CrowdNmsCandidates candidates = {.boxes = boxes, .scores = scores, .frames = 1, .capacity = 3};
  uint32_t kept[3];
  CrowdNmsReport report;
  const CrowdNmsSurvivors survivors = {.survivors = kept, .reports = &report, .max_survivors = 3};
  CrowdNmsParams params;
  CrowdNmsSession *session;
  crowd_nms_params_init(&params);
  if (crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, 1, 3, &session) != CROWD_NMS_OK ||
      crowd_nms_session_run(session, &params, &candidates, &survivors) != CROWD_NMS_OK)
    return puts(crowd_nms_last_error()), 1;
  crowd_nms_session_free(session);
  return report.survivors == 2 && kept[0] == 1 && kept[1] == 2 ? 0 : 2;
}
C
cat >meta.c <<'C'
#include <gst/crowd/gstcrowdboxesbytes.h>

#if !GST_CROWD_CHECK_VERSION(0, 1, 0)
#error these headers are older than themselves
#endif

int main(void) {
  gst_init(NULL, NULL);
  GstBuffer *buffer = gst_buffer_new();
  gst_buffer_add_crowd_boxes_meta(buffer, gst_crowd_boxes_memory_new(7), 7, 640, 480, NULL);
  const int status = gst_buffer_get_crowd_boxes_meta(buffer)->capacity == 7 ? 0 : 1;
  gst_buffer_unref(buffer);
  return status;
}
C

cat >typelib.py <<'P'
import sys
import gi
gi.require_version("GstCrowd", "1.0")
from gi.repository import GLib, Gst, GstCrowd
Gst.init(None)
assert ".".join(map(str, GstCrowd.version())) == sys.argv[1], GstCrowd.version()
assert (GstCrowd.VERSION_MAJOR, GstCrowd.VERSION_MINOR, GstCrowd.VERSION_MICRO) == tuple(GstCrowd.version())
buffer, none = Gst.Buffer.new(), GLib.Bytes.new(b"")
meta = GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(buffer, none, none, None, None, 640, 480)
assert meta.frame_width == 640, meta.frame_width
P

cat >cuda.c <<'C'
#include <gst/crowd/gstcrowdcuda.h>

int main(void) {
  gst_init(NULL, NULL);
  GstMemory *memory = gst_allocator_alloc(NULL, 64, NULL);
  const int status = gst_crowd_cuda_boxes_memory_new(memory, 7) || gst_crowd_cuda_push(memory) ? 1 : 0;
  gst_memory_unref(memory);
  return status;
}
C

check "meson install puts everything in place" install_it
use_here
check "library, plugin, headers, tools and pkg-config files are there" has_files
check "programs have names of their own" has_names_of_its_own
check "pkg-config files ask for what a program includes, and no more" pkg_config_files_are_right
check "a C program builds with crowd-nms.pc and runs" compiles library.c library crowd-nms
check "a C program builds with gstreamer-crowd-1.0.pc and runs" compiles meta.c meta gstreamer-crowd-1.0
builds_on_the_device() {
  [ -e "$libraries/pkgconfig/gstreamer-crowd-cuda-1.0.pc" ] || { echo "this build shares no CUDA contexts"; return 77; }
  [ -e "$prefix/bin/gst-crowd-device-detector" ] || { echo "no gst-crowd-device-detector"; return 1; }
  compiles cuda.c cuda gstreamer-crowd-cuda-1.0
}
check "a C program builds with gstreamer-crowd-cuda-1.0.pc and runs" builds_on_the_device
check "the typelib is found and works from Python" typelib_works
check "an installed pipeline runs" installed_pipeline
check "the installed gst-crowd-eval judges" installed_eval
check "the installed gst-crowd-convert-model finds its modules" installed_convert_model
finish
