// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "draw/font.hpp"
#include "draw/frame.hpp"
#include "draw/scene.hpp"
#include "painted.hpp"

namespace {

using namespace crowd::draw;
using namespace crowd::test;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr ColourSpace bt601 = {false, false, 2990, 1140};
constexpr ColourSpace bt709 = {false, false, 2126, 722};
constexpr ColourSpace jpeg = {false, true, 2990, 1140};

/// The rows of a grey picture after painting: '.' where nothing was, '#' white, '@' black.
std::vector<std::string> rows_of(int width, int height, std::span<const Primitive> primitives) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height), 77);
  Canvas canvas{width, height, 1, 1, jpeg, {}};
  canvas.component[0] = {pixels.data(), width, 1, 0, 0};
  paint(canvas, primitives);
  std::vector<std::string> rows(static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < pixels.size(); i++)
    rows[i / static_cast<std::size_t>(width)] += pixels[i] == 77 ? '.' : pixels[i] == 255 ? '#' : '@';
  return rows;
}

Detection box(float x1, float y1, float x2, float y2) {
  return {x1, y1, x2, y2, nan, -1, 0, nullptr};
}

/// Outlines of one pixel in white.
std::vector<std::string> outline(int width, int height, const Detection& detection, int thickness = 1) {
  Scene scene;
  const Style style = {.color = 0xffffffff, .thickness = thickness, .font_scale = 1};
  return rows_of(width, height, scene.build(width, height, style, {}, std::span(&detection, 1), {}));
}

TEST(outlines, lie_inside_their_boxes) {
  EXPECT_THAT(outline(9, 6, box(2, 1, 8, 5)), ElementsAre(".........",  //
                                                          "..######.",  //
                                                          "..#....#.",  //
                                                          "..#....#.",  //
                                                          "..######.",  //
                                                          "........."));
  EXPECT_THAT(outline(9, 7, box(1, 0, 8, 7), 2), ElementsAre(".#######.",  //
                                                             ".#######.",  //
                                                             ".##...##.",  //
                                                             ".##...##.",  //
                                                             ".##...##.",  //
                                                             ".#######.",  //
                                                             ".#######."));
}

TEST(outlines, round_to_the_nearest_pixel) {
  const auto expected = outline(9, 6, box(2, 1, 7, 5));
  EXPECT_EQ(outline(9, 6, box(1.5F, 0.5F, 7.49F, 5.25F)), expected);
  EXPECT_EQ(outline(9, 6, box(2.49F, 1.49F, 6.5F, 4.5F)), expected);
  EXPECT_NE(outline(9, 6, box(1.49F, 1, 7, 5)), expected);
}

TEST(outlines, of_small_boxes_are_at_least_a_pixel) {
  EXPECT_THAT(outline(5, 3, box(2.2F, 1.2F, 2.3F, 1.3F)), ElementsAre(".....", "..#..", "....."));
  EXPECT_THAT(outline(5, 3, box(0, 1, 5, 1.1F)), ElementsAre(".....", "#####", "....."));
}

TEST(outlines, thicker_than_their_box_fill_it) {
  EXPECT_THAT(outline(6, 4, box(1, 1, 5, 3), 2), ElementsAre("......", ".####.", ".####.", "......"));
  EXPECT_THAT(outline(6, 4, box(1, 1, 5, 3), 64), ElementsAre("......", ".####.", ".####.", "......"));
}

TEST(outlines, lose_the_edges_outside_the_frame) {
  EXPECT_THAT(outline(5, 4, box(-3, -2, 3, 3)), ElementsAre("..#..",  //
                                                            "..#..",  //
                                                            "###..",  //
                                                            "....."));
  EXPECT_THAT(outline(5, 4, box(1, 1, 1e30F, 9)), ElementsAre(".....",  //
                                                              ".####",  //
                                                              ".#...",  //
                                                              ".#..."));
  EXPECT_THAT(outline(3, 2, box(-1e38F, -1e38F, 1e38F, 1e38F)), ElementsAre("...", "..."));
}

