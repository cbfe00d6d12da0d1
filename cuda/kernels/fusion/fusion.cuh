// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Weighted box fusion, for frames of up to soft_capacity candidates: behind the sort of the staged path, kernels that
// take the frame apart into components of boxes that overlap, by less than the call asks for, and fuse each by itself.
// What they share is here. Compiled with CROWD_RULED.
//
// A fused box may overlap candidates of other components. These are looked for afterwards, and such components are
// fused again as one (PROOFS.md, section 10).
#pragma once

#include "core/fusion.hpp"
#include "kernels/fusion/forest.cuh"
#include "kernels/staged/window.cuh"

namespace crowd::ruled {

/// Clusters, by slot. A frame has two slots a candidate: those of a component begin where its list does, those of
/// components that are fused as one are in the second half. [2 * frames * capacity]
struct ClusterArrays {
  float4* fused;           ///< the box as it is
  float4* hull;            ///< around the fused boxes that there were
  float4* core;            ///< what these have in common, if x2 > x1 and y2 > y1
  double* sums;            ///< four a cluster: sum(w * x)
  double* weights;         ///< sum(w)
  double* scores;          ///< sum(score)
  std::uint32_t* members;  ///< 0: no cluster
  std::uint32_t* founder;  ///< its place
  std::int32_t* label;
};

struct FusionCounters {
  std::uint32_t listed;     ///< entries of `member`
  std::uint32_t large;      ///< entries of `large`
  std::uint32_t conflicts;  ///< entries of `conflict`
  std::uint32_t again;      ///< slots of the second half in use, for components that are fused again
  std::uint32_t whole;      ///< 1: all components of the frame are fused as one
};

/// Arrays of frames * capacity entries beside those of the staged path.
struct FusionArrays {
  FusionCounters* counters;  ///< [frames]
  ClusterArrays clusters;
  std::uint32_t* parent;    ///< forest of places: components
  std::uint32_t* joined;    ///< forest of their roots: components that are fused as one
  std::uint32_t* size;      ///< by root: candidates of the component
  std::uint32_t* begin;     ///< by root: where its list begins
  std::uint32_t* number;    ///< by rank: the candidate's number in its component, in no order
  std::uint32_t* member;    ///< lists of components: ranks, in no order
  std::uint32_t* large;     ///< roots of components that are fused by whole blocks
  std::uint32_t* conflict;  ///< roots of components with clusters that may overlap others
  std::uint32_t* cluster;   ///< by place: slot of the candidate's cluster
};

struct FusionArguments {
  StagedArguments staged;  ///< boxes overlap by `rule` that meet at all; `rules` has the call's test of pairs
  FusionArrays arrays;
  FusedModels models;
  bool all_meet;       ///< boxes that are apart overlap, too
  float overlap_part;  ///< PairRule::min_part of the call's rule
  PairRule uniting;    ///< by which candidates of one component overlap
};
static_assert(sizeof(FusionArguments) <= 4096, "what a kernel takes");

constexpr unsigned fusion_threads = tuning::warp_block;
constexpr unsigned fusion_warps = fusion_threads / warp_size;

/// A frame's part of the arrays.
struct FusionStage {
  const FusionArguments& a;
  Stage stage;

  __device__ FusionStage(const FusionArguments& arguments, std::uint32_t frame)
      : a(arguments), stage(arguments.staged, frame) {}

  __device__ std::uint32_t size() const {
    return stage.size();
  }
  __device__ std::uint32_t place_of(std::uint32_t rank) const {
    return stage.a.arrays.ranked[stage.slot + rank];
  }
  __device__ std::uint64_t key(std::uint32_t place) const {
    return stage.a.arrays.key[stage.slot + place];
  }
  __device__ const float4& box(std::uint32_t place) const {
    return stage.a.arrays.box[stage.slot + place];
  }
  __device__ FusionCounters& counters() const {
    return a.arrays.counters[stage.frame];
  }
  __device__ std::uint32_t* parents() const {
    return a.arrays.parent + stage.slot;
  }
  __device__ std::uint32_t* joined() const {
    return a.arrays.joined + stage.slot;
  }
  /// Once components are counted.
  __device__ std::uint32_t root(std::uint32_t place) const {
    return parents()[place];
  }
  /// Once all are joined.
  __device__ std::uint32_t joined_root(std::uint32_t place) const {
    return find_root(joined(), root(place));
  }
  /// First entry of the frame in ClusterArrays.
  __device__ std::size_t first_slot() const {
    return 2 * stage.slot;
  }
  __device__ std::uint32_t component_size(std::uint32_t root) const {
    return a.arrays.size[stage.slot + root];
  }
  __device__ std::uint32_t& cluster(std::uint32_t place) const {
    return a.arrays.cluster[stage.slot + place];
  }
  __device__ float area_of(const float4& b) const {
    return area(as_box(b), stage.a.rule.overlap.offset);
  }
  /// Whether boxes have `part` of the sum of their areas in common, and anything at all.
  __device__ bool share(const float4& one, const float4& other, float areas, float part) const {
    const float offset = stage.a.rule.overlap.offset;
    const float w = fminf(one.z, other.z) - fmaxf(one.x, other.x) + offset;
    const float h = fminf(one.w, other.w) - fmaxf(one.y, other.y) + offset;
    return static_cast<int>(w > 0) & static_cast<int>(h > 0) &
           static_cast<int>(!(w * h < __fmaf_rn(part, areas, -1e-37f)));
  }
};

// The kernels. Blocks take frame blockIdx.y.

// Components, in this order.
__global__ void begin_components(FusionArguments a);
/// Unites candidates that overlap by FusionArguments::unite_part. A warp takes a candidate.
__global__ void unite(FusionArguments a);
__global__ void count_components(FusionArguments a);
__global__ void place_components(FusionArguments a);
__global__ void list_components(FusionArguments a);

/// Fuses components of up to tuning::fusion_list candidates. A warp takes one.
__global__ void fuse(FusionArguments a);
/// Fuses larger ones, a block each.
__global__ void fuse_large(FusionArguments a);
/// Joins components with those whose candidates their fused boxes may overlap. A warp takes a cluster.
__global__ void check_clusters(FusionArguments a);
/// Fuses joined components again. A block takes one or more.
__global__ void fuse_again(FusionArguments a);
/// Whether these may overlap others once more. A warp takes a cluster.
__global__ void check_again(FusionArguments a);
/// Fuses frames in which that is so, or all boxes overlap, as one. A block a frame.
__global__ void fuse_whole(FusionArguments a);
/// All outputs. A block a frame.
__global__ void write_fused(FusionArguments a);

}  // namespace crowd::ruled
