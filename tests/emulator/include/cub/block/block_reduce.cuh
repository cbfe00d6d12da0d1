// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "emulator.hpp"

namespace cub {

template <typename T, int threads>
class BlockReduce {
 public:
  struct TempStorage {
    T value[threads];
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  /// In the first thread.
  T Sum(T mine) {
    storage_.value[crowd::emulator::threadIdx.x] = mine;
    crowd::emulator::block_barrier(false);
    T total{};
    for (const T& value : storage_.value)
      total += value;
    return total;
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
