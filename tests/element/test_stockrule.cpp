// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rules of GStreamer's tensor decoders, against a textbook of them that works in whole numbers, as they do.

#include "tensordec/stockrule.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "pixel_iou.hpp"

namespace crowd::tensors {

void PrintTo(const RawBox& box, std::ostream* out) {
  *out << box.x1 << " " << box.y1 << " " << box.x2 << " " << box.y2 << " score " << box.score << " class "
       << box.class_id;
}

}  // namespace crowd::tensors

namespace {

using crowd::StockRule;
using crowd::StockSettings;
using crowd::tensors::RawBox;
using crowd::tensors::Tensor;
using crowd::tensors::Type;
using crowd::test::pixel_iou;
using crowd::test::PixelBox;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

constexpr char faces_layout[] = "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out";
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Found {
  PixelBox box;
  float score;
  std::uint32_t class_id;
};

RawBox raw(const Found& found) {
  const auto [x, y, w, h] = found.box;
  return {float(x), float(y), float(x + w), float(y + h), found.score, found.class_id};
}

/// [4 + classes, places]: x, y, w, h, scores.
struct Head {
  std::size_t classes, places;
  std::vector<float> values = std::vector<float>((4 + classes) * places);

  float& at(std::size_t channel, std::size_t place) {
    return values[channel * places + place];
  }
  Tensor tensor() const {
    return {Type::float32, {1, std::int64_t(4 + classes), std::int64_t(places)}, values.data()};
  }
};

std::vector<Found> candidates_of(Head& head, const StockSettings& s) {
  std::vector<Found> found;
  for (std::size_t i = 0; i < head.places; i++) {
    float score = 0;
    std::uint32_t best = 0;
    for (std::size_t c = 0; c < head.classes; c++) {
      if (head.at(4 + c, i) > score) {
        score = head.at(4 + c, i);
        best = std::uint32_t(c);
      }
    }
    const float x = head.at(0, i), y = head.at(1, i), w = head.at(2, i), h = head.at(3, i);
    if (!(score > s.score_threshold) || x > float(s.frame_width) || y > float(s.frame_height) ||
        x < -float(s.frame_width / 2.0) || y < -float(s.frame_height / 2.0) || w <= 0 || h <= 0 ||
        w > float(s.frame_width) || h > float(s.frame_height))
      continue;
    found.push_back({{int(x - w / 2), int(y - h / 2), int(w + 0.5), int(h + 0.5)}, score, best});
  }
  return found;
}

std::vector<RawBox> by_the_book(Head& head, const StockSettings& settings) {
  auto all = candidates_of(head, settings);
  std::ranges::stable_sort(all, [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<Found> kept;
  for (const Found& candidate : all) {
    const bool suppressed = std::ranges::any_of(
        kept, [&](const Found& other) { return !(pixel_iou(candidate.box, other.box) <= settings.iou_threshold); });
    if (!suppressed && kept.size() < settings.max_detections)
      kept.push_back(candidate);
  }
  std::vector<RawBox> boxes;
  for (const Found& found : kept)
    boxes.push_back(raw(found));
  return boxes;
}

std::vector<RawBox> select(StockRule& rule, std::initializer_list<Tensor> tensors, const StockSettings& settings) {
  std::vector<RawBox> kept(3);
  std::string problem;
  EXPECT_TRUE(rule.select({tensors.begin(), tensors.size()}, settings, kept, problem)) << problem;
  return kept;
}

std::vector<RawBox> select(Head& head, const StockSettings& settings) {
  return select(*StockRule::of_layout("yolo-v8-out"), {head.tensor()}, settings);
}

/// People in clusters, some of them beyond the edges, and noise.
Head crowd_head(unsigned seed, bool ties) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  // One in eight is less than a pixel.
  const auto side = [&uniform](float length) { return uniform(0, 8) < 1 ? uniform(0, 1) : length; };
  Head head{1 + random() % 5, 200 + random() % 400};
  for (std::size_t i = 0; i < head.places; i++) {
    const float spread = uniform(0, 1) < .5F ? 4 : 40;
    head.at(0, i) = 80 * std::round(uniform(-2, 9)) + uniform(-spread, spread);
    head.at(1, i) = 60 * std::round(uniform(-2, 9)) + uniform(-spread, spread);
    head.at(2, i) = side(uniform(-1, 120));
    head.at(3, i) = side(uniform(-1, 160));
    for (std::size_t c = 0; c < head.classes; c++) {
      const float score = uniform(0, 1);
      head.at(4 + c, i) = ties ? std::round(8 * score) / 8 : score;
    }
  }
  return head;
}

TEST(stock_yolo, is_the_textbooks) {
  for (unsigned seed = 0; seed < 200; seed++) {
    SCOPED_TRACE(seed);
    Head head = crowd_head(seed, seed % 4 == 3);
    for (const float threshold : {.2F, .45F, .7F, 1.F}) {
      const StockSettings settings{.3F, threshold, seed % 3 ? 1000U : 20U, 640, 480};
      const auto expected = by_the_book(head, settings);
      EXPECT_FALSE(expected.empty());
      ASSERT_THAT(select(head, settings), ElementsAreArray(expected));
    }
  }
}

TEST(stock_yolo, cuts_to_whole_pixels) {
  Head head{1, 3, {10.9F, -3.2F, 50, 10.9F, 3, 50, 5, 9.49F, .4F, 5, 9.5F, .4F, .9F, .8F, .7F}};
  EXPECT_THAT(select(head, {.4F, .7F, 10, 640, 480}),
              ElementsAre(RawBox{8, 8, 13, 13, .9F, 0}, RawBox{-7, -1, 2, 9, .8F, 0}, RawBox{49, 49, 49, 49, .7F, 0}));
}

TEST(stock_yolo, compares_what_is_right_of_and_below_the_corner_of_the_frame) {
  // Two boxes whose overlap is 1/3 as a whole, and all of what is in the frame.
  Head head{1, 2, {0, -50, 100, 100, 100, 200, 100, 100, .9F, .8F}};
  EXPECT_EQ(select(head, {.4F, .45F, 10, 640, 480}).size(), by_the_book(head, {.4F, .45F, 10, 640, 480}).size());
  // Both lie left of the frame, one upon the other.
  Head outside{1, 2, {-100, -100, 100, 100, 50, 50, 50, 50, .9F, .8F}};
  EXPECT_EQ(select(outside, {.4F, .45F, 10, 640, 480}).size(), 2u);
}

TEST(stock_yolo, takes_no_numbers_that_are_none) {
  Head head{2, 3, {10, nan, 10, 10, 10, 10, 5, 5, 5, 5, 5, 5, nan, .9F, nan, .8F, .9F, nan}};
  EXPECT_THAT(select(head, {.4F, .7F, 10, 640, 480}), ElementsAre(RawBox{7, 7, 12, 12, .8F, 1}));
}

TEST(stock_yolo, keeps_what_has_no_width_or_height_once_cut) {
  // Upon a large box one without width and one without either, one above the frame, and two that are no boxes.
  Head head{1, 6, {50, 50, 50, 50, 50, 50,  50, 50, 50, -40, 50,  50,  40,  .25F, .25F,
                   9,  0,  9,  40, 9,  .4F, 9,  9,  -1, .9F, .8F, .8F, .7F, .6F,  .5F}};
  const StockSettings settings{.4F, .1F, 10, 640, 480};
  EXPECT_THAT(select(head, settings), ElementsAreArray(by_the_book(head, settings)));
  EXPECT_THAT(select(head, settings), ElementsAre(RawBox{30, 30, 70, 70, .9F, 0}, RawBox{49, 45, 49, 54, .8F, 0},
                                                  RawBox{49, 49, 49, 49, .8F, 0}, RawBox{45, -44, 54, -35, .7F, 0}));
}

TEST(stock_yolo, needs_more_than_the_threshold) {
  Head head{1, 2, {10, 100, 10, 10, 5, 5, 5, 5, .5F, std::nextafter(.5F, 1.F)}};
  EXPECT_THAT(select(head, {.5F, .7F, 10, 640, 480}), testing::SizeIs(1));
}

TEST(stock_yolo, of_nothing_is_nothing) {
  Head head{1, 1};
  EXPECT_THAT(select(head, {.4F, .7F, 10, 640, 480}), IsEmpty());
  Head none{3, 0};
  none.values.resize(1);
  EXPECT_THAT(select(none, {.4F, .7F, 10, 640, 480}), IsEmpty());
}

TEST(stock_rules, refuse_tensors_of_another_layout) {
  std::vector<RawBox> kept;
  std::string problem;
  const float values[64] = {};
  const Tensor good{Type::float32, {1, 4, 4}, values}, wrong{Type::float16, {1, 5, 4}, values};
  for (const char* layout : {"yolo-v8-out", faces_layout}) {
    const auto rule = StockRule::of_layout(layout);
    for (const std::vector<Tensor>& tensors : {std::vector<Tensor>{}, {good}, {wrong}, {good, good}, {wrong, wrong}}) {
      problem.clear();
      EXPECT_FALSE(rule->select(tensors, {}, kept, problem));
      EXPECT_FALSE(problem.empty());
    }
  }
  EXPECT_EQ(StockRule::of_layout("centerface-out"), nullptr);
}

/// x1 y1 x2 y2 from 0 to 1.
using Corners = std::array<float, 4>;

float iou(const Corners& a, const Corners& b) {
  const float w = std::min(a[2], b[2]) - std::max(a[0], b[0]), h = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (w < 0 || h < 0)
    return 0;
  const float both = w * h;
  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

TEST(stock_faces, are_the_textbooks) {
  for (unsigned seed = 0; seed < 100; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
    std::vector<Corners> boxes(300);
    std::vector<float> scores;
    for (Corners& box : boxes) {
      const float x = std::round(uniform(0, 5)) / 5 + uniform(-.02F, .02F), y = uniform(0, 1);
      const float side = uniform(0, 8) < 1 ? uniform(0, .01F) : uniform(.1F, .2F);
      box = {x, y, x + side, y + side};
      scores.push_back(uniform(0, 1));
      scores.push_back(uniform(0, 1));
    }
    std::vector<std::size_t> order, kept;
    for (std::size_t i = 0; i < boxes.size(); i++) {
      if (scores[2 * i + 1] >= .25F)
        order.push_back(i);
    }
    std::ranges::stable_sort(order, [&](auto a, auto b) { return scores[2 * a + 1] > scores[2 * b + 1]; });
    for (const std::size_t i : order) {
      if (std::ranges::none_of(kept, [&](std::size_t j) { return iou(boxes[i], boxes[j]) >= .3F; }))
        kept.push_back(i);
    }
    std::vector<RawBox> expected;
    for (const std::size_t i : kept) {
      const float x1 = boxes[i][0] * 320, y1 = boxes[i][1] * 240, x2 = boxes[i][2] * 320, y2 = boxes[i][3] * 240;
      const PixelBox box{int(x1 + 0.5F), int(y1 + 0.5F), int(x2 - x1 + 0.5F), int(y2 - y1 + 0.5F)};
      expected.push_back(raw({box, scores[2 * i + 1], 0}));
    }
    const Tensor box_tensor{Type::float32, {1, 300, 4}, boxes.data()};
    const Tensor score_tensor{Type::float32, {1, 300, 2}, scores.data()};
    const auto found =
        select(*StockRule::of_layout(faces_layout), {box_tensor, score_tensor}, {.25F, .3F, 1000, 320, 240});
    ASSERT_THAT(found, ElementsAreArray(expected));
  }
}

TEST(stock_faces, keep_what_has_no_width_or_height) {
  const Corners boxes[] = {{0, 0, .5F, .5F}, {.25F, .25F, .25F, .25F}, {.25F, .25F, .2505F, .5F}, {.5F, .5F, .25F, 1}};
  const float scores[] = {0, .9F, 0, .8F, 0, .7F, 0, .6F};
  const Tensor box_tensor{Type::float32, {1, 4, 4}, boxes}, score_tensor{Type::float32, {1, 4, 2}, scores};
  EXPECT_THAT(
      select(*StockRule::of_layout(faces_layout), {box_tensor, score_tensor}, {.5F, .25F, 100, 320, 240}),
      ElementsAre(RawBox{0, 0, 160, 120, .9F, 0}, RawBox{80, 60, 80, 60, .8F, 0}, RawBox{80, 60, 80, 120, .7F, 0}));
}

TEST(stock_faces, suppress_at_the_threshold) {
  const Corners boxes[] = {{0, 0, .5F, .5F}, {0, 0, .5F, .25F}, {.75F, .75F, 1, 1}};
  const float scores[] = {0, .9F, 0, .8F, 0, .6F};
  const Tensor box_tensor{Type::float32, {1, 3, 4}, boxes}, score_tensor{Type::float32, {1, 3, 2}, scores};
  EXPECT_THAT(select(*StockRule::of_layout(faces_layout), {box_tensor, score_tensor}, {.6F, .5F, 100, 320, 240}),
              ElementsAre(RawBox{0, 0, 160, 120, .9F, 0}, RawBox{240, 180, 320, 240, .6F, 0}));
}

}  // namespace
