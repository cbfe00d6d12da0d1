// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Thread-block clusters, see cuda_runtime.h beside this.
#pragma once

#include "emulator.hpp"

namespace cooperative_groups {

struct Cluster {
  unsigned block_rank() const {
    return crowd::emulator::block_in_cluster();
  }
  void barrier_arrive() const {
    crowd::emulator::cluster_arrive();
  }
  void barrier_wait() const {
    crowd::emulator::cluster_wait();
  }
  void sync() const {
    barrier_arrive();
    barrier_wait();
  }
  /// The same place in another block's dynamic shared memory.
  template <typename T>
  T* map_shared_rank(T* mine, unsigned block) const {
    return reinterpret_cast<T*>(crowd::emulator::shared_of(block, mine));
  }
};

inline Cluster this_cluster() {
  return {};
}

}  // namespace cooperative_groups
