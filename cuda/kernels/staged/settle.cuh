// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Classic greedy by one block, over candidates in rank order, 64 at a time. The cost is bounded whatever the boxes: a
// chain of n takes n / 64 steps.
#pragma once

#include "kernels/frames.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

constexpr unsigned chunk_size = tuning::settle_chunk;
static_assert(chunk_size == 64, "a chunk's rows are 64-bit masks");

struct Chunk {
  CrowdNmsBox box[chunk_size];
  std::int32_t label[chunk_size];
  unsigned long long suppresses[chunk_size];  ///< bit c of row r: r suppresses c
  unsigned long long remaining;
};

/// Candidates in rank order.
struct Residue {
  const float4* box;
  const std::int32_t* label;
  std::uint8_t* suppressed;  ///< by candidate: 1 once a survivor suppresses it
  std::uint32_t length;
};

__device__ inline void load_chunk(Chunk& chunk, const Residue& residue, std::uint32_t base) {
  const std::uint32_t t = threadIdx.x;
  if (t == 0)
    chunk.remaining = 0;
  if (t < chunk_size)
    chunk.suppresses[t] = 0;
  __syncthreads();
  if (t < chunk_size && base + t < residue.length) {
    chunk.box[t] = as_box(residue.box[base + t]);
    chunk.label[t] = residue.label[base + t];
    if (!residue.suppressed[base + t])
      atomicOr(&chunk.remaining, 1ull << t);
  }
  __syncthreads();
}

/// Overlaps: overlaps(hi, lo, hi_box, lo_box) of two candidates by position.
template <typename Overlaps>
__device__ void test_inside(Chunk& chunk, std::uint32_t base, bool by_class, const Overlaps& overlaps) {
  for (unsigned pair = threadIdx.x; pair < chunk_size * chunk_size; pair += blockDim.x) {
    const unsigned row = pair / chunk_size;
    const unsigned c = pair % chunk_size;
    if (c > row && (chunk.remaining >> row & 1) && (chunk.remaining >> c & 1) &&
        (!by_class || chunk.label[c] == chunk.label[row]) &&
        overlaps(base + row, base + c, chunk.box[row], chunk.box[c]))
      atomicOr(&chunk.suppresses[row], 1ull << c);
  }
}

/// Greedy inside the chunk, by one thread.
__device__ inline void resolve_inside(Chunk& chunk) {
  unsigned long long remaining = chunk.remaining;
  for (unsigned long long todo = remaining; todo;) {
    const int best = __ffsll(static_cast<long long>(todo)) - 1;
    todo &= todo - 1;
    remaining &= ~chunk.suppresses[best];
    todo &= remaining;
  }
  chunk.remaining = remaining;
}

/// Of the candidate at position `p` behind the chunk, which begins at `base`.
template <typename Overlaps>
__device__ bool suppressed_by(const Chunk& chunk, std::uint32_t base, const Residue& residue, std::uint32_t p,
                              bool by_class, const Overlaps& overlaps) {
  const CrowdNmsBox box = as_box(residue.box[p]);
  const std::int32_t label = residue.label[p];
  for (unsigned long long todo = chunk.remaining; todo; todo &= todo - 1) {
    const int s = __ffsll(static_cast<long long>(todo)) - 1;
    if ((!by_class || chunk.label[s] == label) && overlaps(base + s, p, chunk.box[s], box))
      return true;
  }
  return false;
}

/// Calls verdict(position, survives) once for every position, each from one thread. For a whole block.
template <typename Overlaps, typename Verdict>
__device__ void settle_residue(Chunk& chunk, const Residue& residue, bool by_class, const Overlaps& overlaps,
                               Verdict verdict) {
  for (std::uint32_t base = 0; base < residue.length; base += chunk_size) {
    load_chunk(chunk, residue, base);
    test_inside(chunk, base, by_class, overlaps);
    __syncthreads();
    if (threadIdx.x == 0)
      resolve_inside(chunk);
    __syncthreads();
    if (threadIdx.x < chunk_size && base + threadIdx.x < residue.length)
      verdict(base + threadIdx.x, static_cast<bool>(chunk.remaining >> threadIdx.x & 1));
    if (chunk.remaining)
      for (std::uint32_t p = base + chunk_size + threadIdx.x; p < residue.length; p += blockDim.x)
        if (!residue.suppressed[p] && suppressed_by(chunk, base, residue, p, by_class, overlaps))
          residue.suppressed[p] = 1;
    __syncthreads();
  }
}

}  // namespace crowd
