// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Representatives, and how many candidates each survivor represents, once a frame is decided. Most rows name theirs:
// their best suppressor survives. Those of the others are looked for.
#pragma once

#include "kernels/direct/in_order.cuh"
#include "kernels/direct/reduce_rows.cuh"

namespace crowd::CROWD_DIRECT {

/// The least of `best` and what kept entries of a vector have for rank << 16 | entry.
__device__ inline std::uint32_t best_kept(const View& view, const uint4& vector, std::uint32_t best) {
  const auto look = [&](std::uint32_t entry) {
    const PublishedDecision decision = view.decision(entry / list_unit);
    best = min(best, decision.has_kept() ? decision.rank() << 16 | entry : ~0u);
  };
  for (const std::uint32_t two : {vector.x, vector.y, vector.z, vector.w}) {
    look(two & 0xffff);
    look(two >> 16);
  }
  return best;
}

/// Best-ranked survivor among a row's listed suppressors.
__device__ inline std::uint32_t representative_on_list(const View& view, const Row& row) {
  const uint4* const list = view.list(row.list());
  const std::uint32_t vectors = vectors_of(row);
  std::uint32_t best = ~0u;
  uint4 vector = vectors ? list[0] : uint4{};
  for (std::uint32_t k = 0; k < vectors; ++k) {
    // The next one is on its way while this one is looked through.
    const uint4 next = k + 1 < vectors ? list[k + 1] : uint4{};
    best = best_kept(view, vector, best);
    vector = next;
  }
  return best == ~0u ? CROWD_NMS_NONE : (best & 0xffff) / list_unit;
}

/// `representative`: or CROWD_NMS_NONE.
__device__ inline void represent(const View& view, std::uint32_t index, std::uint32_t representative) {
  if (representative != CROWD_NMS_NONE)
    atomicAdd(&view.memory.members[representative], 1u);
  view.memory.representatives[index] = representative;
}

/// Whether a row of the frame names its representative: itself, or the very best of its suppressors.
__device__ inline bool names_representative(const View& view, const Row& row) {
  return view.decision(row.index()).has_kept() || (!row.is_tied() && view.decision(row.best()).has_kept());
}

/// Looks for representatives of suppressed candidates with a mask, a warp for each.
__device__ inline void search_masks(const View& view, std::uint32_t ranked) {
  const Masks masks(view);
  const uint4 kept = kept_vector(view);
  for (std::uint32_t base = 0; base < ranked; base += blockDim.x) {
    const std::uint32_t rank = base + threadIdx.x;
    const Row row = rank < ranked ? view.found.rows[rank] : Row(uint2{0, 0});
    const bool masked = rank < ranked && row.is_masked() && !names_representative(view, row);
    for (AskedRows rows(masked, row.index()); !rows.is_empty();) {
      const std::uint32_t index = rows.row(rows.take());
      const std::uint32_t best = best_rank_in_mask(view, masks, index, kept);
      if (threadIdx.x % 32 == 0)
        represent(view, index, best == ~0u ? CROWD_NMS_NONE : view.found.rows[best].index());
    }
  }
}

/// Notes representatives that rows name, and lists the rows whose lists have to be looked through. Returns whether any
/// mask has to be. Threads take ranks in turn, so that few candidates keep many of them busy.
template <unsigned items>
__device__ bool represent_named(const View& view, std::uint32_t ranked) {
  const auto rank = [](unsigned k) { return k * blockDim.x + threadIdx.x; };
  Row rows[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    rows[k] = rank(k) < ranked ? view.found.rows[rank(k)] : Row::absent();
  bool masked = false;
  unsigned listed = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const Row& row = rows[k];
    if (rank(k) >= ranked)
      continue;
    if (names_representative(view, row))
      represent(view, row.index(), view.decision(row.index()).has_kept() ? row.index() : row.best());
    else if (row.has_one_suppressor())
      represent(view, row.index(), CROWD_NMS_NONE);
    else if (row.is_masked())
      masked = true;
    else
      listed |= 1u << k;
  }
  std::uint32_t places[items];
  take_places_of(view.shared.pending, listed, places);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (listed >> k & 1)
      view.memory.ranks[places[k]] = static_cast<std::uint16_t>(rank(k));
  return masked;
}

/// Writes each candidate's representative, and counts how many each survivor represents. Not inlined: it takes
/// registers that calls without either need.
template <unsigned items>
static __noinline__ __device__ void write_representatives(View view, std::uint32_t ranked) {
  for (std::uint32_t i = threadIdx.x; i < view.n; i += blockDim.x) {
    view.memory.members[i] = 0;
    view.memory.representatives[i] = CROWD_NMS_REJECTED;
  }
  if (threadIdx.x == 0)
    view.shared.pending = 0;
  __syncthreads();
  const bool masked = represent_named<items>(view, ranked);
  const bool any_masked = __syncthreads_or(masked);
  for (std::uint32_t i = threadIdx.x; i < view.shared.pending; i += blockDim.x) {
    const Row row = view.found.rows[view.memory.ranks[i]];
    represent(view, row.index(), representative_on_list(view, row));
  }
  if (any_masked) {
    mark_indices(view);
    __syncthreads();
    search_masks(view, ranked);
  }
  __syncthreads();
  // In the order of candidates: stored by rank they would take a memory transaction each.
  if (std::uint32_t* const to = view.a.out.representatives)
    for (std::uint32_t i = threadIdx.x; i < view.n; i += blockDim.x)
      to[view.a.frames.slot(view.frame) + i] = view.memory.representatives[i];
}

}  // namespace crowd::CROWD_DIRECT
