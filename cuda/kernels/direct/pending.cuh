// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The reduce: pending candidates, whose best suppressor is not known to be kept at first, look at the decisions of all
// their suppressors until their own follows (cuda/PROOFS.md, 2 to 4). A look costs shared-memory loads where many
// candidates are pending, and one warp's latency where few are.
#pragma once

#include "kernels/direct/masked_rows.cuh"

namespace crowd::CROWD_DIRECT {

/// With several rows a thread (decide_many()), a pending candidate keeps what it has learned in its row: one that is an
/// alias or decided has no suppressors, but a PublishedDecision in the fields of `best` and `list`.
__device__ inline Row with_decision(const Row& row, PublishedDecision decision) {
  return Row(row.index(), 0, decision.word() & 0xffff, decision.word() >> 16);
}

/// Of a row made by with_decision().
__device__ inline PublishedDecision decision_of(const Row& row) {
  return PublishedDecision(row.best_list());
}

__device__ inline PublishedDecision follow(const View& view, PublishedDecision alias) {
  return view.decision(alias.index()).follow(alias);
}

/// Vectors of the row's list; 0 without a list.
__device__ inline std::uint32_t vectors_of(const Row& row) {
  return row.is_listed() ? ceil_div(row.suppressors(), list_step) : 0;
}

/// `sum` plus the words of a vector's entries.
__device__ inline std::uint32_t add_vector(const std::uint32_t* decisions, const uint4& vector, std::uint32_t sum) {
  const auto at = [&](std::uint32_t offset) {
    return load_relaxed(reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(decisions) + offset));
  };
  const auto add = [&](std::uint32_t two) {
    sum += at(two & 0xffff);
    sum += at(two >> 16);
  };
  add(vector.x);
  add(vector.y);
  add(vector.z);
  add(vector.w);
  return sum;
}

/// First vectors of a list, held in registers.
struct ListHead {
  static constexpr unsigned vectors = 3;
  uint4 vector[vectors];
};

__device__ inline ListHead load_first(const View& view, const Row& row, std::uint32_t vectors) {
  const uint4* list = view.list(row.list());
  ListHead part;
#pragma unroll
  for (unsigned p = 0; p < ListHead::vectors; ++p)
    if (p < vectors)
      part.vector[p] = list[p];
  return part;
}

__device__ inline PublishedDecision add_list(const View& view, const Row& row) {
  // Loads of so many vectors are in flight together.
  constexpr unsigned batch = 4;
  const std::uint32_t vectors = vectors_of(row);
  const uint4* const list = view.list(row.list());
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < vectors; k += batch) {
    uint4 part[batch];
#pragma unroll
    for (unsigned p = 0; p < batch; ++p)
      part[p] = k + p < vectors ? list[k + p] : uint4{};
#pragma unroll
    for (unsigned p = 0; p < batch; ++p)
      part[p] = materialize(part[p]);
#pragma unroll
    for (unsigned p = 0; p < batch; ++p)
      if (k + p < vectors)
        sum = add_vector(view.memory.decisions, part[p], sum);
  }
  return PublishedDecision(sum);
}

/// `sum` plus the words of a list's entries beyond its head. Not inlined: few lists are so long, and the loop around it
/// is shorter.
static __noinline__ __device__ std::uint32_t add_rest(const std::uint32_t* decisions, const uint4* list,
                                                      std::uint32_t vectors, std::uint32_t sum) {
  for (std::uint32_t k = ListHead::vectors; k < vectors; ++k)
    sum = add_vector(decisions, list[k], sum);
  return sum;
}

/// Sum of the words of a list whose head is `first`.
__device__ inline PublishedDecision look_at_list(const View& view, const Row& row, const ListHead& first,
                                                 std::uint32_t vectors) {
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned p = 0; p < ListHead::vectors; ++p)
    if (p < vectors)
      sum = add_vector(view.memory.decisions, first.vector[p], sum);
  if (vectors > ListHead::vectors)
    sum = add_rest(view.memory.decisions, view.list(row.list()), vectors, sum);
  return PublishedDecision(sum);
}

