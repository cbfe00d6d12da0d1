// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a search of the CPU backend costs, as a count that is the same on every machine.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/methods.hpp"
#include "cpu/arrange.hpp"
#include "frame_of.hpp"

namespace crowd::test {

/// Nodes and leaves of its tree that the CPU backend looks at, of frames of `n` candidates at most. A step takes some 3
/// ns.
class SearchSteps {
 public:
  explicit SearchSteps(std::uint32_t n)
      : bytes_(workspace_bytes(n)), scratch_(cpu::carve(workspace_.get(), n, bytes_)) {
    representatives_.resize(n);
  }

  /// With representatives, which take another pass. `Method`: Greedy or MapReduce.
  template <typename Method>
  std::uint64_t of(const Boxes& set, double threshold) {
    CrowdNmsParams params;
    crowd_nms_params_init(&params);
    params.overlap_threshold = threshold;
    const cpu::Rule rule(params);
    const cpu::Frame frame = frame_of(set);
    return Method::on_cpu({params, rule, frame, scratch_, representatives_.data(), 0}).steps;
  }

 private:
  static std::size_t workspace_bytes(std::uint32_t n) {
    std::size_t bytes = 0;
    cpu::carve(nullptr, n, bytes);
    return bytes;
  }

  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> workspace_{std::aligned_alloc(cpu::workspace_alignment, bytes_), std::free};
  cpu::Scratch scratch_;
  std::vector<std::uint32_t> representatives_;
};

}  // namespace crowd::test
