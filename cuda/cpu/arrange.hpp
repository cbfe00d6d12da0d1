// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From a frame to a Task: the steps that greedy and map-reduce share.
#pragma once

#include "core/overlap.hpp"
#include "cpu/frame.hpp"

namespace crowd::cpu {

/// How candidates lie in a tree, see place.hpp.
enum class Order { place, kind };

/// Counts the candidates that are not valid, ranks the others and lays them out in scratch.space: small frames, and
/// rules under which disjoint boxes overlap, in rank order; others in a tree, by place with a limit of steps.
/// `representatives`, if any, become CROWD_NMS_REJECTED. The task refers to the job.
Task arrange(const Job& job, std::uint32_t* representatives, Order order, Outcome& outcome);
Task arrange(const Job&&, std::uint32_t*, Order, Outcome&) = delete;

/// The result of run(order): by place, or by kind if that took too many steps, and so is not `whole`.
template <typename Run>
auto in_either_order(Run run) {
  const auto result = run(Order::place);
  return result.whole ? result : run(Order::kind);
}

/// Marks all candidates of the space as remaining.
void restore_all(const Task& task);

/// Replaces the survivors' slots by the indices of their candidates.
void slots_to_indices(const Task& task, std::uint32_t survivors);

/// For the instruction set of this processor.
Kernels kernels();

}  // namespace crowd::cpu
