// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Soft methods, frames that are not sorted: a block compares a tile of rows with all columns of the frame, and lists
// for each row those that lower its score if they survive first; for matrix NMS, the better-ranked ones. Each axis has
// bins with a bit for every row: rows set theirs in the bins that they cover, and columns find those that share a bin
// with them along both axes. These few pairs are spread over the block and tested.

#include <algorithm>

#include "kernels/soft/soft.cuh"

namespace crowd::ruled {

namespace {

constexpr unsigned threads_max = 1024;
constexpr unsigned rows_max = 32;
constexpr unsigned queue_room = 8 * threads_max;

constexpr unsigned bins = 256;
/// A box that covers more bins along an axis is taken to cover all.
constexpr unsigned max_bins_covered = 8;

/// The bins that a box covers along an axis: such that boxes that overlap share one. They repeat over the plane.
struct BinRange {
  std::uint32_t first, count;

  __device__ static BinRange of(float from, float to, float per, const PairRule& rule) {
    // Rounding is monotone: where min(to) - max(from) + offset is above 0, neither box's to + offset is below the
    // other's from.
    const IndexRange range = range_between(from, to + rule.overlap.offset, per, bins);
    if (rule.disjoint_too || range.count > max_bins_covered)
      return {0, bins};
    return {static_cast<std::uint32_t>(range.first) % bins, range.count};
  }
  __device__ bool is_all() const {
    return count == bins;
  }
};

struct RejectedCounts {
  std::uint32_t invalid, below_threshold;
};

/// A tile of rows in shared memory.
struct Rows {
  std::uint32_t near[2][bins];  ///< along x and y: a bit for each row that covers the bin
  std::uint32_t wide[2];        ///< of rows that cover all bins
  std::uint32_t any;            ///< of valid rows
  float bins_per_unit[2];
  Subject row[rows_max];
  float score[rows_max];
  bool valid[rows_max];
  std::uint32_t count[rows_max];    ///< entries found; exact up to the room of a list
  std::uint32_t covered[rows_max];  ///< bits of the largest ratio; 0: none. Ratios are positive: their bits compare
  RejectedCounts rejected;
  std::uint32_t queued;  ///< pairs that need a place in the queue, more perhaps than it has
  std::uint32_t queue[queue_room];
};

/// A block's work.
struct Task {
  std::size_t input;  ///< the frame's first candidate
  std::uint32_t n, first, rows;
  std::uint32_t room;  ///< of a list
};

struct Pair {
  std::uint32_t row, column;

  __device__ explicit Pair(std::uint32_t word)
      : row(word / tuning::direct_capacity), column(word % tuning::direct_capacity) {}
  __device__ static std::uint32_t word(std::uint32_t row, std::uint32_t column) {
    return row * tuning::direct_capacity + column;
  }
};

/// A candidate as loaded.
struct Raw {
  float4 box;
  float score;
};

/// Not inlined: it is long, and usual boxes do without.
__noinline__ __device__ Validity validity(const StagedArguments& a, std::size_t at, const Raw& raw) {
  return a.rules.admit(at, raw.box, raw.score, raw.score, a.rule, a.score_threshold);
}

/// Whether a box of usual extent and score_threshold say that a candidate is valid.
__device__ bool admits_usual(const StagedArguments& a) {
  return a.rules.admits_all && !a.rules.has_two_boxes;
}

__device__ bool is_valid(const StagedArguments& a, std::size_t at, const Raw& raw) {
  return admits_usual(a) && extent_code(raw.box) < unusual_extent ? raw.score >= a.score_threshold
                                                                  : validity(a, at, raw) == Validity::valid;
}

__device__ Raw load(const StagedArguments& a, std::size_t at) {
  return {a.frames.boxes[at], a.frames.scores[at]};
}

/// Bins per unit along an axis, as wide as the mean extent of the rows: measure_cells() without a reach, since ranges
/// are compared and not centres. For a whole warp.
__device__ float measure_bins(float extent, bool valid) {
  const bool sized = valid && extent > 0 && extent < INFINITY;
  const auto count = static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, sized)));
  const std::uint32_t bits = warp_sum(sized ? __float_as_uint(extent) >> 5 : 0);
  const float mean = __uint_as_float(bits / max(count, 1) << 5);
  return mean > 1e-30f && mean < 1e30f ? __fdividef(1.0f, mean) : 1.0f;
}

