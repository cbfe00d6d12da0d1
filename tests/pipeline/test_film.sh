#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The film plays anywhere and has its outlines where the metadata says that the survivors are.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1
export OUT=$work FRAMES=12
export DETECT=crowddetect NMS="crowdnms metric=ios iou-threshold=0.6"
film=${FILM:-$("$pipelines/fetch-film")} || exit 1
have=0
for element in crowddetect crowdnms crowdoverlay; do need_element "$element" >reason || have=77; done

made() {
  [ $have -eq 0 ] || { cat reason; return $have; }
  "$pipelines/film.sh" | tee film.log && "$pipelines/read-survivors.sh" >survivors.jsonl
}

# raw FILE OUTPUT OPTION...: frames as RGB.
raw() {
  gst-crowd-launch -q "${@:3}" filesrc location="$1" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! crowdnms ! \
    filesink location="$2"
}

decoded() {
  [ $have -eq 0 ] || { cat reason; return $have; }
  raw film.mp4 film.rgb && raw "$film" original.rgb --frames "$FRAMES"
}

film_check() {
  [ $have -eq 0 ] || { cat reason; return $have; }
  python3 "$root/tests/pipeline/film_check.py" "$1" "$work"
}

# As film.sh does by itself.
with_the_network() {
  [ $have -eq 0 ] || { cat reason; return $have; }
  local model
  export CROWD_CACHE=${CROWD_CACHE:-$root/.cache}
  model=$("$pipelines/fetch-model" person-net) || { echo "the model cannot be fetched"; return 77; }
  (unset DETECT; OUT=$work/network FILM=$film FRAMES=3 "$pipelines/film.sh") >network.log 2>&1
  local status=$?
  cat network.log
  [ $status -eq 0 ] && ! grep HOG network.log && tail -n 1 network.log | grep '^done: 3 frames, [1-9][0-9]* candidates, [1-9]' &&
    [ -s network/film.mp4 ]
}

check "film.sh and read-survivors.sh run" made
check "the film can be decoded" decoded
check "the film begins with its index and is 4:2:0 H.264" film_check plays_anywhere
check "the film has all frames" film_check frames
check "people are found in the film, fewer than candidates" film_check survivors
check "outlines are where the survivors are" film_check outlines
check "the rest of the picture is untouched" film_check rest
check "film.sh runs with the network" with_the_network
finish
