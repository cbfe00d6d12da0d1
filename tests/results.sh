# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Sourced by what runs tests. Results lie in the folder $results, in the form that tests/tally.py counts.

# Where CROWD_RESULTS names a folder, who named it counts.
results=${CROWD_RESULTS:-$(mktemp -d)}
[ -n "${CROWD_RESULTS:-}" ] || trap 'rm -rf "$results"' EXIT

tally() {
  [ -n "${CROWD_RESULTS:-}" ] || python3 tests/tally.py "$results"
}

# step NAME COMMAND...: one result of its own; 77 is a skip. Several may run at once.
step() {
  local name=$1 status=0 started=$SECONDS log
  shift
  log=$(mktemp "$results/log.XXXXXX")
  "$@" >"$log" 2>&1 || status=$?
  case $status in
    0) echo "OK $name" >>"$results/steps" ;;
    77) echo "SKIP $name" >>"$results/steps" ;;
    *)
      echo "FAIL $name" >>"$results/steps"
      tail -n 60 "$log"
      ;;
  esac
  printf '%s: exit status %s, %d s\n' "$name" "$status" $((SECONDS - started))
  return "$status"
}

# build DIR OPTION...: an up to date build in DIR.
build() {
  local dir=$1
  shift
  step "configure $dir" configure "$dir" "$@" && step "compile $dir" meson compile -C "$dir"
}

# Meson compiles by ccache where that is installed. Checkouts in other folders share what it keeps.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# What the tests compile warns of nothing, and checks its use of the standard library. Packagers choose for themselves.
# Debug information is of lines alone, since all of it takes the compiler half as long again: CXXFLAGS=-g gives it.
configure() {
  local dir=$1
  shift
  set -- -Ddebug=false "$@" -Dwerror=true "-Dcpp_args=-g1 ${CXXFLAGS:+$CXXFLAGS }-D_GLIBCXX_ASSERTIONS"
  if [ -f "$dir/build.ninja" ]; then
    # Meson 1.0 leaves out cpp_args in setup --reconfigure.
    meson configure "$dir" "$@" && meson setup --reconfigure "$dir"
  else
    meson setup "$dir" "$@"
  fi
}

# suites DIR NAME OPTION...: compiles what they need and runs tests of DIR, results kept under NAME.
suites() {
  local dir=$1 name=$2
  shift 2
  echo "== $name"
  rm -f "$dir/meson-logs/$name".*
  meson test -C "$dir" --print-errorlogs --logbase "$name" "$@"
  keep_results "$dir" "$name"
}

# keep_results DIR NAME: what a run of meson test left.
keep_results() {
  cp "$1/meson-logs/$2.json" "$1/meson-logs/$2.junit.xml" "$results/" || echo "FAIL $2" >>"$results/steps"
}
