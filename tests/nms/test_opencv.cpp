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

}  // namespace
}  // namespace crowd::test
