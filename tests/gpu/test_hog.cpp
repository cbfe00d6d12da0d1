// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The people detector on the GPU against what expect_hog wrote of OpenCV on the CPU, in the file that
// CROWD_HOG_EXPECTED names. CROWD_HOG_TIME=1 prints device times.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "detect/hog/hog.hpp"
#include "device_array.hpp"
#include "environment.hpp"
#include "hog_expected.hpp"

namespace crowd::test {
namespace {

constexpr float margin = 1e-3F;

struct Results {
  std::uint32_t count;
  std::vector<float> boxes, scores;
  std::vector<std::int32_t> classes;
  bool operator==(const Results&) const = default;
};

/// A frame on the device and room for what is found in it.
class DeviceSearch {
 public:
  DeviceSearch(const ExpectedFrame& frame, std::vector<float> detector, std::uint32_t capacity)
      : finder_(std::move(detector)),
        luma_(frame.luma.size()),
        count_(1),
        boxes_(std::size_t{4} * capacity),
        scores_(capacity),
        classes_(capacity),
        image_{luma_.get(), frame.width, frame.width, frame.height},
        windows_{count_.get(), boxes_.get(), scores_.get(), classes_.get(), capacity} {
    luma_.upload(frame.luma);
    EXPECT_EQ(finder_.prepare(frame.width, frame.height, frame.search).problem, "");
  }
  void enqueue() {
    ASSERT_EQ(finder_.enqueue(image_, windows_, nullptr).problem, "");
  }
  Results results() const {
    return {count_.download()[0], boxes_.download(), scores_.download(), classes_.download()};
  }
  const hog::DeviceFinder& finder() const {
    return finder_;
  }

