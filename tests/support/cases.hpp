// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The calls that every backend is held against the oracle with.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "oracle.hpp"

namespace crowd::test {

struct Case {
  std::string name;  ///< distribution, size, seed: enough to make the input again
  CrowdNmsParams params;
  Batch batch;
  Wanted wanted;
};

/// Method greedy on a frame of any distribution, with parameters drawn from the seed; one in twenty is large, so that
/// there are some for every way through the CUDA backend.
struct RandomFrame {
  std::string name;
  CrowdNmsParams params;
  Batch batch;
};
RandomFrame random_frame(std::uint64_t seed);

/// Every metric and comparator, with options drawn from a fixed seed, on every distribution and every one of `sizes`.
/// `per_size` limits the cases a distribution and size give; 0: no limit.
void for_each_case(std::span<const std::uint32_t> sizes, CrowdNmsMethod method, std::uint32_t per_size,
                   const std::function<void(const Case&)>& body);

/// Frames of huge_size candidates, which the oracle can afford but for methods that read paper_d_max: one of each
/// distribution in which boxes survive or are suppressed in a way of their own.
void for_each_huge_case(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Batches of ragged frames: empty ones, full ones, more than the capacity, out of order, with gaps.
void for_each_batch(CrowdNmsMethod method, const std::function<void(const Case&)>& body, std::uint64_t batches = 40);

/// Frames of up to 4096 candidates and of more, alone and together, with room for 4600 and their numbers in an array.
/// What the room holds would suppress them all.
void for_each_case_of_room(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Frames of so few candidates, counted beside much room, that all pairs are compared; alone and with some of more.
void for_each_case_of_tiny_frames(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Those, and frames of every distribution with a few candidates or none, their number in an array, and room for up to
/// 4096, which holds others.
void for_each_case_of_few(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Frames of every distribution and every one of `sizes`, of which the survivors alone are asked for. Some have room
/// for more, with their numbers in an array.
void for_each_case_of_survivors(std::span<const std::uint32_t> sizes, CrowdNmsMethod method,
                                const std::function<void(const Case&)>& body);

/// Small boxes, and some of all sizes up to the whole picture, which overlap one another alone. Of the direct path's
/// sizes and of larger ones. And two so wide that an extent in cells is no finite number.
void for_each_case_of_giants(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Frames in which most candidates fall to the best of their cluster: few and many clusters, scores in steps, equal
/// boxes, thresholds at which boxes far apart overlap, classes, low scores; and one beside a sparse frame and a small
/// one.
void for_each_case_of_crowds(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Batches of frames of more than 4096 candidates, with and without representatives: crowds among frames that are none,
/// small ones and empty ones; equal scores, candidates that are not valid, thresholds, classes.
void for_each_batch_of_crowds(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Candidates of many classes, of all numbers there are, in one spot: that class alone keeps most of them apart. Small
/// ones, and some as wide or as high as a grid of cells.
void for_each_case_of_classes(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Boxes around one point: of the direct path, rows with masks.
void for_each_case_of_nested(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Frames of n candidates of which whole blocks of the CUDA backend wait for others, and of which most scores share a
/// bin.
void for_each_case_of_waiting(std::uint32_t n, CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// Every metric, with several thresholds, on the distributions of hard_boxes.hpp, of a size with a tree.
void for_each_hard_case(CrowdNmsMethod method, const std::function<void(const Case&)>& body);

/// A batch of frames of a few objects, the best windows first, as a detector that sorts leaves them: the last of each
/// frame have as many suppressors as there are windows of their object.
Case sorted_crowds(CrowdNmsMethod method);

/// Frames for wbf in which a fused box reaches over a corner that no member covers, and takes in candidates that
/// overlap none. In some these move it to further ones.
void for_each_case_of_corners(const std::function<void(const Case&)>& body);

/// The case with a way of merging, drawn from its name, and all outputs that there are; one in four without. For
/// backends that merge.
Case merging(Case it);

/// One way of calling a backend.
struct Mode {
  const char* name;
  Runner run;
};

/// Runs the case in every mode, and on the oracle once; on a difference prints what it takes to repeat it.
void expect_as_oracle(std::span<const Mode> modes, const Case& it);
void expect_as_oracle(const Runner& runner, const Case& it);

}  // namespace crowd::test
