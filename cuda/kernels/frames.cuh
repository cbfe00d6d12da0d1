// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of a call share: the batch, the call, the scratch arrays of method paper.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "core/carver.hpp"
#include "core/decay.hpp"
#include "core/rules.hpp"
#include "core/validity.hpp"
#include "kernels/gather.cuh"
#include "kernels/tuning.hpp"

namespace crowd {

/// The batch, as kernels see it. Kernels handle frame blockIdx.y unless they say otherwise.
struct Frames {
  const float4* boxes;
  const float* scores;
  const std::int32_t* classes;  ///< null: one class
  const std::uint32_t* offsets;
  const std::uint32_t* counts;
  std::uint32_t capacity;
  std::uint32_t limit;     ///< candidates of a frame that are looked at: the capacity, or less in method paper
  std::uint32_t over = 0;  ///< frames of up to so many are left to other launches, and have a size of 0 here

  __device__ std::uint32_t count(std::uint32_t frame) const {
    return counts ? counts[frame] : capacity;
  }
  /// Candidates that have an entry in the arrays.
  __device__ std::uint32_t held(std::uint32_t frame) const {
    return min(count(frame), capacity);
  }
  __device__ std::uint32_t size(std::uint32_t frame) const {
    const std::uint32_t looked_at = min(count(frame), limit);
    return looked_at > over ? looked_at : 0;
  }
  /// Whether the frame is not one of those. May be asked before pdl_wait() in all launches of a call but the first.
  /// Stages up to the sixth end without waiting where it is one; that one waits for the direct path (cuda/MEMORY.md).
  __device__ bool takes(std::uint32_t frame) const {
    return over == 0 || size(frame) > 0;
  }
  /// Index of the frame's first candidate in boxes, scores and classes.
  __device__ std::size_t input(std::uint32_t frame) const {
    return offsets ? offsets[frame] : static_cast<std::size_t>(frame) * capacity;
  }
  /// Index of the frame's first entry in the scratch arrays.
  __device__ std::size_t slot(std::uint32_t frame) const {
    return static_cast<std::size_t>(frame) * capacity;
  }
};

__device__ inline CrowdNmsBox as_box(float4 b) {
  return {b.x, b.y, b.z, b.w};
}

/// What a frame's report says. `count`: Frames::count(); `n`: of these, how many were looked at.
__device__ inline CrowdNmsReport frame_report(std::uint32_t count, std::uint32_t n, std::uint32_t invalid,
                                              std::uint32_t below_threshold, std::uint32_t survivors,
                                              std::uint32_t max_survivors) {
  return {count,           count - n, invalid,
          below_threshold, survivors, survivors > max_survivors ? survivors - max_survivors : 0};
}

/// Lists of candidates, one a frame; entries begin at Frames::slot().
struct PaperLists {
  std::uint32_t* index;
  std::uint32_t* size;
};

CROWD_HD constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) {
  return a / b + (a % b != 0);
}

/// PaperScratch arrays of method paper: frames * capacity entries, and sizes of [frames].
struct PaperScratch {
  std::uint64_t* key;    ///< rank_key() of the candidate
  std::uint32_t* kept;   ///< 1 if the candidate survives, else 0
  PaperLists survivors;  ///< by index
  // The survivors in rank order.
  std::uint32_t* ranked_index;
  std::uint64_t* ranked_key;
  float4* ranked_box;
  std::uint32_t* members;
};

inline PaperScratch take_paper_scratch(Carver& carver, std::uint32_t frames, std::uint32_t capacity) {
  const std::size_t total = static_cast<std::size_t>(frames) * capacity;
  PaperScratch scratch;
  scratch.key = carver.take<std::uint64_t>(total);
  scratch.kept = carver.take<std::uint32_t>(total);
  scratch.survivors = {carver.take<std::uint32_t>(total), carver.take<std::uint32_t>(frames)};
  scratch.ranked_index = carver.take<std::uint32_t>(total);
  scratch.ranked_key = carver.take<std::uint64_t>(total);
  scratch.ranked_box = carver.take<float4>(total);
  scratch.members = carver.take<std::uint32_t>(total);
  return scratch;
}

/// Words of a frame that have to be 0 before stages begin, in quads; those of the next frame follow.
struct ClearedWords {
  uint4* first = nullptr;
  std::uint32_t quads = 0;

  /// By `step` threads of the grid.
  __device__ void clear(std::uint32_t frame, std::uint32_t thread, std::uint32_t step) const {
    for (std::uint32_t i = thread; i < quads; i += step)
      first[static_cast<std::size_t>(frame) * quads + i] = {0, 0, 0, 0};
  }
  /// Of a frame that the direct path takes: 0, set by map(), until reduce() has written all results, and 1 then
  /// (cuda/MEMORY.md).
  __device__ std::uint32_t* done(std::uint32_t frame) const {
    return &first[static_cast<std::size_t>(frame) * quads].x;
  }
};

/// One call of crowd_nms_cuda().
struct Call {
  CrowdNmsParams params;
  Frames frames;
  std::uint32_t frame_count;
  CrowdNmsSurvivors out;
  cudaStream_t stream;
  RuleArrays rule_arrays{};                 ///< of all frames
  const float4* whole = nullptr;            ///< boxes, where frames.boxes are their visible parts
  ClearedWords cleared{};                   ///< which the direct path clears for the frames that it leaves to stages
  bool all_suppress = false;                ///< suppressed candidates suppress, too: map-reduce
  PaperScratch scratch{};                   ///< of method paper alone
  Gathering gathering{};                    ///< what kernels that write `out` may gather as well
  mutable bool is_gathered = false;         ///< they do
  mutable cudaError_t error = cudaSuccess;  ///< of the first launch that failed