 private:
  hog::DeviceFinder finder_;
  Array<std::uint8_t> luma_;
  Array<std::uint32_t> count_;
  Array<float> boxes_, scores_;
  Array<std::int32_t> classes_;
  hog::DeviceImage image_;
  hog::DeviceWindows windows_;
};

using Box = std::array<float, 4>;
using Scores = std::map<Box, float>;

struct List {
  std::vector<Box> order;
  Scores scores;
  void add(const Box& box, float score) {
    order.push_back(box);
    scores[box] = score;
  }
};

List list_of(const std::vector<ExpectedWindow>& windows) {
  List list;
  for (const ExpectedWindow& w : windows)
    list.add({w.x1, w.y1, w.x2, w.y2}, w.score);
  return list;
}

List list_of(const Results& results) {
  List list;
  for (std::size_t i = 0; i < results.count && i < results.scores.size(); i++) {
    const float* box = &results.boxes[4 * i];
    list.add({box[0], box[1], box[2], box[3]}, results.scores[i]);
    EXPECT_EQ(results.classes[i], 0);
  }
  return list;
}

/// Those of a list that are in the other; the rest has to be at the threshold.
std::vector<Box> shared(const List& list, const Scores& other, double threshold) {
  std::vector<Box> both;
  for (const Box& box : list.order)
    if (other.count(box))
      both.push_back(box);
    else
      EXPECT_NEAR(list.scores.at(box), threshold, static_cast<double>(margin)) << box[0] << ' ' << box[1];
  return both;
}

void compare(const ExpectedFrame& frame, const Results& results) {
  const List expected = list_of(frame.windows), found = list_of(results);
  const auto both = shared(expected, found.scores, frame.search.hit_threshold);
  EXPECT_EQ(both, shared(found, expected.scores, frame.search.hit_threshold)) << "another order";
  std::size_t near = 0;
  float max_difference = 0;
  for (const Box& box : both) {
    const float difference = std::abs(expected.scores.at(box) - found.scores.at(box));
    near += difference <= margin;
    max_difference = std::max(max_difference, difference);
  }
  EXPECT_EQ(expected.order.size(), expected.scores.size());
  EXPECT_GE(static_cast<double>(near), 0.99 * static_cast<double>(both.size()));
  std::printf(
      "%s, %dx%d: %zu windows on the CPU, %u on the GPU, %zu of both, %zu of them within %g, greatest "
      "difference %.3g\n",
      frame.name.c_str(), frame.width, frame.height, frame.windows.size(), results.count, both.size(), near,
      static_cast<double>(margin), static_cast<double>(max_difference));
}

void print_time(const ExpectedFrame& frame, DeviceSearch& run) {
  cudaEvent_t begin = nullptr, end = nullptr;
  expect_cuda(cudaEventCreate(&begin));
  expect_cuda(cudaEventCreate(&end));
  constexpr int each = 10;
  std::vector<float> times;
  for (int i = 0; i < 21; i++) {
    expect_cuda(cudaEventRecord(begin));
    for (int k = 0; k < each; k++)
      run.enqueue();
    expect_cuda(cudaEventRecord(end));
    expect_cuda(cudaEventSynchronize(end));
    float milliseconds = 0;
    expect_cuda(cudaEventElapsedTime(&milliseconds, begin, end));
    times.push_back(milliseconds / each);
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  std::printf("%s, %dx%d: %.4f ms, %u launches, %u windows, %.1f MiB\n", frame.name.c_str(), frame.width, frame.height,
              static_cast<double>(times[10]), hog::DeviceFinder::launches(), run.finder().window_count(),
              static_cast<double>(run.finder().device_bytes()) / (1 << 20));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

/// A frame of noise and a detector of noise, for where there is no file.
Expected made_up(int width, int height, unsigned seed) {
  std::mt19937 lots(seed);
  Expected all;
  for (int i = 0; i < 3781; i++)
    all.detector.push_back(static_cast<float>(lots() % 2001) / 1e4F - 0.1F);
  ExpectedFrame frame{"noise, seed " + std::to_string(seed), width, height, {}, {}, {}};
  for (int i = 0; i < width * height; i++)
    frame.luma.push_back(static_cast<std::uint8_t>(lots() >> 24));
  all.frames.push_back(frame);
  return all;
}

Expected from_file() {
  const char* path = std::getenv("CROWD_HOG_EXPECTED");
  return path ? read_expected(path) : Expected{};
}

TEST(Hog, finds_what_opencv_finds) {
  const Expected all = from_file();
  if (all.frames.empty())
    GTEST_SKIP() << "CROWD_HOG_EXPECTED is not set to a file that expect_hog has written";
  for (const ExpectedFrame& frame : all.frames) {
    DeviceSearch run(frame, all.detector, static_cast<std::uint32_t>(frame.windows.size()) + 1000);
    run.enqueue();
    compare(frame, run.results());
    if (is_set("CROWD_HOG_TIME"))
      print_time(frame, run);
  }
}

TEST(Hog, gives_the_same_bytes_a_hundred_times) {
  Expected all = from_file();
  if (all.frames.empty())
    all = made_up(1920, 1080, 1);
  ExpectedFrame& frame = all.frames[0];
  for (const double threshold : {frame.search.hit_threshold, 0.0, -10.0}) {
    frame.search.hit_threshold = threshold;
    DeviceSearch run(frame, all.detector, 4096);
    run.enqueue();
    const Results first = run.results();
    for (int i = 1; i < 100; i++) {
      run.enqueue();
      ASSERT_TRUE(run.results() == first) << "run " << i << ", threshold " << threshold;
    }
    std::printf("threshold %g: %u windows, room for 4096, 100 times\n", threshold, first.count);
  }
}

TEST(Hog, runs_on_noise) {
  for (const auto& [width, height] : {std::pair(768, 576), std::pair(1920, 1080)}) {
    const Expected all = made_up(width, height, 2);
    DeviceSearch run(all.frames[0], all.detector, 4096);
    run.enqueue();
    expect_cuda(cudaDeviceSynchronize());
    if (is_set("CROWD_HOG_TIME"))
      print_time(all.frames[0], run);
  }
}

}  // namespace
}  // namespace crowd::test
