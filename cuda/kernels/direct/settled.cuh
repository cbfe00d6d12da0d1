// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Before undecided rows are decided in rank order: those without a list are compared with all candidates that are known
// to be kept, which each thread has a few of. Many frames have few other survivors.
#pragma once

#include "kernels/direct/compare.cuh"

namespace crowd::CROWD_DIRECT {

/// Rows of a class have areas of about the same half octave.
__device__ inline std::uint32_t& size_class(const View& view, std::uint32_t index) {
  const float4 box = view.a.frames.boxes[view.input + index];
  const float size = area(as_box(box), view.a.rule.overlap.offset);
  return view.shared.sizes[__float_as_uint(size) >> 22 & (size_classes - 1)];
}

/// Calls what(row, better) for ranks, a lane a rank; `better`: settled candidates that rank better. For a whole block.
template <typename Function>
__device__ void for_each_rank(const View& view, const Function& what) {
  const std::uint32_t capacity = view.a.capacity;
  for (std::uint32_t rank = threadIdx.x; rank / 32 * 32 < capacity; rank += blockDim.x) {
    const std::uint32_t before = bits_before(view.shared.kept, rank / 32);
    const Row row = rank < capacity ? view.found.rows[rank] : Row::absent();
    what(row, before + lanes_before(view.shared.kept[rank / 32]));
  }
}

__device__ inline bool is_open(const View& view, const Row& row) {
  return row.is_unlisted() && view.decision(row.index()).is_undecided();
}

/// Lists the settled candidates in Memory::members, by rank, and the rows to compare in Memory::ranks, by size. An open
/// row's word holds how many settled candidates rank better. Returns how many rows there are. For a whole block.
__device__ inline std::uint32_t list_settled(const View& view) {
  for (unsigned k = threadIdx.x; k < size_classes; k += blockDim.x)
    view.shared.sizes[k] = 0;
  __syncthreads();
  for_each_rank(view, [&](const Row& row, std::uint32_t better) {
    if (view.decision(row.index()).has_kept())
      view.memory.members[better] = row.index();
    if (is_open(view, row))
      atomicAdd(&size_class(view, row.index()), 1u);
  });
  __syncthreads();
  if (threadIdx.x < 32) {
    std::uint32_t before = 0;
    for (unsigned base = 0; base < size_classes; base += 32) {
      std::uint32_t& size = view.shared.sizes[base + threadIdx.x];
      const std::uint32_t upto = before + warp_prefix(size);
      size = upto - size;
      before = __shfl_sync(all_lanes, upto, 31);
    }
    view.shared.pending = before;
  }
  __syncthreads();
  for_each_rank(view, [&](const Row& row, std::uint32_t better) {
    if (!is_open(view, row))
      return;
    const std::uint32_t place = atomicAdd(&size_class(view, row.index()), 1u);
    view.memory.ranks[place] = static_cast<std::uint16_t>(row.index());
    view.store(row.index(), PublishedDecision::undecided(better));
  });
  __syncthreads();
  return view.shared.pending;
}

/// Publishes the decisions of rows without a list that a settled candidate suppresses. Aliases are given up; Memory is
/// overwritten, and free afterwards. ReduceShared::pending is 0 afterwards. For a whole block. Not inlined, so that
/// decide_in_order() has its registers to itself.
static __noinline__ __device__ void compare_with_settled(View view) {
  assume_spaces(view);
  const std::uint32_t rows = list_settled(view);
  const std::uint32_t settled = bits_before(view.shared.kept, ceil_div(view.a.capacity, 32));
  const std::uint32_t warps = blockDim.x / 32;
  // A warp compares 32 rows with a part of the settled candidates.
  const std::uint32_t groups = ceil_div(rows, 32);
  const std::uint32_t parts = ceil_div(2 * warps, groups);
  const std::uint32_t part = ceil_div(ceil_div(settled, parts), 32) * 32;
  for (std::uint32_t unit = threadIdx.x / 32; unit < groups * parts; unit += warps) {
    const std::uint32_t place = unit % groups * 32 + threadIdx.x % 32;
    const std::uint32_t index = place < rows ? view.memory.ranks[place] : sentinel_suppressed;
    const PublishedDecision decision = view.decision(index);
    const bool open = decision.is_undecided();
    const Candidate mine = open ? fetch(view.a, view.input, index) : Candidate{};
    const std::uint32_t from = unit / groups * part;
    if (open != try_survivors(view, mine, open, from, min(from + part, settled), decision.index()))
      view.publish(index, PublishedDecision::suppressed());
  }
  __syncthreads();
  if (threadIdx.x == 0)
    view.shared.pending = 0;
}

}  // namespace crowd::CROWD_DIRECT
