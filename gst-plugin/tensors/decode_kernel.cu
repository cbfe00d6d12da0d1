// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decodes, compares with the threshold and places in order, in one launch. Blocks take tiles in the order in which they
// begin, so that the tiles before a block's are done or under way: it may wait for them. Each announces how many
// candidates its tile has, adds up what those before it announce, back to the first that knows its own sum, and
// announces its own (Merrill and Garland 2016, decoupled look-back). The last block to end picks the best where there
// are too many, and leaves the state as it was before the launch.

#include "gpu/launch.cuh"
#include "gpu/memory.cuh"
#include "gpu/pick.cuh"
#include "tensors/decode_kernel.hpp"

namespace crowd::tensors {

namespace {

constexpr unsigned threads = tile_places;

__device__ std::uint32_t warp_sum(std::uint32_t value) {
  for (unsigned step = cuda::warp_size / 2; step; step /= 2)
    value += __shfl_xor_sync(cuda::all_lanes, value, static_cast<int>(step));
  return value;
}

/// Candidates in the tiles before this one, which has `own`. One warp.
__device__ std::uint32_t look_back(std::uint32_t* words, std::uint32_t tile, std::uint32_t own) {
  const unsigned lane = threadIdx.x;
  if (lane == 0)
    cuda::store_relaxed(&words[tile], (tile ? of_tile : up_to_tile) | own);
  std::uint32_t before = 0;
  for (std::uint32_t end = tile; end;) {
    const bool exists = lane < end;
    std::uint32_t word = 0;
    // No sleep between loads: a block announces its tile before it waits, so none is further off than a tile takes.
    do
      word = exists ? cuda::load_relaxed(&words[end - 1 - lane]) : up_to_tile;
    while (__any_sync(cuda::all_lanes, word == 0));
    const unsigned sums = __ballot_sync(cuda::all_lanes, (word & up_to_tile) != 0);
    const unsigned upto = sums ? static_cast<unsigned>(__ffs(static_cast<int>(sums)) - 1) : cuda::warp_size - 1;
    before += warp_sum(lane <= upto ? word & number_bits : 0);
    if (sums)
      break;
    end -= cuda::warp_size;
  }
  if (lane == 0 && tile)
    cuda::store_relaxed(&words[tile], up_to_tile | (before + own));
  return before;
}

__device__ void place(const DecodeWork& work, std::uint32_t at, std::uint32_t index, const Scored& scored) {
  const std::uint32_t input = index / work.plan.places;
  const Corners box =
      box_of(work.plan, work.outputs, input, index % work.plan.places, work.anchors, work.placements[input]);
  reinterpret_cast<float4*>(work.boxes)[at] = {box.x1, box.y1, box.x2, box.y2};
  work.scores[at] = scored.score;
  work.classes[at] = static_cast<std::int32_t>(scored.class_id);
}

__device__ bool decode(const DecodeWork& work, std::uint32_t index, Scored& scored) {
  return index < work.places &&
         score_of(work.plan, work.outputs, index / work.plan.places, index % work.plan.places, work.selection, scored);
}

/// What is left to the last block.
__device__ void finish(const DecodeWork& work) {
  const std::uint32_t found = cuda::load_relaxed(&work.tile_words[work.tiles - 1]) & number_bits;
  if (found > work.capacity && work.capacity)
    cuda::pick_best<threads>(
        found, work.capacity, [&work](std::uint32_t i) { return work.hits[i].score; },
        [&work](std::uint32_t at, std::uint32_t i) {
          Scored scored{};
          if (decode(work, work.hits[i].place, scored))
            place(work, at, work.hits[i].place, scored);
        });
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < work.tiles; k += threads)
    work.tile_words[k] = 0;
  if (threadIdx.x == 0) {
    *work.count = found;
    *work.state = {0, 0};
  }
}

__global__ void __launch_bounds__(threads) decode_kernel(DecodeWork work) {
  __shared__ unsigned warps[threads / cuda::warp_size];
  __shared__ std::uint32_t tile, before, ended;
  cuda::pdl_wait();
  if (threadIdx.x == 0)
    tile = atomicAdd(&work.state->tickets, 1U);
  __syncthreads();
  const std::uint32_t index = tile * threads + threadIdx.x;
  Scored scored{};
  const bool is_hit = decode(work, index, scored);
  const cuda::Ranked ranked = cuda::rank<threads>(is_hit, warps);
  if (threadIdx.x < cuda::warp_size) {
    const std::uint32_t sum = look_back(work.tile_words, tile, ranked.all);
    if (threadIdx.x == 0)
      before = sum;
  }
  __syncthreads();
  if (is_hit) {
    const std::uint32_t at = before + ranked.before;
    work.hits[at] = {index, scored.score};
    if (at < work.capacity)
      place(work, at, index, scored);
  }
  // A release of whatever this block has written, and, in the block that counts the last, an acquire of all others.
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    ended = atomicAdd(&work.state->ended, 1U) + 1;
    __threadfence();
  }
  __syncthreads();
  if (ended == work.tiles)
    finish(work);
}

}  // namespace

cudaError_t launch_decode(const DecodeWork& work, cudaStream_t stream) {
  return cuda::launch_pdl(decode_kernel, stream, {work.tiles, 1, 1}, threads, work);
}

}  // namespace crowd::tensors
