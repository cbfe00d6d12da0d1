// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// main() of the tests that need a GPU and no GStreamer.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "environment.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (!testing::GTEST_FLAG(list_tests) && (error != cudaSuccess || devices == 0))
    return crowd::test::skipped(error == cudaSuccess ? "no CUDA device" : cudaGetErrorString(error));
  return RUN_ALL_TESTS();
}
