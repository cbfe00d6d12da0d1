// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The people detector's kernels against OpenCV on the CPU, without a GPU.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/keepbest.hpp"
#include "count_allocations.hpp"
#include "detect/hog/hog.hpp"
#include "detect/windows.hpp"
#include "emulator.hpp"
#include "pictures.hpp"

namespace crowd::test {
namespace {

constexpr float near_enough = 2e-5F;

/// Noise that is smooth over a few pixels, with edges.
cv::Mat texture(cv::Size size, unsigned seed) {
  std::mt19937 lots(seed);
  cv::Mat_<std::uint8_t> picture(size);
  for (auto& pixel : picture)
    pixel = static_cast<std::uint8_t>(lots() >> 24);
  cv::GaussianBlur(picture, picture, {}, 1.5 + seed % 3);
  cv::normalize(picture, picture, 0, 255, cv::NORM_MINMAX);
  for (int k = 0; k < 6; k++)
    cv::rectangle(picture, cv::Point(lots() % size.width, lots() % size.height),
                  cv::Point(lots() % size.width, lots() % size.height), lots() % 256, k % 2 ? 1 : 3);
  return picture;
}

struct Found {
  std::uint32_t count = 0;
  std::vector<Window> windows;
};

constexpr float untouched = -12345;

/// Memory for what is found, and for one more that nothing is written to.
struct Room {
  struct alignas(16) Box {
    float x1, y1, x2, y2;
  };
  explicit Room(std::uint32_t for_windows)
      : capacity(for_windows),
        boxes(capacity + 1, {untouched, untouched, untouched, untouched}),
        scores(capacity + 1, untouched),
        classes(capacity + 1, -1) {}

