// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What soft methods leave behind.

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

/// The place of a candidate's representative, or no_place.
__device__ std::uint32_t representative(const SoftStage& soft, std::uint32_t place) {
  if (soft.own_word(place).is_kept())
    return place;
  const std::uint32_t by = soft.state(place).by;
  return by != no_place && soft.own_word(by).is_kept() ? by : no_place;
}

/// A survivor's score and index: larger is better; 0 if the candidate does not survive.
__device__ std::uint64_t survivor_key(const SoftStage& soft, std::uint32_t place) {
  const ScoreWord word = soft.own_word(place);
  const std::uint32_t index = soft.index(place);
  return word.is_kept() ? soft_key(word.word(), index) : 0;
}

/// A block's candidates, `group` of them, whose ranks it finds out: it counts for each survivor of the frame how many
/// of them are worse.
template <unsigned group>
struct Ranked {
  std::uint64_t key[group];        ///< survivor_key()
  std::uint64_t sorted[group];     ///< the same, ascending
  std::uint32_t above[group + 1];  ///< [k]: survivors of the frame that are better than exactly the first k of `sorted`
  std::uint32_t rank[group + 1];   ///< [k]: of the k-th of `sorted`, from 1 on: those that are better than k or more

  /// How many are worse than `other`. By bisection.
  __device__ unsigned worse(std::uint64_t other) const {
    unsigned at = 0;
#pragma unroll
    for (unsigned step = group / 2; step; step /= 2)
      at += sorted[at + step - 1] < other ? step : 0;
    return at + (sorted[at] < other);
  }
};

constexpr unsigned output_threads = 1024;
/// Candidates of a block where that keeps more multiprocessors busy, and elsewhere: each block reads the whole frame.
constexpr unsigned small_group = 32;
constexpr unsigned large_group = 256;

/// Sorts keys that are not 0 behind the others. By all threads, between barriers; `sorted` is 0.
template <unsigned group>
__device__ unsigned sort_keys(Ranked<group>& ranked) {
  if (threadIdx.x >= group || !ranked.key[threadIdx.x])
    return 0;
  const std::uint64_t mine = ranked.key[threadIdx.x];
  unsigned at = 0;
  for (unsigned k = 0; k < group; ++k)
    at += ranked.key[k] < mine;
  ranked.sorted[at] = mine;
  return at;
}

/// Survivors of the frame that a thread looks at together.
struct Columns {
  static constexpr unsigned count = 4;
  std::uint64_t key[count];  ///< survivor_key()

  /// Every output_threads-th one from `first` on.
  __device__ Columns(const SoftStage& soft, std::uint32_t first) {
    const std::uint32_t size = soft.size();
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      const std::uint32_t place = first + k * output_threads;
      key[k] = place < size ? survivor_key(soft, place) : 0;
    }
  }
};

template <unsigned group>
__device__ void count_above(Ranked<group>& ranked, const Columns& columns) {
  unsigned worse[Columns::count];
#pragma unroll
  for (unsigned k = 0; k < Columns::count; ++k)
    worse[k] = ranked.worse(columns.key[k]);
#pragma unroll
  for (unsigned k = 0; k < Columns::count; ++k)
    if (columns.key[k])
      atomicAdd(&ranked.above[worse[k]], 1u);
}

/// Finds out ranks. By the first `group` threads.
template <unsigned group>
__device__ void sum_up(Ranked<group>& ranked) {
  const unsigned own = threadIdx.x;
  const unsigned lane = own % warp_size;
  // In descending order, so that a prefix is what is wanted.
  std::uint32_t before = 0;
  for (unsigned k = lane; k < own - lane; k += warp_size)
    before += ranked.above[group - k];
  ranked.rank[group - own] = warp_sum(before) + warp_prefix(ranked.above[group - own]);
}

/// What is written of a survivor.
class Own {
 public:
  __device__ Own(const SoftStage& soft, std::uint32_t place, bool survives) {
    if (!survives)
      return;
    index_ = soft.index(place);
    const SoftState& state = soft.state(place);
    members_ = state.count;
    score_ = state.score;
    if (soft.stage.a.out.boxes)
      box_ = soft.stage.a.rules.whole[soft.stage.a.frames.input(soft.stage.frame) + index_];
  }

  __device__ void write(const SoftStage& soft, std::uint32_t rank) const {
    const CrowdNmsSurvivors& out = soft.stage.a.out;
    const std::size_t at = static_cast<std::size_t>(soft.stage.frame) * out.max_survivors + rank;
    out.survivors[at] = index_;
    if (out.members)
      out.members[at] = members_;
    if (out.scores)
      out.scores[at] = score_;
    if (out.boxes)
      out.boxes[at] = as_box(box_);
  }

 private:
  std::uint32_t index_, members_;
  float score_;
  float4 box_;
};

}  // namespace

__global__ void __launch_bounds__(threads) write_soft_representatives(SoftArguments a) {
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= soft.size())
    return;
  if (soft.state(place).by == rejected) {
    if (a.staged.out.representatives)
      a.staged.out.representatives[soft.stage.slot + place] = CROWD_NMS_REJECTED;
    return;
  }
  const std::uint32_t by = representative(soft, place);
  if (by != no_place && a.staged.out.members)
    atomicAdd(&soft.state(by).count, 1u);
  if (a.staged.out.representatives)
    a.staged.out.representatives[soft.stage.slot + soft.index(place)] =
        by == no_place ? CROWD_NMS_NONE : soft.index(by);
}

namespace {

template <unsigned group>
__global__ void __launch_bounds__(output_threads) write_soft_survivors(SoftArguments a) {
  __shared__ Ranked<group> ranked;
  const unsigned own = threadIdx.x;
  const std::uint32_t place = blockIdx.x * group + own;
  if (own < group)
    ranked.sorted[own] = 0;
  if (own <= group)
    ranked.above[own] = 0;
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const std::uint64_t key = own < group && place < soft.size() ? survivor_key(soft, place) : 0;
  const Columns columns(soft, own);
  const Own mine(soft, place, key != 0);
  if (own < group)
    ranked.key[own] = key;
  const bool is_first = blockIdx.x == 0;  // which writes the report
  if (!__syncthreads_or(key != 0 || is_first))
    return;
  const unsigned at = sort_keys(ranked);
  __syncthreads();
  count_above(ranked, columns);
  for (std::uint32_t first = own + Columns::count * output_threads; first < soft.size();
       first += Columns::count * output_threads)
    count_above(ranked, Columns(soft, first));
  __syncthreads();
  if (own < group)
    sum_up(ranked);
  __syncthreads();
  if (const std::uint32_t rank = ranked.rank[at + 1]; key && rank < a.staged.out.max_survivors)
    mine.write(soft, rank);
  if (is_first && own == 0)
    soft.stage.write_report(ranked.above[0] + ranked.rank[1]);
}

template <unsigned group>
void launch(const Call& call, const SoftArguments& arguments) {
  launch_pdl(write_soft_survivors<group>, call, {call.grid(ceil_div(call.frames.capacity, group)), output_threads},
             arguments);
}

}  // namespace

void launch_soft_survivors(const Call& call, const SoftArguments& arguments) {
  if (call.max_candidates() <= std::uint64_t{current_device().processors} * small_group)
    launch<small_group>(call, arguments);
  else
    launch<large_group>(call, arguments);
}

}  // namespace crowd::ruled
