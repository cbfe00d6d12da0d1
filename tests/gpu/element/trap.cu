// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "trap.hpp"

namespace crowd::test {

namespace {

__global__ void trap() {
  __trap();
}

}  // namespace

cudaError_t lose_device() {
  trap<<<1, 1>>>();
  return cudaDeviceSynchronize();
}

}  // namespace crowd::test