  std::uint32_t capacity;
  std::uint32_t count = 0;
  std::vector<Box> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;
};

Found find(hog::DeviceFinder& finder, const hog::DeviceImage& image, const Search& search, Room& room) {
  EXPECT_EQ(finder.prepare(image.width, image.height, search).problem, "");
  auto& [capacity, count, boxes, scores, classes] = room;
  std::ranges::fill(scores, untouched);
  EXPECT_EQ(finder.enqueue(image, {&count, &boxes[0].x1, scores.data(), classes.data(), capacity}, nullptr).problem,
            "");
  EXPECT_EQ(boxes[capacity].x1, untouched);
  EXPECT_EQ(scores[capacity], untouched);
  Found found;
  found.count = count;
  const std::uint32_t stored = std::min(count, capacity);
  for (std::uint32_t i = 0; i < stored; i++) {
    found.windows.push_back({boxes[i].x1, boxes[i].y1, boxes[i].x2, boxes[i].y2, scores[i]});
    EXPECT_EQ(classes[i], 0);
  }
  for (std::uint32_t i = stored; i < capacity; i++)
    EXPECT_EQ(scores[i], untouched);
  return found;
}

Found find(hog::DeviceFinder& finder, const hog::DeviceImage& image, const Search& search, std::uint32_t capacity) {
  Room room(capacity);
  return find(finder, image, search, room);
}

hog::DeviceImage image_of(const cv::Mat& grey) {
  return {grey.data, static_cast<std::ptrdiff_t>(grey.step), grey.cols, grey.rows};
}

std::vector<Window> expected(const cv::Mat& grey, const Search& search) {
  std::vector<Window> windows;
  make_people_finder()->find(grey, search, windows);
  return windows;
}

/// Returns the greatest difference of scores; the rest has to be equal.
float compare(const std::vector<Window>& expected, const std::vector<Window>& found) {
  EXPECT_EQ(expected.size(), found.size());
  float max_difference = 0;
  for (std::size_t i = 0; i < std::min(expected.size(), found.size()); i++) {
    Window with_score = found[i];
    with_score.score = expected[i].score;
    EXPECT_EQ(with_score, expected[i]) << "window " << i;
    if (with_score != expected[i])
      break;
    const float difference = std::abs(found[i].score - expected[i].score);
    max_difference = difference <= max_difference ? max_difference : difference;
  }
  return max_difference;
}

constexpr double any_score = -10;

struct Case {
  const char* name;
  cv::Size size;
  Search search;
  unsigned seed;
  bool some = true;  ///< windows there are
};

void PrintTo(const Case& it, std::ostream* out) {
  *out << it.name << " seed=" << it.seed;
}

class Hog : public testing::TestWithParam<Case> {
 protected:
  Hog() : finder_(cv::HOGDescriptor::getDefaultPeopleDetector()) {}
  hog::DeviceFinder finder_;
};

TEST_P(Hog, scores_all_windows_as_opencv_does) {
  const Case& it = GetParam();
  const cv::Mat grey = texture(it.size, it.seed);
  const auto windows = expected(grey, it.search);
  const Found found = find(finder_, image_of(grey), it.search, 1 << 17);
  EXPECT_EQ(found.count, windows.size());
  EXPECT_EQ(!windows.empty(), it.some);
  EXPECT_EQ(finder_.window_count(), windows.size());
  const float max_difference = compare(windows, found.windows);
  EXPECT_LE(max_difference, near_enough);
  std::printf("%s, %dx%d, seed %u: %zu windows, greatest difference of scores %.3g\n", it.name, it.size.width,
              it.size.height, it.seed, windows.size(), static_cast<double>(max_difference));
}

const Case cases[] = {
    {"own size", {64, 128}, {.padding = 0, .hit_threshold = any_score, .min_size = 128}, 1},
    {"own size, padded", {64, 128}, {.hit_threshold = any_score, .min_size = 128}, 2},
    {"default zoom", {97, 171}, {.hit_threshold = any_score}, 3},
    {"padding 16, window", {97, 171}, {.padding = 16, .hit_threshold = any_score, .min_size = 128, .body = false}, 4},
    {"padding 3 of stride 8", {97, 171}, {.padding = 3, .hit_threshold = any_score, .min_size = 128}, 5},
    {"stride 4", {97, 171}, {.win_stride = 4, .padding = 3, .hit_threshold = any_score, .min_size = 128}, 6},
    {"stride 16", {200, 160}, {.win_stride = 16, .hit_threshold = any_score, .min_size = 100}, 7},
    {"stride 12", {97, 171}, {.win_stride = 12, .hit_threshold = any_score, .min_size = 120}, 8},
    {"stride 5", {70, 136}, {.win_stride = 5, .padding = 1, .hit_threshold = any_score, .min_size = 128}, 9},
    {"stride 1", {66, 130}, {.win_stride = 1, .padding = 0, .hit_threshold = any_score, .min_size = 128}, 10},
    {"stride 64", {200, 160}, {.win_stride = 64, .padding = 64, .hit_threshold = any_score, .min_size = 128}, 11},
    {"area zoom", {300, 301}, {.scale_factor = 1.2, .hit_threshold = any_score, .min_size = 173}, 12},
    {"zoom 1/2", {201, 283}, {.scale_factor = 1.01, .hit_threshold = any_score, .min_size = 256}, 13},
    {"zoom 1/3", {260, 401}, {.hit_threshold = any_score, .min_size = 384}, 14},
    {"zoom 2", {80, 150}, {.scale_factor = 1.5, .hit_threshold = any_score, .min_size = 64}, 15},
    {"largest size", {200, 160}, {.hit_threshold = any_score, .max_size = 100}, 16},
    {"several tiles wide", {1100, 130}, {.scale_factor = 2, .hit_threshold = any_score, .min_size = 128}, 17},
    {"small scale factor", {97, 171}, {.scale_factor = 1.01, .hit_threshold = any_score, .min_size = 128}, 18},
    {"too small a frame", {40, 171}, {.hit_threshold = any_score, .min_size = 128}, 19, false},
    {"no size", {97, 171}, {.hit_threshold = any_score, .min_size = 128, .max_size = 100}, 20, false},
    {"one size", {97, 171}, {.hit_threshold = any_score, .min_size = 98, .max_size = 98}, 21},
};
INSTANTIATE_TEST_SUITE_P(Case, Hog, testing::ValuesIn(cases));

class HogFrame : public Hog {};
TEST_F(HogFrame, finds_the_person_drawn) {
  cv::Mat picture(200, 140, CV_8U, cv::Scalar(190));
  draw_person(picture, {70, 100}, 1, 40);
  cv::GaussianBlur(picture, picture, {}, 1.2);
  const Search search{.hit_threshold = 0.2, .min_size = 110};
  const auto windows = expected(picture, search);
  const Found found = find(finder_, image_of(picture), search, 512);
  EXPECT_GT(windows.size(), 5u);
  EXPECT_LE(compare(windows, found.windows), near_enough);
}

TEST_F(HogFrame, keeps_the_best_where_there_is_no_room) {
  const cv::Mat grey = texture({97, 171}, 31);
  const Search search{.hit_threshold = any_score};
  const auto all = find(finder_, image_of(grey), search, 1 << 16).windows;
  ASSERT_GT(all.size(), 1100u);
  for (const std::uint32_t capacity : {1u, 17u, 1099u}) {
    auto best = all;
    keep_best(best, capacity);
    const Found found = find(finder_, image_of(grey), search, capacity);
    EXPECT_EQ(found.count, all.size());
    EXPECT_EQ(found.windows, best) << capacity;
  }
}

TEST_F(HogFrame, keeps_the_first_of_equals) {
  const cv::Mat flat(171, 97, CV_8U, cv::Scalar(90));
  const Search search{.hit_threshold = any_score};
  const auto all = find(finder_, image_of(flat), search, 1 << 16).windows;
  ASSERT_GT(all.size(), 100u);
  auto best = all;
  keep_best(best, 70);
  EXPECT_EQ(find(finder_, image_of(flat), search, 70).windows, best);
}

TEST_F(HogFrame, takes_the_luma_of_colours) {
  const cv::Mat red = texture({70, 140}, 41), green = texture({70, 140}, 42), blue = texture({70, 140}, 43);
  cv::Mat pixels, grey;
  cv::merge(std::vector{red, green, blue, red}, pixels);
  cv::cvtColor(pixels, grey, cv::COLOR_RGBA2GRAY);
  const Search search{.hit_threshold = any_score};
  hog::DeviceImage image = image_of(pixels);
  image.pixel_bytes = 4;
  image.green = 1;
  image.blue = 2;
  EXPECT_LE(compare(expected(grey, search), find(finder_, image, search, 4096).windows), near_enough);
}

TEST_F(HogFrame, has_a_threshold_that_may_change_without_tables) {
  const cv::Mat grey = texture({97, 171}, 51);
  Search search{.hit_threshold = any_score, .min_size = 128};
  const auto all = find(finder_, image_of(grey), search, 4096).windows;
  search.hit_threshold = static_cast<double>(all[all.size() / 2].score);
  search.body = false;
  const auto some = find(finder_, image_of(grey), search, 4096).windows;
  EXPECT_LT(some.size(), all.size());
  for (const Window& window : some)
    EXPECT_GE(window.score, search.hit_threshold);
  EXPECT_GT(some[0].x2 - some[0].x1, all[0].x2 - all[0].x1);
}

TEST_F(HogFrame, is_searched_for_what_is_asked_now_where_its_memories_come_back) {
  const cv::Mat first = texture({97, 171}, 52), second = texture({97, 171}, 53);
  cv::Mat frame = first.clone();
  Search search{.hit_threshold = any_score, .min_size = 128};
  Room room(4096);
  const auto expect_as_opencv = [&](bool as_graph) {
    const int before = EmulatedGraph::launches;
    const auto windows = expected(frame, search);
    EXPECT_FALSE(windows.empty());
    EXPECT_LE(compare(windows, find(finder_, image_of(frame), search, room).windows), near_enough);
    EXPECT_EQ(EmulatedGraph::launches - before, as_graph);
  };
  expect_as_opencv(false);
  expect_as_opencv(true);
  second.copyTo(frame);
  expect_as_opencv(true);
  search.hit_threshold = -2;
  expect_as_opencv(true);
  search.body = false;
  expect_as_opencv(true);
  search.min_size = 120;
  expect_as_opencv(false);
  EmulatedGraph::refused = true;
  for (int i = 0; i < 3; i++)
    expect_as_opencv(false);
  EmulatedGraph::refused = false;
}

TEST_F(HogFrame, is_read_as_it_lies_in_memories_that_come_back) {
  const cv::Size size{70, 140};
  cv::Mat memory = texture({4 * size.width, size.height}, 54);
  const cv::Mat narrow(size, CV_8U, memory.data), wide = memory(cv::Rect({}, size));
  const cv::Mat pixels(size, CV_8UC4, memory.data);
  cv::Mat of_rgba, of_bgra;
  cv::cvtColor(pixels, of_rgba, cv::COLOR_RGBA2GRAY);
  cv::cvtColor(pixels, of_bgra, cv::COLOR_BGRA2GRAY);
  hog::DeviceImage rgba = image_of(pixels);
  rgba.pixel_bytes = 4;
  rgba.green = 1;
  rgba.blue = 2;
  hog::DeviceImage bgra = rgba;
  std::swap(bgra.red, bgra.blue);
  const std::pair<hog::DeviceImage, cv::Mat> frames[] = {
      {image_of(narrow), narrow}, {image_of(wide), wide}, {rgba, of_rgba}, {bgra, of_bgra}};
  const Search search{.hit_threshold = any_score};
  Room room(4096);
  const int before = EmulatedGraph::launches;
  for (int round = 0; round < 2; round++)
    for (const auto& [image, grey] : frames)
      EXPECT_LE(compare(expected(grey, search), find(finder_, image, search, room).windows), near_enough);
  EXPECT_EQ(EmulatedGraph::launches - before, 7) << "all but the first";
}

TEST_F(HogFrame, gives_one_answer_in_any_order_of_threads) {
  const cv::Mat grey = texture({97, 171}, 61);
  const Search search{.hit_threshold = any_score, .min_size = 128};
  const auto first = find(finder_, image_of(grey), search, 30).windows;
  for (std::uint64_t order = 0; order < 5; order++) {
    emulator::seed(order);
    EXPECT_EQ(find(finder_, image_of(grey), search, 30).windows, first) << "order " << order;
  }
}

TEST_F(HogFrame, refuses_with_a_remedy) {
  const auto expect_refused = [](const DeviceReport& report, const char* text) {
    EXPECT_EQ(report.outcome, DeviceOutcome::dropped);
    EXPECT_NE(report.problem.find(text), std::string::npos) << report.problem;
  };
  expect_refused(finder_.prepare(3840, 2160, {.min_size = 10}), "Raise min-size");
  expect_refused(finder_.enqueue({nullptr, 0, 3840, 2160}, {}, nullptr), "not prepared");
  expect_refused(finder_.prepare(3840, 2160, {.scale_factor = 1.01, .win_stride = 1, .min_size = 60}), "win-stride");
  expect_refused(hog::DeviceFinder({1, 2, 3}).prepare(64, 128, {}), "coefficients");
}

TEST_F(HogFrame, plans_once_what_it_refuses) {
  const Search search{.scale_factor = 1.01, .win_stride = 1, .min_size = 60};
  const auto cost_of = [&](int width) {
    const unsigned before = allocations();
    EXPECT_EQ(finder_.prepare(width, 2160, search).outcome, DeviceOutcome::dropped);
    return allocations() - before;
  };
  const unsigned planning = cost_of(3840);
  EXPECT_GT(planning, 10u);
  for (int i = 0; i < 3; i++)
    EXPECT_LT(cost_of(3840), planning / 2);
  EXPECT_GT(cost_of(3842), planning / 2) << "another size is another plan";
  EXPECT_EQ(finder_.prepare(97, 171, {}).outcome, DeviceOutcome::done);
}

TEST_F(HogFrame, says_that_the_device_is_full) {
  EmulatedMemory::full = true;
  const DeviceReport report = finder_.prepare(97, 171, {});
  EmulatedMemory::full = false;
  EXPECT_EQ(report.outcome, DeviceOutcome::out_of_memory);
  EXPECT_NE(report.problem.find("min-size"), std::string::npos) << report.problem;
  EXPECT_EQ(finder_.prepare(97, 171, {}).outcome, DeviceOutcome::done);
}

TEST_F(HogFrame, says_that_the_device_is_lost) {
  EmulatedMemory::lost = true;
  const DeviceReport report = finder_.prepare(97, 171, {});
  EmulatedMemory::lost = false;
  EXPECT_EQ(report.outcome, DeviceOutcome::failed);
  EXPECT_EQ(report.problem.find("min-size"), std::string::npos) << report.problem;
}

}  // namespace
}  // namespace crowd::test
