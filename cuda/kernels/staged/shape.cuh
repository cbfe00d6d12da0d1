// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The staged path: sizes that follow from the capacity of a frame, and the words of a frame that are cleared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/call_rules.cuh"
#include "kernels/frames.cuh"
#include "kernels/tuning.hpp"

namespace crowd::CROWD_STAGED {

constexpr unsigned threads = tuning::staged_block;
constexpr unsigned warp_size = 32;
constexpr unsigned warps = threads / warp_size;

/// Samples that a block takes to see whether a frame is a crowd. A large frame has crowd_sets sets of these, and
/// blocks_per_set blocks compare each of them with others.
constexpr std::uint32_t crowd_samples = threads / 2;
constexpr std::uint32_t crowd_sets = 16;
constexpr std::uint32_t blocks_per_set = 4;
constexpr std::uint32_t large_crowd_blocks = crowd_sets * blocks_per_set;

/// Cells that a block looks for sources in.
constexpr std::uint32_t source_cells = threads;

/// Lanes that share a candidate, at least; and segments of a window that they look through at once.
constexpr unsigned lanes = 4;
constexpr unsigned candidates_per_block = threads / lanes;

/// Counters of cells and bins that a block scans.
constexpr std::uint32_t chunk = tuning::staged_block * 4;

/// Cells in a row that have a word for the size of their largest box (large.cuh). These words precede Stage::starts().
constexpr std::uint32_t size_cells = 64;

constexpr std::uint32_t floor_power_of_two(std::uint32_t n) {
  std::uint32_t power = 1;
  while (power <= n / 2)
    power *= 2;
  return power;
}

/// Sizes that follow from the capacity, but for those that launches set: window_blocks, min_per_warp, peak_blocks and
/// sought.
struct Shape {
  std::uint32_t columns, rows, bins;
  std::uint32_t chunks;
  std::uint32_t blocks;         ///< of `threads` candidates
  std::uint32_t window_blocks;  ///< of candidates_per_block, unless a launch has other ones
  std::uint32_t min_per_warp;   ///< candidates of a warp of stage six, at least
  std::uint32_t scan_begins;    ///< offset in the cleared words: counts of chunks
  std::uint32_t start_begins;   ///< offset in the cleared words: counters of cells and bins
  std::uint32_t words;          ///< cleared words of a frame
  std::uint32_t peak_blocks;    ///< of scan(), for peaks; 0: none are looked for
  std::uint32_t sought;         ///< candidates of the best scores, about

