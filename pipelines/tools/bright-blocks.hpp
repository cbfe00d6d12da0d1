// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The detector of device-detector.cpp: blocks of a frame that are bright.
#pragma once

#include <cstddef>

/// The arrays of a GstCrowdBoxesMeta, in device memory.
struct DeviceCandidates {
  unsigned* count;
  float* boxes;
  float* scores;
  int* classes;
  unsigned capacity;
};

/// Enqueues the search of a plane of luma in device memory on `stream`, in the current context. False if CUDA refuses.
bool find_bright_blocks(const unsigned char* luma, std::ptrdiff_t stride, int width, int height, int threshold,
                        const DeviceCandidates& to, void* stream);