/// Sets rows' bits in the bins that they cover along an axis, a row a lane. For a whole warp.
__device__ void mark_rows(const StagedArguments& a, Rows& rows, unsigned axis, bool valid, float from, float to) {
  const float per = measure_bins(to - from, valid);
  const std::uint32_t bit = 1u << threadIdx.x % warp_size;
  const BinRange range = BinRange::of(from, to, per, a.rule);
  const bool all = range.is_all();
  const std::uint32_t wide = __ballot_sync(all_lanes, valid && all);
  if (bit == 1) {
    rows.bins_per_unit[axis] = per;
    rows.wide[axis] = wide;
  }
  if (valid && !all)
    for (std::uint32_t k = 0; k < range.count; ++k)
      atomicOr(&rows.near[axis][(range.first + k) % bins], bit);
}

/// Prepares a row of the tile, and writes by place what is known of it.
__device__ void store_row(const SoftStage& soft, const Task& task, Rows& rows, std::uint32_t r, bool valid,
                          const Raw& raw) {
  const StagedArguments& a = soft.stage.a;
  const std::uint32_t place = task.first + r;
  const std::uint64_t key = rank_key(valid ? raw.score : NAN, place);
  rows.row[r] = {raw.box, area(as_box(raw.box), a.rule.overlap.offset), soft.stage.label(key), key};
  rows.score[r] = raw.score;
  rows.valid[r] = valid;
  rows.count[r] = 0;
  rows.covered[r] = 0;
  a.arrays.box[soft.stage.slot + place] = raw.box;
  a.arrays.key[soft.stage.slot + place] = key;
}

/// Warps that prepare the rows, a row a lane: along either axis, and what is stored of them.
constexpr unsigned row_tasks = 3;

__device__ void prepare_rows(const SoftStage& soft, const Task& task, Rows& rows, unsigned row_task, const Raw& raw) {
  const StagedArguments& a = soft.stage.a;
  const std::uint32_t r = threadIdx.x % warp_size;
  const bool valid = r < task.rows && is_valid(a, task.input + task.first + min(r, task.rows - 1), raw);
  if (row_task == 0) {
    rows.any = __ballot_sync(all_lanes, valid);
    mark_rows(a, rows, 0, valid, raw.box.x, raw.box.z);
  } else if (row_task == 1) {
    mark_rows(a, rows, 1, valid, raw.box.y, raw.box.w);
  } else if (r < task.rows) {
    store_row(soft, task, rows, r, valid, raw);
  }
}

/// A bit for each of the thread's columns that is valid, by the full test. Counts the others in `rejected`. Not
/// inlined: few blocks need it.
__noinline__ __device__ unsigned valid_columns(const StagedArguments& a, const Task& task, RejectedCounts& rejected) {
  unsigned columns = 0;
  unsigned bit = 1;
  for (std::uint32_t i = threadIdx.x; i < task.n; i += blockDim.x, bit *= 2) {
    const Validity state = validity(a, task.input + i, load(a, task.input + i));
    if (state == Validity::valid)
      columns |= bit;
    else
      atomicAdd(state == Validity::invalid ? &rejected.invalid : &rejected.below_threshold, 1u);
  }
  return columns;
}

/// The rows that share a bin with a column along an axis.
__device__ std::uint32_t sharing(const Rows& rows, unsigned axis, const BinRange& column) {
  const std::uint32_t* const near = rows.near[axis];
  // Most boxes cover up to three bins.
  std::uint32_t found = near[column.first] | near[(column.first + min(column.count - 1, 1)) % bins] |
                        near[(column.first + min(column.count - 1, 2)) % bins];
  if (unlikely(column.count > 3)) {
    if (column.is_all())
      return rows.any;
#pragma unroll 1
    for (std::uint32_t k = 3; k < column.count; ++k)
      found |= near[(column.first + k) % bins];
  }
  return found | rows.wide[axis];
}

