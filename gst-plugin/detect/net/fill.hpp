// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A batch of a network's inputs from a picture: colour, scale, letterbox and normalisation in one pass. C++17.
#pragma once

#include "detect/net/crop.hpp"
#include "tensors/tensor.hpp"

struct CUstream_st;

namespace crowd::net {

struct FillWork {
  Picture picture;
  const Crop* crops = nullptr;  ///< one for each input of the batch, in memory of where it is done
  int count = 0;                ///< at most 65535
  Encoding encoding;
  tensors::Type type = tensors::Type::float32;
  void* batch = nullptr;  ///< [count, 3, height, width] or [count, height, width, 3]
};

/// On the host, on one core: some 10 ns for each sample of the picture, of which Crop says how many a pixel takes.
void fill(const FillWork& work);

/// In order of `stream`, with the same bits; all pointers are the device's. Returns a cudaError_t.
int fill_on_device(const FillWork& work, CUstream_st* stream);

}  // namespace crowd::net
