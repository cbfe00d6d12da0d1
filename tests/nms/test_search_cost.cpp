// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Steps a candidate on frames made to be slow, see search_steps.hpp. Those that a search has found: slow_frames.json.

#include <gtest/gtest.h>

#include "hard_boxes.hpp"
#include "search_steps.hpp"

namespace crowd::test {
namespace {

constexpr std::uint32_t n = 16384;

template <typename Method>
class SearchCost : public testing::Test {
 protected:
  double steps(const Boxes& set, double threshold) {
    return static_cast<double>(steps_.of<Method>(set, threshold)) / n;
  }

 private:
  SearchSteps steps_{n};
};

using Methods = testing::Types<Greedy, MapReduce>;
TYPED_TEST_SUITE(SearchCost, Methods);

TYPED_TEST(SearchCost, OfHardFramesIsBounded) {
  for (const Distribution& from : hard_distributions())
    for (const double threshold : {.3, .5, .7, .9})
      EXPECT_LT(this->steps(from.make(n, 1), threshold), 600) << from.name << " IoU > " << threshold;
}

TYPED_TEST(SearchCost, OfCrowdsNeedsNoSecondOrder) {
  for (const double threshold : {.3, .5, .7}) {
    EXPECT_LT(this->steps(crowd(n, 586, 7680, 4320, 1), threshold), 32) << "IoU > " << threshold;
    EXPECT_LT(this->steps(uniform(n, 3840, 2160, 1), threshold), 32) << "IoU > " << threshold;
  }
}

}  // namespace
}  // namespace crowd::test