/// Loads the thread's columns, while a few warps prepare the rows, and finds a bit for each row near a column.
template <unsigned items>
__device__ void find_near(const SoftStage& soft, const Task& task, Rows& rows, std::uint32_t (&near)[items]) {
  const StagedArguments& a = soft.stage.a;
  const unsigned warp = threadIdx.x / warp_size;
  Raw row;
  if (warp < row_tasks)
    row = load(a, task.input + task.first + min(threadIdx.x % warp_size, task.rows - 1));
  Raw raw[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    raw[k] = load(a, task.input + min(k * blockDim.x + threadIdx.x, task.n - 1));
  // A block of few candidates has fewer warps.
  for (unsigned row_task = warp; row_task < row_tasks; row_task += blockDim.x / warp_size)
    prepare_rows(soft, task, rows, row_task, row);
  std::uint32_t max_extent_code = 0;
  unsigned valid = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    max_extent_code = max(max_extent_code, extent_code(raw[k].box));
    valid |= static_cast<unsigned>(raw[k].score >= a.score_threshold) << k;
  }
  // Every block has all of the frame's candidates for its columns: the first one counts those that are not valid.
  const bool counts = task.first == 0 && valid != (1u << items) - 1;
  if (unlikely(max_extent_code >= unusual_extent || counts) || !admits_usual(a))
    valid = valid_columns(a, task, rows.rejected);
  __syncthreads();
  const float per_x = rows.bins_per_unit[0];
  const float per_y = rows.bins_per_unit[1];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const float4& b = raw[k].box;
    const std::uint32_t found = sharing(rows, 0, BinRange::of(b.x, b.z, per_x, a.rule)) &
                                sharing(rows, 1, BinRange::of(b.y, b.w, per_y, a.rule));
    near[k] = (valid >> k & 1) && k * blockDim.x + threadIdx.x < task.n ? found : 0;
  }
}

/// Moves pairs to the queue, as far as there is room.
template <unsigned items>
__device__ void queue_pairs(Rows& rows, std::uint32_t (&near)[items]) {
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    own += static_cast<std::uint32_t>(__popc(near[k]));
  std::uint32_t at = take_places(rows.queued, own);
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    for (; near[k] && at < queue_room; near[k] &= near[k] - 1)
      rows.queue[at++] =
          Pair::word(static_cast<std::uint32_t>(__ffs(static_cast<int>(near[k]))) - 1, k * blockDim.x + threadIdx.x);
}

/// Whether a row has had more entries than its list has room for.
__device__ bool is_full(const Rows& rows, const Task& task, std::uint32_t row) {
  return load_relaxed(&rows.count[row]) > task.room;
}

/// Adds an entry to a row's list if there is room.
__device__ void add_entry(const SoftStage& soft, const Task& task, Rows& rows, std::uint32_t row,
                          const ListEntry& entry) {
  // Full lists take no more atomics: in a pile a row has thousands.
  if (is_full(rows, task, row))
    return;
  const std::uint32_t number = atomicAdd(&rows.count[row], 1u);
  if (number < task.room)
    soft.lists()[static_cast<std::size_t>(task.first + row) * task.room + number] = entry;
}

/// Tests a pair, and lists it.
template <bool better_alone>
__device__ void test_pair(const SoftStage& soft, const Task& task, Rows& rows, const Pair& pair) {
  const StagedArguments& a = soft.stage.a;
  const Subject& mine = rows.row[pair.row];
  if (pair.column == task.first + pair.row)
    return;
  // A frame with such a row is gone through in turn.
  if (!better_alone && is_full(rows, task, pair.row))
    return;
  const Raw column = load(a, task.input + pair.column);
  const float4& box = column.box;
  const std::uint64_t key = rank_key(better_alone ? column.score : NAN, pair.column);
  if (better_alone && key < mine.key)
    return;
  if (!soft.stage.suppresses(key, box, mine))
    return;
  const float ratio = soft.ratio(box, mine.box);
  add_entry(soft, task, rows, pair.row, {pair.column, better_alone ? ratio : soft.factor(ratio)});
  if (better_alone && __float_as_uint(ratio) > load_relaxed(&rows.covered[pair.row]))
    atomicMax(&rows.covered[pair.row], __float_as_uint(ratio));
}

