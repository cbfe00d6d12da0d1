// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The preset opencv beside OpenCV, on boxes for which its rounding of 1 - IoU does not matter: see tied_crowd().

#include <opencv2/dnn.hpp>

#include "presets.hpp"

namespace {

using namespace crowd::test;

Indices as_opencv(const Frame& frame) {
  std::vector<cv::Rect2d> boxes;
  std::vector<float> scores;
  for (const Candidate& c : frame) {
    boxes.emplace_back(c.x1, c.y1, double{c.x2} - c.x1, double{c.y2} - c.y1);
    scores.push_back(c.score);
  }
  std::vector<int> kept;
  cv::dnn::NMSBoxes(boxes, scores, .5F, .4F, kept);
  return {kept.begin(), kept.end()};
}

Indices as_opencv_in_pixels(const Frame& frame) {
  std::vector<cv::Rect> boxes;
  std::vector<float> scores;
  for (const Candidate& c : frame) {
    boxes.emplace_back(int(c.x1), int(c.y1), int(c.x2 - c.x1), int(c.y2 - c.y1));
    scores.push_back(c.score);
  }
  std::vector<int> kept;
  cv::dnn::NMSBoxes(boxes, scores, .5F, .4F, kept);
  return {kept.begin(), kept.end()};
}

/// Four times as large, so that quarters of a pixel are whole ones.
Frame whole_pixels(unsigned seed, std::size_t n) {
  Frame crowd = tied_crowd(seed, n);
  for (Candidate& c : crowd)
    c.x1 *= 4, c.y1 *= 4, c.x2 *= 4, c.y2 *= 4;
  return crowd;
}

TEST(crowdnms_presets, opencv_is_what_nms_boxes_does) {
  expect_rule("opencv", as_opencv, tied_crowd);
}

TEST(crowdnms_presets, opencv_is_what_nms_boxes_does_with_whole_pixels) {
  expect_rule("opencv", as_opencv_in_pixels, whole_pixels);
}

}  // namespace
