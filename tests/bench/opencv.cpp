// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// OpenCV's NMSBoxes for bench_gpu.py, without what Python's binding spends on converting lists.

#include <cstddef>
#include <cstdint>
#include <opencv2/dnn.hpp>
#include <vector>

namespace {

struct Frame {
  std::vector<cv::Rect2d> boxes;
  std::vector<float> scores;
  std::vector<int> kept;
};

}  // namespace

extern "C" {

/// n boxes x1 y1 x2 y2.
Frame* bench_opencv_new(const float* boxes, const float* scores, std::uint32_t n) {
  auto* frame = new Frame;
  for (const float* box = boxes; box != boxes + std::size_t{4} * n; box += 4)
    frame->boxes.emplace_back(box[0], box[1], box[2] - box[0], box[3] - box[1]);
  frame->scores.assign(scores, scores + n);
  return frame;
}

std::uint32_t bench_opencv_run(Frame* frame, float threshold) {
  cv::dnn::NMSBoxes(frame->boxes, frame->scores, 0.0f, threshold, frame->kept);
  return static_cast<std::uint32_t>(frame->kept.size());
}

const int* bench_opencv_kept(const Frame* frame) {
  return frame->kept.data();
}

void bench_opencv_free(Frame* frame) {
  delete frame;
}

}  // extern "C"