TEST(outlines, outside_the_frame_or_without_area_are_not_drawn) {
  for (const Detection& nothing :
       {box(5, 0, 9, 4), box(-4, 0, 0, 4), box(0, 4, 5, 9), box(0, -9, 5, 0), box(3, 1, 3, 3), box(1, 3, 4, 2),
        box(4, 1, 1, 3), box(nan, 1, 3, 3), box(1, nan, 3, 3), box(1, 1, nan, 3), box(1, 1, 3, nan),
        box(-infinity, 1, 3, 3), box(1, 1, infinity, 3), box(nan, nan, nan, nan)}) {
    Scene scene;
    Detection labelled = nothing;
    labelled.label = "x";
    EXPECT_TRUE(scene.build(5, 4, {}, std::span(&labelled, 1), std::span(&labelled, 1), {}).empty())
        << nothing.x1 << " " << nothing.y1 << " " << nothing.x2 << " " << nothing.y2;
  }
}

TEST(labels, stand_on_their_box) {
  const Detection detection = {3, 12, 17, 16, 0.5F, 0, 0, nullptr};
  Scene scene;
  const Style style = {.color = 0xffffffff, .thickness = 1, .font_scale = 1};
  EXPECT_THAT(rows_of(32, 17, scene.build(32, 17, style, {}, std::span(&detection, 1), {})),
              ElementsAre("................................",  //
                          "................................",  //
                          "................................",  //
                          "...#########################....",  //
                          "...##@@@########@@@@@##@@@##....",  //
                          "...#@###@#######@#####@###@#....",  //
                          "...#@##@@#######@@@@##@##@@#....",  //
                          "...#@#@#@###########@#@#@#@#....",  //
                          "...#@@##@###########@#@@##@#....",  //
                          "...#@###@##@@###@###@#@###@#....",  //
                          "...##@@@###@@####@@@###@@@##....",  //
                          "...#########################....",  //
                          "...##############...............",  //
                          "...#............#...............",  //
                          "...#............#...............",  //
                          "...##############...............",  //
                          "................................"));
}

/// Where the background of the only label lies.
Primitive background(int width, int height, const Detection& detection, const Style& style) {
  Scene scene;
  const auto all = scene.build(width, height, style, {}, std::span(&detection, 1), {});
  EXPECT_GE(all.size(), 5u);
  return all.size() < 5 ? Primitive{} : all[4];
}

TEST(labels, stay_in_the_frame) {
  const Style style = {.thickness = 1, .font_scale = 2};
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
  Scene scene;
  std::string text;
  for (const Primitive& p : scene.build(4000, 100, style, {}, std::span(&detection, 1), {}))
    if (p.kind == Primitive::glyph)
      text += p.code == glyph_count - 1 ? '?' : static_cast<char>(p.code + ' ');
  return text;
}

TEST(labels, say_class_score_and_count) {
  const Detection all = {5, 50, 90, 90, 0.876F, 3, 12, "person"};
  EXPECT_EQ(text_of(all, {}), "person 0.88 x12");
  EXPECT_EQ(text_of(all, {.labels = false}), "0.88 x12");
  EXPECT_EQ(text_of(all, {.scores = false}), "person x12");
  EXPECT_EQ(text_of(all, {.counts = false}), "person 0.88");
  EXPECT_EQ(text_of(all, {.labels = false, .scores = false}), "x12");
  EXPECT_EQ(text_of(all, {.labels = false, .scores = false, .counts = false}), "");
  Detection bare = all;
  bare.members = 0;
  bare.score = nan;
  EXPECT_EQ(text_of(bare, {}), "person");
  bare.label = nullptr;
  EXPECT_EQ(text_of(bare, {}), "");
  bare.score = -12.5F;
  EXPECT_EQ(text_of(bare, {}), "-12.50");
  bare.score = 3e38F;
  EXPECT_EQ(text_of(bare, {}), "1000000.00");
}

TEST(labels, show_what_is_not_ascii_as_one_glyph) {
  Detection detection = {5,
                         50,
                         90,
                         90,
                         nan,
                         0,
                         0,
                         "stra\xc3\x9f"
                         "e\xe2\x82\xac\xf0\x9f\x98\x80\x01"};
  EXPECT_EQ(text_of(detection, {}), "stra?e???");
  detection.label = "\xff\xc3";
  EXPECT_EQ(text_of(detection, {}), "?");
  const std::string longest(100000, 'w');
  detection.label = longest.c_str();
  EXPECT_EQ(text_of(detection, {}).size(), 256u);
}

