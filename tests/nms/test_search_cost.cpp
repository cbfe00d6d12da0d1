// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How many nodes and leaves of its tree the CPU backend looks at for each candidate, on frames made to be slow: a
// count, which is the same on every machine. A step takes some 3 ns.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "core/methods.hpp"
#include "cpu/arrange.hpp"
#include "frame_of.hpp"
#include "hard_boxes.hpp"

namespace crowd::test {
namespace {

using namespace cpu;

constexpr std::uint32_t n = 16384;

struct Searched {
  const char* name;
  Outcome (*on_cpu)(const Job& job);
};

class SearchCost : public testing::TestWithParam<Searched> {
 protected:
  /// Steps a candidate.
  double steps(const Boxes& set, double threshold) {
    const CrowdNmsParams params = with_threshold(threshold);
    const Rule rule(params);
    const Frame frame = frame_of(set);
    Outcome outcome = GetParam().on_cpu({params, rule, frame, scratch_, representatives_.data(), 0});
    return static_cast<double>(outcome.steps) / n;
  }

 private:
  static CrowdNmsParams with_threshold(double threshold) {
    CrowdNmsParams params;
    crowd_nms_params_init(&params);
    params.overlap_threshold = threshold;
    return params;
  }
  static std::size_t workspace_bytes() {
    std::size_t bytes = 0;
    carve(nullptr, n, bytes);
    return bytes;
  }

  std::size_t bytes_ = workspace_bytes();
  std::unique_ptr<void, void (*)(void*)> workspace_{std::aligned_alloc(workspace_alignment, bytes_), std::free};
  Scratch scratch_ = carve(workspace_.get(), n, bytes_);
  std::vector<std::uint32_t> representatives_ = std::vector<std::uint32_t>(n);
};

TEST_P(SearchCost, of_hard_frames_is_bounded) {
  for (const Distribution& from : hard_distributions())
    for (const double threshold : {.3, .5, .7, .9})
      EXPECT_LT(steps(from.make(n, 1), threshold), 600) << from.name << " IoU > " << threshold;
}

TEST_P(SearchCost, of_crowds_needs_no_second_order) {
  for (const double threshold : {.3, .5, .7}) {
    EXPECT_LT(steps(crowd(n, 586, 7680, 4320, 1), threshold), 32) << "IoU > " << threshold;
    EXPECT_LT(steps(uniform(n, 3840, 2160, 1), threshold), 32) << "IoU > " << threshold;
  }
}

INSTANTIATE_TEST_SUITE_P(Method, SearchCost,
                         testing::Values(Searched{"greedy", Greedy::on_cpu}, Searched{"map_reduce", MapReduce::on_cpu}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace crowd::test
