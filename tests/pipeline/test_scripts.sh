#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Every pipeline is in the table of pipelines/README.md, can be made, runs, and ends with the line of the table.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1
export OUT=$work/out FRAMES=3

# The last cell of the script's row: a regular expression between backquotes.
expected_last_line() {
  sed -n "s/^| \[$1\]($1) |.*| \`\(.*\)\` |\$/\1/p" "$pipelines/README.md"
}

has_row() {
  [ -n "$(expected_last_line "$1")" ] || { echo "no row, or no expected last line, for $1"; return 1; }
}

is_short() {
  local lines
  lines=$(grep -cv -e '^#' -e '^$' "$pipelines/$1")
  [ -x "$pipelines/$1" ] && [ "$lines" -le 15 ] || { echo "$1 is not executable or has $lines lines"; return 1; }
}

# needs_met FILE: the elements that it names are here.
needs_met() {
  local element
  for element in $(sed 's/people_detector/crowddetect/' "$1" |
    grep -oE '\b(crowd(detect|inject|nms|overlay)|nvh264dec|cuda(down|up)load)\b' | sort -u); do
    need_element "$element" || return
  done
}

can_be_made() {
  needs_met "$pipelines/$1" || return
  CHECK=1 "$pipelines/$1"
}

# runs NAME [ARGUMENT...]
runs() {
  local last
  needs_met "$pipelines/$1" || return
  "$pipelines/$1" "${@:2}" >stdout || { local status=$?; cat stdout; return $status; }
  last=$(tail -n 1 stdout)
  grep -qE "$(expected_last_line "$1" | sed 's/795/3/')" <<<"$last" || { echo "the last line is: $last"; return 1; }
}

# readme_line NUMBER: of the README's pipelines.
readme_line() {
  local words
  sed -n 's/^gst-launch-1.0 //p' "$root/README.md" | sed -n "$1p" | sed "s/autovideosink/fakesink/; s/'//g" >line
  read -ra words <line
  needs_met line || return
  [ "$1" = 1 ] || { gst-crowd-launch --check "${words[@]}"; return; }
  gst-crowd-launch --frames 3 "${words[@]}" | grep '^done: 3 frames'
}

# Frames before the start, which crowdnms has seen, do not count.
part_of_a_stream() {
  need_element crowdnms && need_element crowdinject || return
  gst-crowd-launch -q --from 2 --to 3 videotestsrc ! video/x-raw,width=320,height=240,framerate=25/1 ! queue ! \
    crowdinject candidates=10 ! crowdnms ! queue ! fakesink | tee part | tail -n 1 | grep '^done: 25 frames, 250 candid' ||
    { cat part; return 1; }
}

finds_presets() {
  need_element crowdnms || return
  XDG_DATA_HOME=$work/data bash -c '. "$0/env.sh" && gst-crowd-launch --check fakesrc ! crowdnms @preset=opencv ! fakesink' \
    "$pipelines"
}

check "a pipeline takes a preset of crowdnms" finds_presets
check "a part of a stream is played, and counted alone" part_of_a_stream
check "the first line of the README runs" readme_line 1
check "the second line of the README can be made" readme_line 2
for script in "$pipelines"/*.sh; do
  name=$(basename "$script")
  [ "$name" = env.sh ] && continue
  check "$name has a row in the table" has_row "$name"
  check "$name is a few lines" is_short "$name"
  grep -q '^gst-crowd-launch' "$script" && check "$name can be made" can_be_made "$name"
  check "$name runs" runs "$name"
done
# GStreamer's overlay behind crowdnms, and the other network.
runs_in_inference() {
  need_element "${2:-crowdoverlay}" || return
  runs film-onnxinference.sh "$@" || return
  ! grep -q '^done: .* 0 survivors$' stdout || { echo "nothing is found"; return 1; }
}
check "film-onnxinference.sh runs with objectdetectionoverlay" runs_in_inference person-net objectdetectionoverlay
check "film-onnxinference.sh runs with face-net" runs_in_inference face-net
finish