TEST(summary, stands_in_the_corner) {
  Scene scene;
  const auto all = scene.build(640, 540, {.summary = true}, {}, {}, {.candidates = 360, .survivors = 7});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].x1, 0);
  EXPECT_EQ(all[0].y1, 0);
  EXPECT_EQ(all[0].y2, 18);
  std::string text;
  for (const Primitive& p : all.subspan(1))
    text += static_cast<char>(p.code + ' ');
  EXPECT_EQ(text, "360 candidates, 7 kept");
}

TEST(scene, paints_candidates_below_survivors_and_the_best_on_top) {
  const Detection candidate = box(0, 20, 40, 60);
  const Detection survivors[] = {box(0, 20, 40, 60), box(2, 20, 40, 60)};
  Scene scene;
  const Style style = {.color = 0xff0000ff, .candidate_color = 0xffff0000, .thickness = 1};
  const auto all = scene.build(100, 100, style, std::span(&candidate, 1), survivors, {});
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[0].rgb, 0xff0000U);
  EXPECT_EQ(all[4].rgb, 0x0000ffU);
  EXPECT_EQ(all[4].x1, 2);
  EXPECT_EQ(all[8].x1, 0);
}

TEST(class_colors, belong_to_the_class) {
  EXPECT_EQ(class_color(3, "a"), class_color(3, "b"));
  EXPECT_NE(class_color(3, "a"), class_color(4, "a"));
  EXPECT_EQ(class_color(-7, "person"), class_color(-9, "person"));
  EXPECT_NE(class_color(-1, "person"), class_color(-1, "face"));
  EXPECT_EQ(class_color(-1, nullptr), class_color(-1, ""));
  EXPECT_EQ(class_color(std::numeric_limits<int>::max(), nullptr) >> 24, 0u);
  EXPECT_EQ(class_color(std::numeric_limits<int>::min(), nullptr) >> 24, 0u);
}

TEST(colours, are_those_of_the_standards) {
  EXPECT_THAT(encode(0xff0000, bt601), ElementsAre(81, 90, 240, 255));
  EXPECT_THAT(encode(0x00ff00, bt601), ElementsAre(145, 54, 34, 255));
  EXPECT_THAT(encode(0x0000ff, bt601), ElementsAre(41, 240, 110, 255));
  EXPECT_THAT(encode(0xff0000, bt709), ElementsAre(63, 102, 240, 255));
  EXPECT_THAT(encode(0x00ff00, bt709), ElementsAre(173, 42, 26, 255));
  EXPECT_THAT(encode(0x0000ff, bt709), ElementsAre(32, 240, 118, 255));
  EXPECT_THAT(encode(0xffffff, bt709), ElementsAre(235, 128, 128, 255));
  EXPECT_THAT(encode(0x000000, bt709), ElementsAre(16, 128, 128, 255));
  EXPECT_THAT(encode(0xff0000, jpeg), ElementsAre(76, 85, 255, 255));
  EXPECT_THAT(encode(0x123456, {true, true, 0, 0}), ElementsAre(0x12, 0x34, 0x56, 255));
}

TEST(colours, are_the_real_valued_ones_rounded) {
  for (const ColourSpace& space : {bt601, bt709, jpeg, ColourSpace{false, false, 2627, 593}}) {
    const double kr = space.kr / 1e4, kb = space.kb / 1e4;
    for (std::uint32_t rgb = 0; rgb < 0x1000000; rgb += 0x1357) {
      const double r = (rgb >> 16) / 255.0, g = (rgb >> 8 & 255) / 255.0, b = (rgb & 255) / 255.0;
      const double y = kr * r + (1 - kr - kb) * g + kb * b;
      const double values[] = {space.full_range ? 255 * y : 16 + 219 * y,
                               128 + (space.full_range ? 255 : 224) * (b - y) / (2 - 2 * kb),
                               128 + (space.full_range ? 255 : 224) * (r - y) / (2 - 2 * kr)};
      const Paint encoded = encode(rgb, space);
      for (std::size_t i = 0; i < 3; i++)
        ASSERT_LE(std::abs(std::min(values[i], 255.0) - encoded[i]), 0.5 + 1e-9) << std::hex << rgb << " " << i;
    }
  }
}