/// Finds and tests all pairs of the tile, a queue at a time.
template <bool better_alone, unsigned items>
__device__ void test_pairs(const SoftStage& soft, const Task& task, Rows& rows, std::uint32_t (&near)[items]) {
  while (true) {
    queue_pairs(rows, near);
    __syncthreads();
    const std::uint32_t queued = rows.queued;
    for (std::uint32_t q = threadIdx.x; q < min(queued, queue_room); q += blockDim.x)
      test_pair<better_alone>(soft, task, rows, Pair(rows.queue[q]));
    __syncthreads();
    if (queued <= queue_room)
      return;
    if (threadIdx.x == 0)
      rows.queued = 0;
    __syncthreads();
  }
}

/// Writes what is known of a row by place.
template <bool better_alone>
__device__ void write_row(const SoftStage& soft, const Task& task, const Rows& rows) {
  const std::uint32_t r = threadIdx.x;
  const std::uint32_t place = task.first + r;
  const bool valid = rows.valid[r];
  const float score = rows.score[r];
  soft.state(place) = {place * task.room, rows.count[r] > task.room ? unlisted : rows.count[r], score,
                       valid ? no_place : rejected};
  const ScoreWord word = valid ? ScoreWord::at_most(score) : ScoreWord::suppressed();
  soft.set_own_word(place, word);
  if (better_alone) {
    soft.covered(place) = __uint_as_float(rows.covered[r]);
  } else {
    soft.lowered_by(place) = ~0ull;
    soft.publish(place, word);
  }
}

/// What the sort would leave of the frame.
__device__ void write_frame(const SoftStage& soft, const RejectedCounts& rejected) {
  FrameCounters counters{};
  counters.invalid = rejected.invalid;
  counters.below_threshold = rejected.below_threshold;
  soft.stage.counters() = counters;
}

template <bool better_alone, unsigned items>
__global__ void __launch_bounds__(threads_max, 1) list_all_pairs(const __grid_constant__ SoftArguments a) {
  __shared__ Rows rows;
  const std::uint32_t first = blockIdx.x * a.tile;
  for (unsigned k = threadIdx.x; k < 2 * bins; k += blockDim.x)
    (&rows.near[0][0])[k] = 0;
  if (threadIdx.x == 0) {
    rows.queued = 0;
    rows.rejected = {0, 0};
  }
  __syncthreads();
  pdl_wait();
  const SoftStage soft(a, blockIdx.y);
  const Frames& frames = a.staged.frames;
  const std::uint32_t n = frames.size(soft.stage.frame);
  if (first >= n) {
    if (first == 0 && threadIdx.x == 0)
      write_frame(soft, {0, 0});
    return;
  }
  const Task task{frames.input(soft.stage.frame), n, first, min(a.tile, n - first),
                  a.entries_per_frame / frames.capacity};
  std::uint32_t near[items];
  find_near(soft, task, rows, near);
  test_pairs<better_alone>(soft, task, rows, near);
  if (threadIdx.x < task.rows)
    write_row<better_alone>(soft, task, rows);
  if (first == 0 && threadIdx.x == 0)
    write_frame(soft, rows.rejected);
}

template <bool better_alone, unsigned items>
void launch(const Call& call, const SoftArguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  // A thread for each row of the tile at least.
  const unsigned block = std::max(ceil_div(ceil_div(capacity, items), warp_size), 1u) * warp_size;
  launch_pdl(list_all_pairs<better_alone, items>, call, {call.grid(ceil_div(capacity, arguments.tile)), block},
             arguments);
}

template <bool better_alone>
void launch(const Call& call, const SoftArguments& arguments) {
  const std::uint32_t capacity = call.frames.capacity;
  if (capacity > 2 * threads_max)
    launch<better_alone, 4>(call, arguments);
  else if (capacity > threads_max)
    launch<better_alone, 2>(call, arguments);
  else
    launch<better_alone, 1>(call, arguments);
}
static_assert(tuning::direct_capacity == 4 * threads_max, "columns of a thread");

}  // namespace

std::uint32_t rows_of_tile(const Call& call) {
  const unsigned processors = current_device().processors;
  const auto rows = static_cast<std::uint32_t>((call.max_candidates() + processors - 1) / processors);
  return std::clamp(rows, 1u, rows_max);
}

void launch_all_pairs(const Call& call, const SoftArguments& arguments, bool better_alone) {
  if (better_alone)
    launch<true>(call, arguments);
  else
    launch<false>(call, arguments);
}

}  // namespace crowd::ruled
