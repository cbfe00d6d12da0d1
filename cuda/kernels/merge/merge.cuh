// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Merging (crowd/nms.h): what follows a path's kernels where survivors leave with boxes and scores, or where those of
// few members are dropped. What its kernels share.
#pragma once

#include "kernels/frames.cuh"
#include "kernels/launch.cuh"
#include "kernels/tuning.hpp"

namespace crowd::merging {

constexpr unsigned warp_size = 32;
constexpr unsigned threads = tuning::warp_block;
constexpr unsigned warps = threads / warp_size;

/// Members of survivors, in no order, for frames in which it is long to look for them. Survivors of one member or of
/// more than tuning::merge_list have no list.
struct MemberLists {
  std::uint32_t* end;     ///< by survivor's index, an entry in `member`; before fill_lists(), where the list begins
  std::uint32_t* member;  ///< null: no lists
  std::uint32_t* cursor;  ///< [frames]: entries taken
};
constexpr std::uint32_t no_list = ~0u;

struct MergeArguments {
  Frames frames;            ///< with whole boxes
  CrowdNmsSurvivors found;  ///< by the path, with room for all; or `out`
  CrowdNmsSurvivors out;
  MemberLists lists;
  CrowdNmsClusterScore cluster_score;
  std::uint32_t min_members;

  /// First entry of a frame in found.survivors.
  __device__ std::size_t first_found(std::uint32_t frame) const {
    return static_cast<std::size_t>(frame) * found.max_survivors;
  }
  __device__ std::uint32_t written(std::uint32_t frame) const {
    return min(found.reports[frame].survivors, out.max_survivors);
  }
};

// Blocks take frame blockIdx.y.

/// One block a frame: drops survivors of few members, in place. Their own representatives become CROWD_NMS_NONE; those
/// of their other members stay, and name a candidate that is no survivor.
__global__ void drop_small(MergeArguments a);

// Member lists, in this order.
__global__ void clear_lists(MergeArguments a);
__global__ void place_lists(MergeArguments a);
__global__ void fill_lists(MergeArguments a);

/// What the path finds, and lists.
struct MergeArrays {
  CrowdNmsSurvivors found;
  MemberLists lists;
};
MergeArrays take_arrays(Carver& carver, std::uint32_t frames, std::uint32_t capacity);

/// The frames of a call with whole boxes.
Frames whole_frames(const Call& call);
/// Of a kernel in which a warp takes a survivor, and whose threads hand out the rest.
LaunchShape shape_of(const Call& call);
void launch_lists(const Call& call, const MergeArguments& arguments);
/// Own boxes and scores of survivors that are in the caller's arrays.
void write_own(const Call& call);

/// Writes survivors whose boxes are voted for, and all else that the caller wants.
void launch_vote(const Call& call, const LaunchShape& shape, const MergeArguments& arguments);

}  // namespace crowd::merging
