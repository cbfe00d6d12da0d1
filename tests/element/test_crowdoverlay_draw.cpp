// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "overlay/draw/composer.hpp"
#include "overlay/draw/font.hpp"
#include "overlay/draw/frame.hpp"
#include "painted.hpp"

namespace {

using namespace crowd::draw;
using namespace crowd::test;
using testing::ElementsAre;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr ColourSpace bt601 = {false, false, 2990, 1140};
constexpr ColourSpace bt709 = {false, false, 2126, 722};
constexpr ColourSpace bt709_10 = {false, false, 2126, 722, 10};
constexpr ColourSpace jpeg = {false, true, 2990, 1140};

Detection box(float x1, float y1, float x2, float y2) {
  return {x1, y1, x2, y2, nan, -1, 0, nullptr};
}

/// Outlines of one pixel in white.
std::vector<std::string> outline(int width, int height, const Detection& detection, int thickness = 1) {
  Composer composer;
  const Style style = {.color = 0xffffffff, .thickness = thickness, .font_scale = 1};
  return rows_of(width, height, composer.build(width, height, style, {}, std::span(&detection, 1), {}));
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
    Composer composer;
    Detection labelled = nothing;
    labelled.label = "x";
    EXPECT_TRUE(composer.build(5, 4, {}, std::span(&labelled, 1), std::span(&labelled, 1), {}).empty())
        << nothing.x1 << " " << nothing.y1 << " " << nothing.x2 << " " << nothing.y2;
  }
}

TEST(summary, stands_in_the_corner) {
  Composer composer;
  const auto all = composer.build(640, 540, {.summary = true}, {}, {}, {.candidates = 360, .survivors = 7});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].x1, 0);
  EXPECT_EQ(all[0].y1, 0);
  EXPECT_EQ(all[0].y2, 18);
  std::string text;
  for (const Primitive& p : all.subspan(1))
    text += static_cast<char>(p.code + ' ');
  EXPECT_EQ(text, "360 candidates, 7 kept");
}

TEST(composer, paints_candidates_below_survivors_and_the_best_on_top) {
  const Detection candidate = box(0, 20, 40, 60);
  const Detection survivors[] = {box(0, 20, 40, 60), box(2, 20, 40, 60)};
  Composer composer;
  const Style style = {.color = 0xff0000ff, .candidate_color = 0xffff0000, .thickness = 1};
  const auto all = composer.build(100, 100, style, std::span(&candidate, 1), survivors, {});
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
  EXPECT_THAT(encode(0xff0000, bt709_10), ElementsAre(250, 409, 960, 1023));
  EXPECT_THAT(encode(0xffffff, bt709_10), ElementsAre(940, 512, 512, 1023));
  EXPECT_THAT(encode(0x000000, bt709_10), ElementsAre(64, 512, 512, 1023));
}

TEST(colours, are_the_real_valued_ones_rounded) {
  for (const ColourSpace& space :
       {bt601, bt709, bt709_10, jpeg, ColourSpace{false, false, 2627, 593}, ColourSpace{false, true, 2627, 593, 10}}) {
    const double unit = 1 << (space.depth - 8), largest = (1 << space.depth) - 1;
    const double kr = space.kr / 1e4, kb = space.kb / 1e4;
    for (std::uint32_t rgb = 0; rgb < 0x1000000; rgb += 0x1357) {
      const double r = (rgb >> 16) / 255.0, g = (rgb >> 8 & 255) / 255.0, b = (rgb & 255) / 255.0;
      const double y = kr * r + (1 - kr - kb) * g + kb * b;
      const double chroma = space.full_range ? largest : 224 * unit;
      const double values[] = {space.full_range ? largest * y : (16 + 219 * y) * unit,
                               128 * unit + chroma * (b - y) / (2 - 2 * kb),
                               128 * unit + chroma * (r - y) / (2 - 2 * kr)};
      const Paint encoded = encode(rgb, space);
      for (std::size_t i = 0; i < 3; i++)
        ASSERT_LE(std::abs(std::min(values[i], largest) - encoded[i]), 0.5 + 1e-9) << std::hex << rgb << " " << i;
    }
  }
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
    p.code = pick(0, glyph_count() - 1);
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
