// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the rounds leave undecided, settled exactly by one block per frame: classic greedy over the residue in rank
// order, a chunk of 64 at a time. Bounded for every input: a chain of n costs n / 64 chunks, not n rounds.

#include "frames.cuh"
#include "tuning.hpp"

namespace crowd {

namespace {

constexpr unsigned chunk_size = tuning::settle_chunk;
static_assert(chunk_size == 64, "a chunk's rows are 64-bit masks");
// Threads that share a row of the chunk's mask, and the columns each of them tests.
constexpr unsigned row_threads = tuning::frame_block / chunk_size;
constexpr unsigned row_columns = chunk_size / row_threads;

struct Chunk {
  CrowdNmsBox box[chunk_size];
  std::int32_t label[chunk_size];
  unsigned long long beats[chunk_size];  ///< bit c of row r: r overlaps the worse-ranked c
  unsigned long long alive;
};

struct Residue {
  const float4* box;
  const std::int32_t* label;
  std::uint8_t* gone;
  std::uint32_t length;
};

__device__ void load(Chunk& chunk, const Residue& residue, std::uint32_t base) {
  const std::uint32_t t = threadIdx.x;
  if (t == 0)
    chunk.alive = 0;
  if (t < chunk_size)
    chunk.beats[t] = 0;
  __syncthreads();
  if (t < chunk_size && base + t < residue.length) {
    const float4 b = residue.box[base + t];
    chunk.box[t] = {b.x, b.y, b.z, b.w};
    chunk.label[t] = residue.label[base + t];
    if (!residue.gone[base + t])
      atomicOr(&chunk.alive, 1ull << t);
  }
  __syncthreads();
}

__device__ void test_inside(Chunk& chunk, const OverlapRule& rule, bool by_class) {
  const unsigned row = threadIdx.x / row_threads;
  const unsigned first = threadIdx.x % row_threads * row_columns;
  if (!(chunk.alive >> row & 1))
    return;
  unsigned long long hits = 0;
  for (unsigned c = first; c < first + row_columns; ++c)
    if (c > row && (chunk.alive >> c & 1) && (!by_class || chunk.label[c] == chunk.label[row]) &&
        overlaps(chunk.box[row], chunk.box[c], rule))
      hits |= 1ull << c;
  if (hits)
    atomicOr(&chunk.beats[row], hits);
}

// Greedy inside the chunk, by one thread: only survivors suppress.
__device__ void resolve_inside(Chunk& chunk) {
  unsigned long long alive = chunk.alive;
  for (unsigned long long todo = alive; todo;) {
    const int best = __ffsll(static_cast<long long>(todo)) - 1;
    todo &= todo - 1;
    alive &= ~chunk.beats[best];
    todo &= alive;
  }
  chunk.alive = alive;
}

__device__ bool suppressed_by(const Chunk& chunk, const CrowdNmsBox& box, std::int32_t label, const OverlapRule& rule,
                              bool by_class) {
  for (unsigned long long todo = chunk.alive; todo; todo &= todo - 1) {
    const int s = __ffsll(static_cast<long long>(todo)) - 1;
    if ((!by_class || chunk.label[s] == label) && overlaps(chunk.box[s], box, rule))
      return true;
  }
  return false;
}

__global__ void __launch_bounds__(tuning::frame_block)
    settle(Frames frames, Scratch scratch, Lists list, OverlapRule rule, bool by_class) {
  __shared__ Chunk chunk;
  const std::uint32_t frame = blockIdx.y;
  const std::size_t slot = frames.slot(frame);
  const Residue residue{scratch.ranked_box + slot, scratch.ranked_class + slot, scratch.gone + slot,
                        list.length(frames, frame)};
  for (std::uint32_t base = 0; base < residue.length; base += chunk_size) {
    load(chunk, residue, base);
    test_inside(chunk, rule, by_class);
    __syncthreads();
    if (threadIdx.x == 0)
      resolve_inside(chunk);
    __syncthreads();
    if (threadIdx.x < chunk_size && base + threadIdx.x < residue.length)
      scratch.state[slot + scratch.ranked_index[slot + base + threadIdx.x]] =
          chunk.alive >> threadIdx.x & 1 ? kept : dead;
    if (chunk.alive)
      for (std::uint32_t p = base + chunk_size + threadIdx.x; p < residue.length; p += tuning::frame_block) {
        const float4 b = residue.box[p];
        if (!residue.gone[p] && suppressed_by(chunk, {b.x, b.y, b.z, b.w}, residue.label[p], rule, by_class))
          residue.gone[p] = 1;
      }
    __syncthreads();
  }
}

}  // namespace

void launch_settle(const Call& call, const Lists& list) {
  settle<<<call.grid(1), tuning::frame_block, 0, call.stream>>>(call.frames, call.scratch, list, call.rule(),
                                                                call.by_class());
}

}  // namespace crowd
