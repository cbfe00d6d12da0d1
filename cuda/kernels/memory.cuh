// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Words that threads read while others write them, in global or in shared memory. Kernels access such words by these
// functions or by atomics alone.
//
// In PTX's memory model a volatile access is a relaxed one at the scope of the system: it is a single access, of the
// word as it is then, and says nothing of other words. The compiler neither repeats nor drops nor moves it across
// another volatile access. A release that an acquire reads from makes visible, to the reader, what the releasing thread
// has written before, and what others of its block have written before a barrier that comes before the release.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace crowd {

__device__ inline std::uint32_t load_relaxed(const std::uint32_t* word) {
  return *static_cast<const volatile std::uint32_t*>(word);
}

__device__ inline void store_relaxed(std::uint32_t* word, std::uint32_t value) {
  *static_cast<volatile std::uint32_t*>(word) = value;
}

/// A word in shared memory. An atomic, since racecheck takes a volatile store there for a race; it is as quick.
__device__ inline void store_relaxed_shared(std::uint32_t* word, std::uint32_t value) {
  atomicExch(word, value);
}

/// To be read by threads of the same block, in shared memory.
__device__ inline void store_release_in_block(std::uint32_t* word, std::uint32_t value) {
  __threadfence_block();
  store_relaxed_shared(word, value);
}

/// Makes an acquire of each load_relaxed() that this thread did before, of words that threads of its block released.
__device__ inline void acquire_in_block() {
  __threadfence_block();
}

/// To be read by threads of other blocks.
__device__ inline void store_release(std::uint32_t* word, std::uint32_t value) {
  __threadfence();
  store_relaxed(word, value);
}

/// Makes an acquire of each load_relaxed() that this thread did before, of words that other blocks released.
__device__ inline void acquire_loaded() {
  __threadfence();
}

}  // namespace crowd
