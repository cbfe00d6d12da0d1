// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce: looks of pending rows of which some have masks, and what else usual frames do not need.
#pragma once

#include "kernels/direct/pending.cuh"

namespace crowd::CROWD_DIRECT {

/// A look of the warp's masked rows that are `asked` at all their suppressors; `then` for the other lanes. For a whole
/// warp.
__device__ inline PublishedDecision look_at_masks(const View& view, const Masks& masks, const Row& row, bool asked,
                                                  PublishedDecision then) {
  const uint4 kept = kept_vector(view), open = ~lane_vector(view.shared.suppressed_indices);
  for (AskedRows rows(asked, row.index()); !rows.is_empty();) {
    const unsigned bit = rows.take();
    const uint4 mask = masks.vector(rows.row(bit));
    const bool has_kept = __any_sync(all_lanes, is_any(mask & kept));
    const bool has_open = __any_sync(all_lanes, is_any(mask & open));
    if (bit == 1u << threadIdx.x % 32)
      then = has_kept   ? PublishedDecision::suppressed()
             : has_open ? PublishedDecision::undecided(row.index())
                        : PublishedDecision::kept();
  }
  return then;
}

/// A look of a row that is not decided, if it has no mask. `known`: what it has published.
__device__ inline PublishedDecision look_without_mask(const View& view, const Row& row, PublishedDecision known) {
  if (known.word() != PublishedDecision::undecided(row.index()).word())
    return follow(view, known);
  return row.is_listed() ? judge(row, add_list(view, row)) : known;
}

/// The same as decide_few(), for rows of which some have masks; unless `small`, a warp looks at so many masks, too. For
/// a whole block, after a barrier.
template <bool small>
__device__ bool decide_masked(const View& view) {
  mark_indices(view);
  __syncthreads();
  const Masks masks(view);
  bool undecided = threadIdx.x < view.shared.pending;
  const Row row = undecided ? view.memory.pending[threadIdx.x] : Row::absent();
  PublishedDecision known = initial_decision(row);
  unsigned looks = 0, masks_seen = 0;
#pragma unroll 1
  while (__any_sync(all_lanes, undecided) &&
         (small || (looks < tuning::direct_looks && masks_seen < tuning::direct_masks_seen))) {
    const bool asked = undecided && row.is_masked();
    PublishedDecision then = undecided ? look_without_mask(view, row, known) : known;
    then = look_at_masks(view, masks, row, asked, then);
    ++looks;
    masks_seen += static_cast<unsigned>(__popc(__ballot_sync(all_lanes, asked)));
    if (then.word() != known.word()) {
      view.publish(row.index(), then);
      mark_index(view, row.index(), then);
      known = then;
      undecided = then.is_undecided();
    }
  }
  if (known.has_kept())
    view.keep(threadIdx.x);
  return undecided;
}

/// Decides pending rows if some have masks, or there are more than threads. Returns whether one of the thread's is
/// undecided. For a whole block, after a barrier; another has to follow. Not inlined, so that usual frames pay neither
/// registers nor instructions for that.
template <bool small>
static __noinline__ __device__ bool decide_others(View view) {
  if (!small)
    assume_spaces(view);
  const std::uint32_t pending = view.shared.pending % (1 << 16);
  const bool any_masked = view.shared.pending != pending;
  __syncthreads();
  if (threadIdx.x == 0)
    view.shared.pending = pending;
  __syncthreads();
  return small || (any_masked && pending <= blockDim.x) ? decide_masked<small>(view) : decide_many(view);
}

}  // namespace crowd::CROWD_DIRECT
