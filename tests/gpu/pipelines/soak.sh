#!/usr/bin/env bash
# SPDX-FileCopyrightText: gst-crowd authors
# SPDX-License-Identifier: LGPL-2.1-or-later

# FRAMES (100000) through crowdinject, crowdnms and crowdoverlay in device memory end with the memory they had after 1000.
# soak.sh [SOAK]. Exit status 77: no GPU, or no cudaupload.
. "$(dirname "$0")/../../../pipelines/env.sh"
soak=${1:-$build/tests/gpu/soak}
FRAMES=${FRAMES:-100000}

need_gpu
gst-inspect-1.0 cudaupload >/dev/null 2>&1 || skip "no cudaupload here"

${RUNNER:-} "$soak" 1000 "videotestsrc num-buffers=$FRAMES pattern=black ! \
  video/x-raw,format=NV12,width=640,height=360,framerate=25/1 ! cudaupload ! video/x-raw(memory:CUDAMemory) ! \
  crowdinject candidates=600 truth=false ! crowdnms backend=cuda ! crowdoverlay draw-summary=true ! fakesink sync=false"
