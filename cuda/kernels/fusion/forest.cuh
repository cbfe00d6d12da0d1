// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Union-find, by many threads at a time: a forest, in which the parent of an entry is smaller, and a root is its own
// parent.
#pragma once

#include "kernels/memory.cuh"

namespace crowd::ruled {

/// The root of an entry's set as it is now. Each step goes to a smaller entry: the loop waits for no other thread.
/// Shortens the way to the root: an entry that has a parent never becomes a root again, so any of its ancestors will do
/// for a parent.
__device__ inline std::uint32_t find_root(std::uint32_t* parents, std::uint32_t of) {
  std::uint32_t parent = load_relaxed(parents + of);
  while (parent != of) {
    const std::uint32_t above = load_relaxed(parents + parent);
    if (above != parent)
      store_relaxed(parents + of, above);
    of = parent;
    parent = above;
  }
  return of;
}

/// The same without shortening, while other threads store roots as parents: none may be overwritten with an ancestor
/// that is no root.
__device__ inline std::uint32_t see_root(const std::uint32_t* parents, std::uint32_t of) {
  for (std::uint32_t parent = load_relaxed(parents + of); parent != of; parent = load_relaxed(parents + of))
    of = parent;
  return of;
}

/// Tries again without a pause: an exchange fails only where another thread has just given the larger root a parent.
__device__ inline void unite_two(std::uint32_t* parents, std::uint32_t one, std::uint32_t other) {
  for (;;) {
    one = find_root(parents, one);
    other = find_root(parents, other);
    if (one == other)
      return;
    const std::uint32_t larger = max(one, other);
    const std::uint32_t smaller = min(one, other);
    if (atomicCAS(parents + larger, larger, smaller) == larger)
      return;
  }
}

}  // namespace crowd::ruled
