#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# What gst-crowd-read-survivors prints, crowdinject replays: the same boxes, scores, classes and labels, to the last
# digit.
. "$(dirname "$0")/tap.sh"
cd "$work" || exit 1

# survivors FILE WIDTH HEIGHT INJECT...: of 20 frames. Survivors do not suppress each other: clustered again they stay.
survivors() {
  gst-crowd-read-survivors videotestsrc num-buffers=20 pattern=solid-color ! \
    "video/x-raw,format=I420,width=$2,height=$3" ! \
    crowdinject "${@:4}" ! crowdnms iou-threshold=0.4 ! appsink name=survivors sync=false >"$1"
}

# What clustering adds to a box.
without_clustering() {
  sed -E 's/, "(members|raw-score)": [^,}]*//g' "$1"
}

replayed() {
  need_element crowdnms && need_element crowdinject || return
  survivors first.jsonl 640 360 classes=3 jitter=0.14 && survivors second.jsonl 640 360 strict=true location=first.jsonl
  [ "$(wc -l <first.jsonl)" -eq 20 ] && [ "$(grep -o '"box"' first.jsonl | wc -l)" -gt 500 ] &&
    grep -q '"class": 2' first.jsonl && grep -q '"members": [2-9]' first.jsonl || { head -n 1 first.jsonl; return 1; }
  diff <(without_clustering first.jsonl) <(without_clustering second.jsonl) >difference ||
    { head -n 4 difference; return 1; }
}

# On frames of twice the size boxes are twice as large.
scaled() {
  need_element crowdnms && need_element crowdinject || return
  survivors large.jsonl 1280 720 strict=true location=first.jsonl && python3 - <<'END'
import json
for first, large in zip(open("first.jsonl"), open("large.jsonl"), strict=True):
    first, large = json.loads(first), json.loads(large)
    assert large["resolution"] == {"width": 1280, "height": 720}
    for small, big in zip(first["objects"], large["objects"], strict=True):
        assert all(abs(2 * s - b) < 1e-3 for s, b in zip(small["box"], big["box"])), (small, big)
END
}

older() {
  need_element crowdinject || return
  echo '{"frame": 0, "pts": 0, "survivors": [{"label": "person", "box": [9, 8, 7, 6], "confidence": 1, "members": 2}]}' \
    >older.jsonl
  fails_with 1 'older.jsonl:1: "survivors" instead of "objects", from an older gst-crowd-read-survivors' \
    gst-crowd-read-survivors fakesrc ! crowdinject location=older.jsonl ! appsink name=survivors
}

array() {
  need_element crowdinject || return
  printf '[\n  {\n    "objects": []\n  }\n]\n' >array.json
  fails_with 1 "array.json:1: a JSON array; write one object a line, say with jq -c '.[]'" \
    gst-crowd-read-survivors fakesrc ! crowdinject location=array.json ! appsink name=survivors
}

check "crowdinject replays what gst-crowd-read-survivors prints" replayed
check "crowdinject scales what gst-crowd-read-survivors prints" scaled
check "what an older gst-crowd-read-survivors printed is refused" older
check "a JSON array is distinguished from lines" array
finish
