// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels use of CUB, see cuda_runtime.h beside these folders.
#pragma once

#include "emulator.hpp"

namespace cub {

template <typename T, int threads>
class BlockScan {
 public:
  struct TempStorage {
    T value[threads];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <int items>
  void ExclusiveSum(T (&in)[items], T (&out)[items], T& total) {
    T mine{};
    for (int k = 0; k < items; ++k)
      mine += in[k];
    const unsigned t = crowd::emulator::threadIdx.x;
    storage_.value[t] = mine;
    crowd::emulator::block_barrier(false);
    T before{};
    total = T{};
    for (int k = 0; k < threads; ++k) {
      before += k < static_cast<int>(t) ? storage_.value[k] : T{};
      total += storage_.value[k];
    }
    for (int k = 0; k < items; ++k) {
      const T value = in[k];
      out[k] = before;
      before += value;
    }
  }
  template <int items>
  void ExclusiveSum(T (&in)[items], T (&out)[items]) {
    T total;
    ExclusiveSum(in, out, total);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
