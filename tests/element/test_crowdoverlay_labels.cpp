// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "overlay/draw/composer.hpp"
#include "overlay/draw/font.hpp"
#include "painted.hpp"

namespace {

using namespace crowd::draw;
using namespace crowd::test;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(labels, stand_on_their_box) {
  const Detection detection = {3, 12, 17, 16, 0.5F, 0, 0, nullptr};
  Composer composer;
  const Style style = {.color = 0xffffffff, .thickness = 1, .font_scale = 1};
  EXPECT_THAT(rows_of(32, 17, composer.build(32, 17, style, {}, std::span(&detection, 1), {})),
              ElementsAre("................................",  //
                          "................................",  //
                          "................................",  //
                          "...#########################....",  //
                          "...#@@@@@##@@@########@@##@#....",  //
                          "...#@#####@###@#######@@##@#....",  //
                          "...#@@@@##@##@@##########@##....",  //
                          "...#####@#@#@#@#########@###....",  //
                          "...#####@#@@##@########@####....",  //
                          "...#@###@#@###@#######@##@@#....",  //
                          "...##@@@###@@@########@##@@#....",  //
                          "...#########################....",  //
                          "...##############...............",  //
                          "...#............#...............",  //
                          "...#............#...............",  //
                          "...##############...............",  //
                          "................................"));
}

/// Where the background of the only label lies.
Primitive background(int width, int height, const Detection& detection, const Style& style) {
  Composer composer;
  const auto all = composer.build(width, height, style, {}, std::span(&detection, 1), {});
  EXPECT_GE(all.size(), 5u);
  return all.size() < 5 ? Primitive{} : all[4];
}

TEST(labels, stay_in_the_frame) {
  const Style style = {.thickness = 1, .font_scale = 2, .counts = true};
  const auto at = [&](float x1, float y1) {
    const Primitive p = background(200, 100, {x1, y1, x1 + 40, y1 + 50, nan, 0, 7, nullptr}, style);
    EXPECT_EQ(p.kind, Primitive::fill);
    EXPECT_EQ(p.x2 - p.x1, 26);
    EXPECT_EQ(p.y2 - p.y1, 18);
    return std::pair(p.x1, p.y1);
  };
  EXPECT_EQ(at(50, 40), std::pair(50, 22));
  EXPECT_EQ(at(50, 18), std::pair(50, 0));
  EXPECT_EQ(at(50, 17), std::pair(50, 17)) << "hangs inside where there is no room above";
  EXPECT_EQ(at(50, -9), std::pair(50, 0));
  EXPECT_EQ(at(190, 40), std::pair(174, 22));
  EXPECT_EQ(at(-20, 40), std::pair(0, 22));
}

std::string text_of(const Detection& detection, const Style& style) {
  Composer composer;
  std::string text;
  for (const Primitive& p : composer.build(4000, 100, style, {}, std::span(&detection, 1), {}))
    if (p.kind == Primitive::glyph)
      text += p.code < replacement_glyph ? static_cast<char>(p.code + ' ') : p.code == replacement_glyph ? '?' : '*';
  return text;
}

TEST(labels, say_class_percentage_and_count) {
  const Detection all = {5, 50, 90, 90, 0.876F, 3, 12, "person"};
  EXPECT_EQ(text_of(all, {}), "person 88 %");
  EXPECT_EQ(text_of(all, {.counts = true}), "person 88 % x12");
  EXPECT_EQ(text_of(all, {.labels = false}), "88 %");
  EXPECT_EQ(text_of(all, {.scores = false, .counts = true}), "person x12");
  EXPECT_EQ(text_of(all, {.labels = false, .scores = false, .counts = true}), "x12");
  EXPECT_EQ(text_of(all, {.labels = false, .scores = false}), "");
  Detection bare = all;
  bare.score = nan;
  EXPECT_EQ(text_of(bare, {}), "person");
  bare.members = 0;
  EXPECT_EQ(text_of(bare, {.counts = true}), "person");
  bare.label = nullptr;
  EXPECT_EQ(text_of(bare, {}), "");
}

TEST(labels, round_halves_of_a_percent_up) {
  const auto shown = [](float score) { return text_of({5, 50, 90, 90, score, 0, 0, nullptr}, {}); };
  EXPECT_EQ(shown(0), "0 %");
  EXPECT_EQ(shown(-0.0F), "0 %");
  EXPECT_EQ(shown(1), "100 %");
  EXPECT_EQ(shown(0.125F), "13 %");
  EXPECT_EQ(shown(std::nextafter(0.125F, 0.0F)), "12 %");
  EXPECT_EQ(shown(0.375F), "38 %");
  EXPECT_EQ(shown(0.875F), "88 %");
  EXPECT_EQ(shown(0.625F), "63 %");
  EXPECT_EQ(shown(std::nextafter(1.0F, 0.0F)), "100 %");
  EXPECT_EQ(shown(0.0049999F), "0 %");
  EXPECT_EQ(shown(0.0050001F), "1 %");
  EXPECT_EQ(shown(1e-40F), "0 %");
}

TEST(labels, show_what_is_no_probability_as_a_number) {
  const auto shown = [](float score) { return text_of({5, 50, 90, 90, score, 0, 0, nullptr}, {}); };
  EXPECT_EQ(shown(std::nextafter(1.0F, 2.0F)), "1.00");
  EXPECT_EQ(shown(-0.001F), "-0.00");
  EXPECT_EQ(shown(2.345F), "2.35");
  EXPECT_EQ(shown(-12.5F), "-12.50");
  EXPECT_EQ(shown(3e38F), "1000000.00");
  EXPECT_EQ(shown(infinity), "");
  EXPECT_EQ(shown(nan), "");
}

TEST(labels, take_utf_8) {
  Detection detection = {5, 50, 90, 90, nan, 0, 0, "straße Ω Ж"};
  EXPECT_EQ(text_of(detection, {}), "stra*e * *");
  for (const auto& [label, text] : {std::pair{"", ""},
                                    {"a\xcc\x81z", "a?z"},                  // a combining mark
                                    {"a\xe2\x82\xacz", "a?z"},              // not in the font
                                    {"a\xf0\x9f\x98\x80z", "a?z"},          // of four bytes
                                    {"a\x01z\x7f", "a?z?"},                 // control characters
                                    {"a\xffz", "a?z"},                      // no lead
                                    {"a\xf8\x88\x80\x80\x80z", "a?????z"},  // no lead, and each byte behind it
                                    {"a\x80\xbfz", "a??z"},                 // continuations without a lead
                                    {"a\xc3", "a?"},                        // ends early
                                    {"a\xe2\x82", "a?"},
                                    {"a\xf0\x9f\x98", "a?"},
                                    {"a\xe2z\x82", "a?z?"},
                                    {"a\xe2\x82\xc3\xa9", "a?*"},
                                    {"a\xc0\x80z", "a?z"},  // longer than it needs to be
                                    {"a\xc1\xbfz", "a?z"},
                                    {"a\xe0\x9f\xbfz", "a?z"},
                                    {"a\xf0\x8f\xbf\xbfz", "a?z"},
                                    {"a\xed\xa0\x80z", "a?z"},      // a surrogate
                                    {"a\xf4\x90\x80\x80z", "a?z"},  // beyond Unicode
                                    {"a\xef\xbf\xbdz", "a?z"},
                                    {"\xc2\xa0|", " |"}}) {  // a space that does not break
    detection.label = label;
    EXPECT_EQ(text_of(detection, {}), text) << testing::PrintToString(label);
  }
  const std::string longest(100000, 'w');
  detection.label = longest.c_str();
  EXPECT_EQ(text_of(detection, {}).size(), 256u);
  std::string wide;
  for (int i = 0; i < 1000; i++)
    wide += "ж";
  detection.label = wide.c_str();
  EXPECT_EQ(text_of(detection, {}), std::string(256, '*'));
}

/// Backgrounds of labels, in the order of painting; outlines come first, four fills each.
std::vector<Primitive> backgrounds(int width, int height, std::span<const Detection> detections, const Style& style) {
  Composer composer;
  std::vector<Primitive> all;
  for (const Primitive& p : composer.build(width, height, style, {}, detections, {.candidates = 5, .survivors = 5})
                                .subspan(4 * detections.size()))
    if (p.kind == Primitive::fill)
      all.push_back(p);
  return all;
}

using Corner = std::pair<int, int>;

// A text of three characters is 19 x 9 pixels.
std::vector<Corner> corners(int width, int height, std::span<const Detection> detections, bool summary = false) {
  std::vector<Corner> all;
  for (const Primitive& p :
       backgrounds(width, height, detections, {.thickness = 1, .font_scale = 1, .summary = summary}))
    all.emplace_back(p.x1, p.y1);
  return all;
}

Detection labelled(float x1, float y1, float x2, float y2) {
  return {x1, y1, x2, y2, nan, -1, 0, "abc"};
}

TEST(labels, do_not_cover_those_of_better_ranked_neighbours) {
  const Detection all[] = {labelled(20, 30, 80, 70), labelled(20, 30, 80, 70), labelled(20, 30, 80, 70),
                           labelled(20, 30, 80, 70), labelled(20, 30, 80, 70), labelled(20, 30, 80, 70),
                           labelled(20, 30, 80, 70), labelled(20, 30, 80, 70), labelled(20, 30, 80, 70)};
  const std::vector<Corner> above_inside_below_inside = {{61, 61}, {20, 61}, {61, 70}, {20, 70},
                                                         {61, 30}, {20, 30}, {61, 21}, {20, 21}};
  EXPECT_EQ(corners(200, 100, all), above_inside_below_inside) << "from the last, and the ninth has none";
}

TEST(labels, keep_their_place_whatever_comes_after_them) {
  const Detection all[] = {labelled(20, 30, 80, 70), labelled(30, 35, 90, 75), labelled(120, 30, 180, 70)};
  EXPECT_EQ(corners(200, 100, std::span(all).first(1)), (std::vector<Corner>{{20, 21}}));
  EXPECT_EQ(corners(200, 100, std::span(all).first(2)), (std::vector<Corner>{{71, 26}, {20, 21}}));
  EXPECT_EQ(corners(200, 100, all), (std::vector<Corner>{{120, 21}, {71, 26}, {20, 21}}));
}

TEST(labels, may_touch) {
  const Detection all[] = {labelled(20, 30, 80, 70), labelled(39, 30, 99, 70), labelled(20, 21, 80, 60)};
  EXPECT_EQ(corners(200, 100, all), (std::vector<Corner>{{20, 12}, {39, 21}, {20, 21}}));
}

TEST(labels, do_not_cover_the_summary) {
  const Detection all[] = {labelled(5, 25, 50, 70)};
  EXPECT_EQ(corners(200, 100, all), (std::vector<Corner>{{5, 16}}));
  const auto with_summary = corners(200, 100, all, true);
  ASSERT_EQ(with_summary.size(), 2u);
  EXPECT_EQ(with_summary[0], Corner(5, 25)) << "the summary is 18 pixels high";
}

TEST(labels, are_those_of_the_512_best_ranked) {
  std::vector<Detection> all;
  for (int i = 0; i < 600; i++) {
    const auto x = static_cast<float>(25 * (i % 30)), y = static_cast<float>(20 + 20 * (i / 30));
    all.push_back(labelled(x, y, x + 20, y + 8));
  }
  EXPECT_EQ(corners(800, 500, all).size(), 512u);
}

// The plainest form of the rule, for crowds.
TEST(labels, of_crowds_stand_where_the_rule_says) {
  std::minstd_rand random(5);
  const auto pick = [&random](int low, int high) {
    return static_cast<float>(std::uniform_int_distribution(low, high)(random));
  };
  for (const int scale : {1, 3}) {
    std::vector<Detection> all;
    for (int i = 0; i < 700; i++) {
      const float x = pick(-20, 640), y = pick(-20, 480);
      all.push_back(labelled(x, y, x + pick(1, 60), y + pick(1, 90)));
    }
    std::vector<PixelBox> placed;
    for (const Detection& d : std::span(all).first(512)) {
      const PixelBox box = to_pixels(d.x1, d.y1, d.x2, d.y2);
      if (!is_visible(box, 640, 480))
        continue;
      const int w = 19 * scale, h = 9 * scale;
      const int left = std::max(box.x1, 0), top = std::max(box.y1, 0);
      const int right = std::min(box.x2, 640), bottom = std::min(box.y2, 480);
      bool done = false;
      for (const int y : {top - h, std::min(top, 480 - h), bottom, std::max(std::min(bottom, 480) - h, 0)})
        for (const int x : {std::min(left, 640 - w), std::max(right - w, 0)}) {
          const PixelBox place = {x, y, x + w, y + h};
          const bool free =
              std::ranges::all_of(placed, [&](const PixelBox& other) { return is_empty(intersection(place, other)); });
          if (done || y < 0 || y + h > 480 || !free)
            continue;
          placed.push_back(place);
          done = true;
        }
    }
    std::vector<Corner> expected;
    for (auto it = placed.rbegin(); it != placed.rend(); ++it)
      expected.emplace_back(it->x1, it->y1);
    Composer composer;
    std::vector<Corner> got;
    bool text = false;
    const auto built = composer.build(640, 480, {.thickness = 1, .font_scale = scale}, {}, all, {});
    for (std::size_t i = 0; i + 1 < built.size(); i++)
      if (built[i].kind == Primitive::fill && built[i + 1].kind == Primitive::glyph)
        got.emplace_back(built[i].x1, built[i].y1), text = true;
    EXPECT_TRUE(text);
    EXPECT_EQ(got, expected);
    EXPECT_LT(placed.size(), 512u) << "some are left out";
  }
}

}  // namespace
