// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Words that threads read while others write them, in global memory. Kernels of the plugin access such words by these
// functions or by atomics alone.
//
// In PTX's memory model a volatile access is a relaxed one at the scope of the system: it is a single access, of the
// word as it is then, and says nothing of other words.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace crowd::cuda {

__device__ inline std::uint32_t load_relaxed(const std::uint32_t* word) {
  return *static_cast<const volatile std::uint32_t*>(word);
}

__device__ inline void store_relaxed(std::uint32_t* word, std::uint32_t value) {
  *static_cast<volatile std::uint32_t*>(word) = value;
}

}  // namespace crowd::cuda
