// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUB's operations on a block have in common here: a value of each thread, for all to read.
#pragma once

#include "emulator.hpp"

namespace cub {

template <typename T, int threads>
class BlockValues {
 public:
  struct TempStorage {
    T value[threads];
  };
  explicit BlockValues(TempStorage& storage) : storage_(storage) {}

 protected:
  void share(const T& mine) {
    storage_.value[crowd::emulator::threadIdx.x] = mine;
    crowd::emulator::block_barrier(false);
  }
  const T (&values() const)[threads] {
    return storage_.value;
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