/// What follows for a row from the sum of its suppressors' words. With a single undecided suppressor it is the alias of
/// its opposite.
__device__ inline PublishedDecision judge(const Row& row, PublishedDecision suppressors) {
  const bool several_undecided =
      !suppressors.has_kept() && !suppressors.all_suppressed() && !suppressors.has_one_undecided();
  return several_undecided ? PublishedDecision::undecided(row.index()) : suppressors.implied();
}

/// A short look of a masked row.
__device__ inline PublishedDecision look_at_best(const View& view, const Row& row) {
  return view.decision(row.best()).has_kept() ? PublishedDecision::suppressed()
                                              : PublishedDecision::undecided(row.index());
}

/// Decides pending candidates, a thread each, every warp at its own pace: whatever a thread reads is true and stays
/// true. Ends because the best-ranked undecided candidate has no undecided suppressor, or, unless `small`, after so
/// many looks that decide_in_order() takes less time. Not for masked rows. Returns whether the thread's candidate is
/// undecided.
template <bool small>
__device__ bool decide_few(const View& view) {
  bool undecided = threadIdx.x < view.shared.pending;
  Row row = undecided ? view.memory.pending[threadIdx.x] : Row::absent();
  std::uint32_t vectors = vectors_of(row);
  const ListHead first = load_first(view, row, vectors);
  PublishedDecision known = initial_decision(row);
  unsigned looks = tuning::direct_looks;
  // No pause between looks: what a warp learns others may need at once, and barriers in between take longer than looks
  // that learn nothing (LESSONS.md, 8).
#pragma unroll 1
  while (__any_sync(all_lanes, undecided) && (small || looks--)) {
    PublishedDecision then = known;
    if (vectors)
      then = judge(row, look_at_list(view, row, first, vectors));
    else if (undecided)
      then = follow(view, known);
    if (then.word() != known.word()) {
      view.publish(row.index(), then);
      known = then;
      vectors = 0;
      undecided = then.is_undecided();
    }
  }
  if (known.has_kept())
    view.keep(threadIdx.x);
  return undecided;
}

/// The same for more candidates than threads. In each round all look, then all publish. Returns whether one of the
/// thread's is undecided.
__device__ inline bool decide_many(const View& view) {
  const std::uint32_t pending = view.shared.pending;
  const auto is_pending = [](const Row& row) { return row.has_suppressors() || decision_of(row).is_undecided(); };
  bool undecided = true;
  std::uint32_t vectors = 0;
#pragma unroll 1
  for (unsigned round = 0; round < tuning::direct_rounds; ++round) {
    for (std::uint32_t base = 0; base < pending; base += blockDim.x) {
      const std::uint32_t number = base + threadIdx.x;
      Row row = number < pending ? view.memory.pending[number]
                                 : with_decision(Row::absent(), PublishedDecision::suppressed());
      const bool mine = is_pending(row);
      PublishedDecision then = PublishedDecision::undecided(row.index());
      if (mine && row.is_listed()) {
        vectors += vectors_of(row);
        then = judge(row, add_list(view, row));
      } else if (mine && row.has_one_suppressor())
        then = view.decision(row.best()).implied();
      else if (mine && !row.has_suppressors())
        then = follow(view, decision_of(row));
      else if (mine && row.is_masked())
        then = look_at_best(view, row);
      if (then.word() != PublishedDecision::undecided(row.index()).word())
        row = with_decision(row, then);
      if (mine)
        view.memory.pending[number] = row;
      if (mine && then.has_kept())
        view.keep(number);
    }
    __syncthreads();
    undecided = false;
    bool changed = false;
    for (std::uint32_t number = threadIdx.x; number < pending; number += blockDim.x) {
      const Row row = view.memory.pending[number];
      if (!row.has_suppressors()) {
        changed |= view.decision(row.index()).word() != decision_of(row).word();
        view.store(row.index(), decision_of(row));
      }
      undecided |= is_pending(row);
    }
    const int threads_undecided = __syncthreads_count(undecided);
    if (!threads_undecided)
      break;
    if (__syncthreads_or(vectors > tuning::direct_vectors))
      break;
    if (round % 4 == 1 && __syncthreads_count(changed) * static_cast<int>(tuning::direct_changes) < threads_undecided)
      break;
  }
  return undecided;
}

}  // namespace crowd::CROWD_DIRECT
