# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Sourced by the shell tests. They report in the Test Anything Protocol: a line for each check, the plan at the end.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
pipelines=$root/pipelines
PATH=$CROWD_BUILD/pipelines:$PATH
work=$(mktemp -d)
checks=0
failures=0
trap 'rm -rf "$work"' EXIT

# check NAME COMMAND...: passes if the command does; status 77 is a skip. What a failing command printed is shown.
check() {
  local name=$1 status=0
  shift
  "$@" >"$work/log" 2>&1 || status=$?
  checks=$((checks + 1))
  case $status in
    0) echo "ok $checks - $name" ;;
    77) echo "ok $checks - $name # SKIP $(tail -n 1 "$work/log")" ;;
    *)
      echo "not ok $checks - $name"
      failures=$((failures + 1))
      { echo "$name: exit status $status"; tail -n 40 "$work/log"; } | sed 's/^/# /'
      ;;
  esac
}

# fails_with STATUS TEXT COMMAND...: the command ends with that status, without a crash, and prints one line with TEXT.
fails_with() {
  local expected=$1 text=$2 status=0
  shift 2
  timeout 60 "$@" >"$work/output" 2>&1 || status=$?
  cat "$work/output"
  if [ "$status" -ne "$expected" ]; then
    echo "exit status $status instead of $expected"
    return 1
  fi
  if [ "$(grep -cF -- "$text" "$work/output")" -ne 1 ]; then
    echo "there is not one line with: $text"
    return 1
  fi
}

# need_element NAME: a skip for the whole check where this build does not have it.
need_element() {
  gst-crowd-launch --check fakesrc ! "$1" ! fakesink >/dev/null 2>&1 || { echo "no $1 in this build"; return 77; }
}

finish() {
  echo "1..$checks"
  [ "$failures" -eq 0 ]
}