  CROWD_HD constexpr std::uint32_t cells() const {
    return columns * rows;
  }
};

/// First of a frame's cleared words. The look-back words, the counts of chunks, the sizes of largest boxes
/// and the counters of cells and bins follow.
struct FrameCounters {
  std::uint32_t done;           ///< ClearedWords::done()
  std::uint32_t width, height;  ///< bits of Largest
  std::uint32_t invalid, below_threshold;
  std::uint32_t tickets;  ///< drawn by blocks of stage six
  union {
    std::uint32_t list_entries;  ///< soft methods: reserved of the frame's
    std::uint32_t left;          ///< others: candidates listed as left of a dense crowd (left.cuh)
  };
  union {
    std::uint32_t in_turn;   ///< soft methods: 1 if survivors have to be found one after another
    std::uint32_t overlaps;  ///< others: how many of a large frame's sampled pairs overlap (crowd.cuh)
  };
  std::uint32_t incomplete;  ///< candidates that may have suppressors which are not on their lists
  std::uint32_t crowd;       ///< Crowd
  std::uint32_t best[2];     ///< candidates listed as such (best.cuh): of the upper half, and others
  std::uint32_t peaks;       ///< candidates listed as such (peaks.cuh)
};

static_assert(offsetof(FrameCounters, done) == 0);

/// What a frame is as to how many others a candidate overlaps.
enum Crowd : std::uint32_t { no_crowd = 0, sparse_crowd = 1, dense_crowd = 2 };

/// Blocks of stage six for a frame of that many candidates, if a warp has so many.
CROWD_HD constexpr std::uint32_t resolve_blocks(std::uint32_t candidates, std::uint32_t per_warp) {
  return candidates ? ceil_div(candidates, warps * per_warp) : 1;
}

constexpr std::uint32_t padded_words(std::uint32_t words) {
  return (words + 3) / 4 * 4;
}

/// Peaks are looked for among so many of the best, or fewer. There is room for twice as many, and for so many peaks: 24
/// bytes each, in half of StagedArrays::suppressors.
CROWD_HD constexpr std::uint32_t max_sought(std::uint32_t capacity) {
  const std::uint32_t part = capacity / 16;
  return part < tuning::staged_best ? part : tuning::staged_best;
}

/// Candidates that a frame has bits for, a multiple of 128: so many for each 2048 of its capacity, `max_room` at most,
/// and 0 where no peaks are looked for.
CROWD_HD constexpr std::uint32_t near_room(std::uint32_t capacity, std::uint32_t per_2048, std::uint32_t max_room) {
  if (capacity < tuning::staged_min_crowd)
    return 0;
  const std::uint32_t room = capacity / 2048 * per_2048;
  return room < per_2048 ? per_2048 : room < max_room ? room : max_room;
}

/// Peaks that a frame has bits for.
CROWD_HD constexpr std::uint32_t max_peaks(std::uint32_t capacity) {
  return near_room(capacity, 128, tuning::staged_peaks);
}

/// The same in map-reduce, where the best are peaks: about so many are sought.
CROWD_HD constexpr std::uint32_t max_best_peaks(std::uint32_t capacity) {
  const std::uint32_t all = max_peaks(capacity);
  const std::uint32_t of_larger = max_peaks(capacity / 2);
  const std::uint32_t enough = of_larger < tuning::staged_best_peaks ? tuning::staged_best_peaks : of_larger;
  return all < enough ? all : enough;
}

/// Candidates that no peak suppresses which a frame has bits for.
CROWD_HD constexpr std::uint32_t max_left(std::uint32_t capacity) {
  return near_room(capacity, 512, tuning::staged_left);
}

/// Words of NearBins: a bit for each bin of both axes and each of so many boxes.
CROWD_HD constexpr std::size_t near_words(std::uint32_t boxes) {
  return 2 * tuning::staged_near_bins * (boxes / 32);
}

constexpr Shape make_shape(std::uint32_t capacity) {
  constexpr std::uint32_t min_cells = 64;
  const std::uint32_t cells = floor_power_of_two(capacity < min_cells ? min_cells : capacity);
  Shape shape{};
  // Places of neighbouring cells in a row are consecutive, so a window costs by rows: many narrow columns, few rows.
  shape.columns = 1;
  while (shape.columns * shape.columns < 2 * tuning::staged_narrow * cells)
    shape.columns *= 2;
  shape.rows = cells / shape.columns;
  shape.bins = floor_power_of_two(capacity / 2 < min_cells ? min_cells : capacity / 2);
  shape.chunks = ceil_div(cells + shape.bins, chunk);
  shape.blocks = capacity ? ceil_div(capacity, threads) : 1;
  shape.min_per_warp = warp_size;
  shape.peak_blocks = 0;
  shape.sought = 0;
  shape.window_blocks = ceil_div(capacity, candidates_per_block);
  shape.scan_begins =
      padded_words(sizeof(FrameCounters) / sizeof(std::uint32_t) + resolve_blocks(capacity, tuning::staged_per_warp));
  shape.start_begins = padded_words(shape.scan_begins + shape.chunks + cells / size_cells);
  shape.words = padded_words(shape.start_begins + shape.chunks * chunk + 1);
  return shape;
}

}  // namespace crowd::CROWD_STAGED
