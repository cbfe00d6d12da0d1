// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels use of CUB, see cuda_runtime.h beside these folders.
#pragma once

#include "block_values.hpp"

namespace cub {

template <typename T, int threads>
class BlockScan : BlockValues<T, threads> {
 public:
  using typename BlockValues<T, threads>::TempStorage;
  using BlockValues<T, threads>::BlockValues;

  template <int items>
  void ExclusiveSum(T (&in)[items], T (&out)[items], T& total) {
    T mine{};
    for (int k = 0; k < items; ++k)
      mine += in[k];
    const unsigned t = crowd::emulator::threadIdx.x;
    this->share(mine);
    T before{};
    total = T{};
    for (int k = 0; k < threads; ++k) {
      before += k < static_cast<int>(t) ? this->values()[k] : T{};
      total += this->values()[k];
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
};

}  // namespace cub
