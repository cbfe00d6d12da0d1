#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Another project has this one as a meson subproject, and finds its libraries as dependencies. Only what that project
# links is compiled.
. "$(dirname "$0")/tap.sh"
mkdir -p "$work/super/subprojects" && cd "$work/super" || exit 1
ln -s "$root" subprojects/gst-crowd

cat >meson.build <<'M'
project('super', 'c', default_options: ['warning_level=3', 'werror=true'])
subproject('gst-crowd')
executable('program', 'program.c', dependencies: dependency('crowd-nms'))
executable('reader', 'reader.c', dependencies: dependency('gstreamer-crowd-1.0'))
M
cat >program.c <<'C'
#include <crowd/nms.h>

int main(void) {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  return params.method == CROWD_NMS_GREEDY ? 0 : 1;
}
C
cat >reader.c <<'C'
#include <gst/crowd/gstcrowdboxesmeta.h>

int main(void) {
  return gst_crowd_boxes_meta_api_get_type() == 0;
}
C

configures() {
  meson setup build -Doptimization=0 -Dgst-crowd:cuda=disabled -Dgst-crowd:opencv=disabled "$@"
}

uses() {
  meson compile -C build -j 2 "$1" && "build/$1"
}

has_no_tests() {
  meson introspect build --targets >targets && grep -q '"name": "crowdnms"' targets &&
    ! grep -o '"name": "[^"]*test[^"]*"' targets
}

check "a project with this one as a subproject configures" configures
check "tests are built only where they are asked for" has_no_tests
check "its program links crowd-nms and runs" uses program
check "its program links gstreamer-crowd-1.0 and runs" uses reader
finish
