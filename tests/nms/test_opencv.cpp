// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A third opinion: cv::dnn::NMSBoxes. It computes in double, so frames where some pair lies within a hair of the
// threshold are left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/dnn.hpp>
#include <vector>

#include "oracle.hpp"

namespace crowd::test {
namespace {

double iou(const cv::Rect2d& a, const cv::Rect2d& b) {
  const double inter = (a & b).area();
  return inter / (a.area() + b.area() - inter);
}

bool is_close_call(const std::vector<cv::Rect2d>& boxes, double threshold) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(iou(boxes[i], boxes[j]) - threshold) < 1e-6)
        return true;
    }
  }
  return false;
}

TEST(OpenCv, keeps_the_same_boxes_in_the_same_order) {
  int compared = 0;
  int left_out = 0;
  for (const char* name : {"uniform", "dense", "clustered", "same_box", "disjoint_grid", "nested", "mixed_sizes"}) {
    for (const std::uint32_t n : {1u, 2u, 33u, 200u, 1000u}) {
      for (const float threshold : {0.31f, 0.47f, 0.5f, 0.72f}) {
        const std::uint64_t seed = n + static_cast<std::uint64_t>(1000 * threshold);
        const Boxes set = distribution(name).make(n, seed);
        std::vector<cv::Rect2d> boxes;
        for (const CrowdNmsBox& box : set.boxes)
          boxes.emplace_back(box.x1, box.y1, double{box.x2} - box.x1, double{box.y2} - box.y1);
        if (is_close_call(boxes, threshold)) {
          ++left_out;
          continue;
        }
        std::vector<int> theirs;
        cv::dnn::NMSBoxes(boxes, set.scores, 0.0f, threshold, theirs);
        CrowdNmsParams params = default_params();
        params.overlap_threshold = threshold;
        params.class_agnostic = 1;
        // OpenCV wants score > threshold.
        params.score_threshold = std::nextafter(0.0f, 1.0f);
        Result ours = run_cpu(params, Batch::of(set), {.max_survivors = n});
        ours.survivors.resize(ours.reports[0].survivors);
        ++compared;
        ASSERT_EQ(std::vector<int>(ours.survivors.begin(), ours.survivors.end()), theirs)
            << name << " n=" << n << " seed=" << seed << " IoU > " << threshold;
      }
    }
  }
  EXPECT_GT(compared, 100) << left_out << " frames were close calls";
}

/// Boxes of whole pixels, many of equal scores, none apart from all.
Boxes whole_pixels(std::uint32_t n, std::uint64_t seed) {
  Dice dice(seed);
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(dice.below(300)), y = static_cast<float>(dice.below(200));
    const auto w = static_cast<float>(10 + dice.below(60)), h = static_cast<float>(10 + dice.below(90));
    set.add({x, y, x + w, y + h}, static_cast<float>(1 + dice.below(40)) / 41);
  }
  return set;
}

/// Those whose scores are within rounding of each other, in the order of their indices.
template <typename Index>
std::vector<int> in_order(const std::vector<Index>& survivors, const std::vector<float>& scores, std::size_t count) {
  std::vector<int> order(survivors.begin(), survivors.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t first = 0, r = 1; r <= count; ++r) {
    if (r < count && scores[r - 1] - scores[r] < 1e-6f)
      continue;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(r));
    first = r;
  }
  return order;
}

// It multiplies in the order of its picks, too, with factors in float of an exp() of its own.
TEST(OpenCv, lowers_scores_as_soft_nms_does) {
  using Method = cv::dnn::SoftNMSMethod;
  for (const auto& [method, theirs] : {std::pair{CROWD_NMS_SOFT_LINEAR, Method::SOFTNMS_LINEAR},
                                       std::pair{CROWD_NMS_SOFT_GAUSSIAN, Method::SOFTNMS_GAUSSIAN}}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const std::uint32_t n = 1 + seed * 3;
      const Boxes set = whole_pixels(n, seed);
      std::vector<cv::Rect> boxes;
      for (const CrowdNmsBox& box : set.boxes)
        boxes.emplace_back(static_cast<int>(box.x1), static_cast<int>(box.y1), static_cast<int>(box.x2 - box.x1),
                           static_cast<int>(box.y2 - box.y1));
      std::vector<float> scores;
      std::vector<int> indices;
      cv::dnn::softNMSBoxes(boxes, set.scores, scores, 0.1f, 0.3f, indices, 0, 0.5f, theirs);
      CrowdNmsParams params = default_params();
      params.method = method;
      params.overlap_threshold = 0.3f;  // a float there
      params.class_agnostic = 1;
      // OpenCV wants score > threshold of candidates, and >= of what is left.
      params.score_threshold = 0.1f;
      Wanted wanted = {.max_survivors = n};
      wanted.scores = true;
      Result ours = run_cpu(params, Batch::of(set), wanted);
      ASSERT_EQ(ours.reports[0].survivors, indices.size()) << "seed " << seed;
      for (std::size_t r = 0; r < scores.size(); ++r)
        ASSERT_NEAR(ours.scores[r], scores[r], 1e-6) << "seed " << seed;
      ASSERT_EQ(in_order(ours.survivors, ours.scores, indices.size()), in_order(indices, ours.scores, indices.size()))
          << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace crowd::test