TEST(glyphs, are_all_different) {
  std::set<Glyph> all(glyphs().begin(), glyphs().end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(glyph_count));
  for (const Glyph& glyph : glyphs())
    for (const std::uint8_t row : glyph)
      EXPECT_LT(row, 1 << glyph_width);
  EXPECT_EQ(glyph_index(' '), 0);
  EXPECT_EQ(glyph_index('~'), glyph_count - 2);
  for (const char32_t other : {U'\0', U'\x1f', U'\x7f', U'\xff', U'\x20ac'})
    EXPECT_EQ(glyph_index(other), glyph_count - 1);
}

/// Primitives in and around a frame.
std::vector<Primitive> random_primitives(unsigned width, unsigned height, std::uint32_t seed) {
  std::minstd_rand random(seed);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  std::vector<Primitive> all;
  for (int i = 0; i < 12; i++) {
    Primitive p{};
    p.kind = pick(0, 2) ? Primitive::fill : Primitive::glyph;
    p.x1 = pick(-10, w + 3);
    p.y1 = pick(-10, h + 3);
    p.x2 = p.x1 + pick(-1, w / 2 + 3);
    p.y2 = p.y1 + pick(-1, h / 2 + 3);
    p.scale = pick(1, 3);
    p.code = pick(0, glyph_count - 1);
    p.rgb = static_cast<std::uint32_t>(pick(0, 0xffffff));
    all.push_back(p);
  }
  return all;
}

TEST(paint, follows_the_pixel_rule_in_every_format) {
  for (const char* format : drawn_formats)
    for (const auto& [w, h] : {std::pair{1u, 1u}, {2u, 2u}, {1u, 9u}, {7u, 1u}, {33u, 17u}, {64u, 48u}, {75u, 51u}})
      for (std::uint32_t seed = 1; seed <= 6; seed++) {
        SCOPED_TRACE(std::string(format) + " " + std::to_string(w) + "x" + std::to_string(h) + " seed " +
                     std::to_string(seed));
        GstVideoInfo info = video_info(format, w, h);
        const auto primitives = random_primitives(w, h, seed);
        const auto painted = padded_frame(info), expected = padded_frame(info);
        GstVideoFrame frame;
        ASSERT_TRUE(gst_video_frame_map(&frame, &info, painted.get(), GST_MAP_READWRITE));
        const Canvas canvas = canvas_of(frame);
        paint(canvas, primitives);
        gst_video_frame_unmap(&frame);
        ASSERT_TRUE(gst_video_frame_map(&frame, &info, expected.get(), GST_MAP_READWRITE));
        paint_plainly(frame, primitives, canvas.colours);
        gst_video_frame_unmap(&frame);
        ASSERT_EQ(bytes_of(painted.get()), bytes_of(expected.get()));
      }
}

TEST(canvas, takes_the_colours_of_the_colorimetry) {
  const auto colours = [](const char* format, const char* colorimetry) {
    GstVideoInfo info = video_info(format, 4, 4);
    EXPECT_TRUE(gst_video_colorimetry_from_string(&info.colorimetry, colorimetry));
    const Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
    GstVideoFrame frame;
    EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READWRITE));
    const ColourSpace space = canvas_of(frame).colours;
    gst_video_frame_unmap(&frame);
    return std::tuple(space.rgb, space.full_range, space.kr, space.kb);
  };
  EXPECT_EQ(colours("NV12", "bt601"), std::tuple(false, false, 2990, 1140));
  EXPECT_EQ(colours("I420", "bt709"), std::tuple(false, false, 2126, 722));
  EXPECT_EQ(colours("I420", "bt2020"), std::tuple(false, false, 2627, 593));
  EXPECT_EQ(colours("I420", "smpte240m"), std::tuple(false, false, 2120, 870));
  EXPECT_EQ(colours("I420", "1:4:5:1"), std::tuple(false, true, 2990, 1140)) << "full range";
  EXPECT_TRUE(std::get<0>(colours("xBGR", "sRGB")));
}

}  // namespace
