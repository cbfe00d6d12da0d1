// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "block_values.hpp"

namespace cub {

template <typename T, int threads>
class BlockReduce : BlockValues<T, threads> {
 public:
  using typename BlockValues<T, threads>::TempStorage;
  using BlockValues<T, threads>::BlockValues;

  /// In the first thread.
  T Sum(T mine) {
    this->share(mine);
    T total{};
    for (const T& value : this->values())
      total += value;
    return total;
  }
};

}  // namespace cub