  /// cudaGetLastError() would take an error that is the application's.
  void note(cudaError_t launched) const {
    if (error == cudaSuccess)
      error = launched;
  }

  OverlapRule rule() const {
    return overlap_rule(params);
  }
  bool by_class() const {
    return frames.classes && !params.class_agnostic;
  }
  /// Of all frames, if each has as many as its capacity.
  std::uint64_t max_candidates() const {
    return std::uint64_t{frame_count} * frames.capacity;
  }
  /// Whether the direct path takes every frame.
  bool is_direct() const {
    const bool is_large_batch =
        !frames.counts && frames.capacity >= tuning::direct_batched && max_candidates() >= tuning::direct_max_batch;
    return frames.capacity <= tuning::direct_capacity && !is_large_batch;
  }
  dim3 grid(std::uint32_t blocks) const {
    return {blocks ? blocks : 1, frame_count, 1};
  }
};

/// How a method runs on the device: its row's on_cuda(). Arguments have been checked; the workspace has
/// workspace_bytes() and is aligned to workspace_alignment. launch() enqueues kernels, which read the numbers of
/// candidates on the device.
struct DeviceMethod {
  std::size_t (*workspace_bytes)(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity);
  void (*launch)(Call& call, std::byte* workspace);
  std::uint32_t max_capacity = tuning::staged_capacity;
};
constexpr std::size_t workspace_alignment = 256;

// Launches.

/// Greedy or map-reduce with all outputs, for frames of up to direct_capacity candidates (but see Call::is_direct());
/// launches nothing for a capacity of 0. Larger frames are left alone, and nothing is gathered if the capacity allows
/// them. `carver`: workspace_bytes() of device memory.
namespace direct {
void launch(const Call& call, Carver carver);
std::size_t workspace_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment);
/// Map-reduce without representatives and members, for up to direct_with_room frames of a capacity above
/// direct_capacity and up to one_pass_capacity, by a rule that is
/// bounded() (near.cuh). `carver`: workspace_bytes() of both paths.
void launch_one_pass(const Call& call, Carver carver);
}  // namespace direct

/// The same, with what needs_pair_test() and needs_admission() are about.
namespace ruled_direct {
void launch(const Call& call, Carver carver);
void launch_one_pass(const Call& call, Carver carver);
}  // namespace ruled_direct

/// Greedy or map-reduce with all outputs, for any capacity. `carver`: workspace_bytes() of device memory.
namespace staged {
void launch(const Call& call, Carver carver);
/// At the begin of that memory.
ClearedWords cleared_words(const Call& call, Carver carver);
std::size_t workspace_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment);
}  // namespace staged

/// The same, with what needs_pair_test() and needs_admission() are about.
namespace ruled {
void launch(const Call& call, Carver carver);
ClearedWords cleared_words(const Call& call, Carver carver);
std::size_t workspace_bytes(std::uint32_t frames, std::uint32_t capacity, std::size_t alignment);

/// Soft-NMS with all outputs, for frames of up to tuning::soft_capacity candidates. Those of a capacity of
/// up to `max_unsorted`, direct_capacity at most, are not sorted.
template <Decay decay>
void launch_soft(Call& call, std::byte* workspace, std::uint32_t max_unsorted);
std::size_t soft_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity);
/// Matrix NMS likewise.
template <Decay decay>
void launch_matrix(Call& call, std::byte* workspace, std::uint32_t max_unsorted);
std::size_t matrix_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity);
/// Weighted box fusion likewise.
void launch_fusion(Call& call, std::byte* workspace);
std::size_t fusion_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity);
}  // namespace ruled

/// Merging of what a method's launches find, and the own boxes and scores of survivors.
namespace merging {
/// Of params, whatever the outputs.
std::size_t workspace_bytes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity);
/// Runs the method by `launch` and does what merging the call asks for. `workspace`: workspace_bytes() of device
/// memory, followed by the method's.
void launch(Call& call, std::byte* workspace, void (*launch)(Call& call, std::byte* workspace));

/// Non-maximum weighted with all outputs. `workspace`: nmw_bytes() of device memory, followed by what `greedy` needs.
void launch_nmw(Call& call, std::byte* workspace, void (*greedy)(Call& call, std::byte* workspace));
std::size_t nmw_bytes(std::uint32_t frames, std::uint32_t capacity);
}  // namespace merging

/// Algorithms 1 and 2: decides which candidates are kept. `scratch`: paper_scratch_bytes() of device memory.
void launch_paper(const Call& call, std::byte* scratch);
std::size_t paper_scratch_bytes(std::uint64_t side);

// The outputs of method paper, in this order.

/// Lists the kept candidates by index and writes the reports.
void launch_collect(const Call& call);
/// Copies the survivors in rank order to the ranked arrays.
void launch_rank(const Call& call);
/// Writes the survivors from the ranked arrays.
void launch_survivors(const Call& call);
/// Writes representatives and members, if asked for, from the ranked arrays.
void launch_representatives(const Call& call);

}  // namespace crowd
