// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From frames to the numbers that a network takes: tiles, colour, scale, letterbox, normalisation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <random>

#include "base/mappedframe.hpp"
#include "detect/net/fill.hpp"
#include "detect/net/frames.hpp"
#include "detect/net/tiles.hpp"
#include "support.hpp"

namespace {

using namespace crowd::test;
using namespace crowd::net;
using crowd::tensors::Fit;
using crowd::tensors::Input;
using crowd::tensors::Type;

Input input_of(std::int64_t width, std::int64_t height, Fit fit = Fit::stretch) {
  Input input;
  input.tensor.dims = {-1, 3, height, width};
  input.fit = fit;
  return input;
}

TilePlan plan_of(PixelSize picture, const TileGrid& grid, const Input& input) {
  std::string problem;
  const auto plan = plan_tiles(picture, grid, input, problem);
  EXPECT_TRUE(plan) << problem;
  return plan.value_or(TilePlan());
}

float right_of(const Crop& crop) {
  return crop.place.x + crop.place.scale_x * crop.content_width;
}

float bottom_of(const Crop& crop) {
  return crop.place.y + crop.place.scale_y * crop.content_height;
}

TEST(tiles, are_read_as_columns_and_rows) {
  TileGrid grid;
  ASSERT_TRUE(parse_tiles("4x2", grid));
  EXPECT_EQ(grid.columns, 4);
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(tiles_to_string(grid), "4x2");
  for (const char* text : {"", "3", "3x", "x3", "0x1", "1x0", "9x1", "1x9", "-1x2", "2x2x2", "2 x2", "99999999999x1"})
    EXPECT_FALSE(parse_tiles(text, grid)) << text;
  EXPECT_EQ(tiles_to_string(grid), "4x2") << "a text that is refused changes nothing";
}

TEST(tiles, of_one_are_the_picture) {
  const TilePlan plan = plan_of({768, 576}, {1, 1, 0.2}, input_of(300, 300));
  ASSERT_EQ(plan.crops.size(), 1U);
  const Crop& crop = plan.crops[0];
  EXPECT_EQ(crop.place.x, 0);
  EXPECT_EQ(crop.place.y, 0);
  EXPECT_FLOAT_EQ(crop.place.scale_x, 768.F / 300);
  EXPECT_FLOAT_EQ(crop.place.scale_y, 576.F / 300);
  EXPECT_EQ(crop.content_width, 300);
  EXPECT_EQ(crop.content_height, 300);
  EXPECT_EQ(crop.taps_x, 2);
  EXPECT_EQ(crop.taps_y, 1);
}

/// Tiles along one side, from where they start to where they end.
void expect_row_of_tiles(const std::vector<std::pair<float, float>>& tiles, float length, double overlap) {
  EXPECT_EQ(tiles.front().first, 0);
  EXPECT_NEAR(tiles.back().second, length, 0.01);
  for (std::size_t i = 1; i < tiles.size(); i++)
    EXPECT_NEAR(tiles[i - 1].second - tiles[i].first, (tiles[i].second - tiles[i].first) * overlap, 0.01);
}

TEST(tiles, cover_the_picture_overlap_as_asked_and_end_with_all_of_it) {
  for (const TileGrid& grid : {TileGrid{3, 3, 0.2}, TileGrid{2, 1, 0}, TileGrid{1, 4, 0.5}, TileGrid{8, 8, 0.25}}) {
    const TilePlan plan = plan_of({1920, 1080}, grid, input_of(300, 300));
    const auto columns = static_cast<std::size_t>(grid.columns), rows = static_cast<std::size_t>(grid.rows);
    ASSERT_EQ(plan.crops.size(), columns * rows + 1);
    std::vector<std::pair<float, float>> across, down;
    for (std::size_t column = 0; column < columns; column++)
      across.emplace_back(plan.crops[column].place.x, right_of(plan.crops[column]));
    for (std::size_t row = 0; row < rows; row++)
      down.emplace_back(plan.crops[row * columns].place.y, bottom_of(plan.crops[row * columns]));
    expect_row_of_tiles(across, 1920, grid.overlap);
    expect_row_of_tiles(down, 1080, grid.overlap);
    const Crop& whole = plan.crops.back();
    EXPECT_EQ(whole.place.x, 0);
    EXPECT_NEAR(right_of(whole), 1920, 0.01);
    EXPECT_NEAR(bottom_of(whole), 1080, 0.01);
  }
}

TEST(tiles, that_keep_their_shape_leave_padding_right_or_below) {
  const TilePlan plan = plan_of({1280, 720}, {1, 1, 0.2}, input_of(640, 640, Fit::letterbox));
  const Crop& crop = plan.crops.at(0);
  EXPECT_FLOAT_EQ(crop.place.scale_x, 2);
  EXPECT_FLOAT_EQ(crop.place.scale_y, 2);
  EXPECT_FLOAT_EQ(crop.content_width, 640);
  EXPECT_FLOAT_EQ(crop.content_height, 360);
}

TEST(tiles, decide_the_size_of_an_input_that_takes_any) {
  Input input = input_of(-1, -1);
  input.multiple_of = 32;
  EXPECT_EQ(plan_of({768, 576}, {1, 1, 0.2}, input).input, (PixelSize{768, 576}));
  EXPECT_EQ(plan_of({770, 570}, {1, 1, 0.2}, input).input, (PixelSize{800, 576}));
  EXPECT_EQ(plan_of({3840, 2160}, {1, 1, 0.2}, input).input, (PixelSize{1280, 736}));
  EXPECT_EQ(plan_of({3840, 2160}, {4, 4, 0.0}, input).input, (PixelSize{960, 544}));
}

TEST(tiles, too_small_to_hold_anything_are_refused_with_a_remedy) {
  std::string problem;
  EXPECT_FALSE(plan_tiles({100, 100}, {8, 8, 0.2}, input_of(300, 300), problem));
  EXPECT_NE(problem.find("tiles=1x1"), std::string::npos) << problem;
  EXPECT_TRUE(plan_tiles({16, 16}, {1, 1, 0.2}, input_of(300, 300), problem)) << "smaller than the input, and enlarged";
}

/// Smooth colours, so that formats that share chroma between pixels hold them.
cv::Mat smooth_picture(int width, int height) {
  cv::Mat rgba(height, width, CV_8UC4);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      rgba.at<cv::Vec4b>(y, x) = {static_cast<uchar>(40 + 170 * x / width), static_cast<uchar>(220 - 180 * y / height),
                                  static_cast<uchar>(60 + 120 * (x + y) / (width + height)), 255};
  return rgba;
}

/// A frame of `format` with these pixels, made by GStreamer.
class Frame {
 public:
  Frame(GstVideoFormat format, const cv::Mat& rgba, const char* colorimetry = nullptr) {
    GstVideoInfo from;
    gst_video_info_set_format(&from, GST_VIDEO_FORMAT_RGBA, guint(rgba.cols), guint(rgba.rows));
    gst_video_info_set_format(&info_, format, guint(rgba.cols), guint(rgba.rows));
    EXPECT_TRUE(!colorimetry || gst_video_colorimetry_from_string(&info_.colorimetry, colorimetry));
    const Ref<GstBuffer> source(gst_buffer_new_memdup(rgba.data, rgba.total() * rgba.elemSize()));
    buffer_.reset(gst_buffer_new_allocate(nullptr, info_.size, nullptr));
    GstVideoFrame in, out;
    EXPECT_TRUE(gst_video_frame_map(&in, &from, source.get(), GST_MAP_READ));
    EXPECT_TRUE(gst_video_frame_map(&out, &info_, buffer_.get(), GST_MAP_WRITE));
    GstVideoConverter* converter = gst_video_converter_new(&from, &info_, nullptr);
    gst_video_converter_frame(converter, &in, &out);
    gst_video_converter_free(converter);
    gst_video_frame_unmap(&in);
    gst_video_frame_unmap(&out);
    frame_ = std::make_unique<crowd::MappedFrame>(buffer_.get(), info_, GST_MAP_READ);
  }

  Picture picture(const crowd::ShownPart& part) const {
    return picture_of(**frame_, part);
  }
  Picture picture() const {
    return picture({0, 0, info_.width, info_.height});
  }

 private:
  GstVideoInfo info_{};
  Ref<GstBuffer> buffer_;
  std::unique_ptr<crowd::MappedFrame> frame_;
};

Colour colour_at(const Picture& picture, float x, float y) {
  return colour_at(picture, between(x, picture.width), between(y, picture.height));
}

void expect_colours(const Picture& picture, const cv::Mat& rgba, double tolerance) {
  for (int y = 2; y < rgba.rows - 2; y++)
    for (int x = 2; x < rgba.cols - 2; x++) {
      const Colour got = colour_at(picture, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
      const auto expected = rgba.at<cv::Vec4b>(y, x);
      ASSERT_NEAR(got.red, expected[0], tolerance) << x << " " << y;
      ASSERT_NEAR(got.green, expected[1], tolerance) << x << " " << y;
      ASSERT_NEAR(got.blue, expected[2], tolerance) << x << " " << y;
    }
}

TEST(colours, are_those_of_the_frame_in_every_format) {
  const cv::Mat rgba = smooth_picture(128, 96);
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBx,
        GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_ABGR,
        GST_VIDEO_FORMAT_ARGB}) {
    SCOPED_TRACE(gst_video_format_to_string(format));
    expect_colours(Frame(format, rgba).picture(), rgba, 0);
  }
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_NV16, GST_VIDEO_FORMAT_I420,
        GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_YUY2,
        GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_I420_10LE}) {
    SCOPED_TRACE(gst_video_format_to_string(format));
    for (const char* colorimetry : {"bt601", "bt709", "1:4:0:0", "2:6:0:0"}) {
      SCOPED_TRACE(colorimetry);
      expect_colours(Frame(format, rgba, colorimetry).picture(), rgba, 5);
    }
  }
}

TEST(colours, of_grey_are_grey) {
  cv::Mat rgba(32, 32, CV_8UC4, cv::Scalar(90, 90, 90, 255));
  const Frame frame(GST_VIDEO_FORMAT_GRAY8, rgba);
  const Colour colour = colour_at(frame.picture(), 5.5F, 7.5F);
  EXPECT_EQ(colour.red, colour.green);
  EXPECT_EQ(colour.red, colour.blue);
  EXPECT_NEAR(colour.red, 90, 1);
}

TEST(colours, of_a_part_are_those_of_its_place) {
  const cv::Mat rgba = smooth_picture(128, 96);
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_NV12}) {
    const Frame frame(format, rgba);
    const Picture part = frame.picture({32, 16, 64, 48});
    EXPECT_EQ(part.width, 64);
    expect_colours(part, rgba(cv::Rect(32, 16, 64, 48)).clone(), format == GST_VIDEO_FORMAT_RGBA ? 0 : 5);
  }
}

std::vector<float> filled(const Picture& picture, const TilePlan& plan, const Input& input) {
  std::vector<float> batch(batch_bytes(input, plan) / sizeof(float));
  fill({picture, plan.crops.data(), static_cast<int>(plan.crops.size()),
        encoding_of(input, plan.input.width, plan.input.height), Type::float32, batch.data()});
  return batch;
}

cv::Mat noise(int width, int height, unsigned seed) {
  cv::Mat rgba(height, width, CV_8UC4);
  std::mt19937 random(seed);
  for (int i = 0; i < width * height * 4; i++)
    rgba.data[i] = static_cast<uchar>(random());
  return rgba;
}

TEST(filling, is_opencvs_linear_resize_where_little_is_scaled) {
  const cv::Mat rgba = noise(200, 150, 1);
  const Frame frame(GST_VIDEO_FORMAT_RGBA, rgba);
  for (const PixelSize& size : {PixelSize{200, 150}, PixelSize{160, 100}, PixelSize{300, 310}, PixelSize{101, 76}}) {
    const Input input = input_of(size.width, size.height);
    const TilePlan plan = plan_of({200, 150}, {1, 1, 0.2}, input);
    const std::vector<float> batch = filled(frame.picture(), plan, input);
    cv::Mat floats, expected;
    rgba.convertTo(floats, CV_32F);
    cv::resize(floats, expected, {size.width, size.height}, 0, 0, cv::INTER_LINEAR);
    for (int channel = 0; channel < 3; channel++)
      for (int y = 0; y < size.height; y++)
        for (int x = 0; x < size.width; x++)
          ASSERT_NEAR(batch[static_cast<std::size_t>((channel * size.height + y) * size.width + x)],
                      expected.at<cv::Vec4f>(y, x)[channel], 0.02)
              << size.width << " " << channel << " " << x << " " << y;
  }
}

TEST(filling, takes_the_mean_where_a_whole_number_of_pixels_becomes_one) {
  const cv::Mat rgba = noise(240, 240, 2);
  const Frame frame(GST_VIDEO_FORMAT_RGBA, rgba);
  const Input input = input_of(60, 80);
  const TilePlan plan = plan_of({240, 240}, {1, 1, 0.2}, input);
  const std::vector<float> batch = filled(frame.picture(), plan, input);
  cv::Mat floats, expected;
  rgba.convertTo(floats, CV_32F);
  cv::resize(floats, expected, {60, 80}, 0, 0, cv::INTER_AREA);
  for (int y = 0; y < 80; y++)
    for (int x = 0; x < 60; x++)
      ASSERT_NEAR(batch[static_cast<std::size_t>(y * 60 + x)], expected.at<cv::Vec4f>(y, x)[0], 0.01) << x << " " << y;
}

TEST(filling, puts_channels_where_the_description_says_and_scales_them) {
  cv::Mat rgba(8, 8, CV_8UC4, cv::Scalar(0, 51, 255, 255));
  const Frame frame(GST_VIDEO_FORMAT_RGBA, rgba);
  Input input = input_of(4, 4);
  input.ranges = {crowd::tensors::ValueRange{-1, 1}, {0, 1}, {10, 20}};
  TilePlan small;
  small.input = {4, 4};
  small.crops.resize(1);
  small.crops[0].place = {0, 0, 2, 2};
  small.crops[0].content_width = small.crops[0].content_height = 4;
  std::vector<float> batch = filled(frame.picture(), small, input);
  EXPECT_FLOAT_EQ(batch[0], -1);
  EXPECT_FLOAT_EQ(batch[16], 0.2F);
  EXPECT_FLOAT_EQ(batch[32], 20);
  input.rgb = false;
  batch = filled(frame.picture(), small, input);
  EXPECT_FLOAT_EQ(batch[0], 1) << "blue comes first";
  EXPECT_FLOAT_EQ(batch[32], 10);
  input.planar = false;
  input.tensor.dims = {-1, 4, 4, 3};
  batch = filled(frame.picture(), small, input);
  EXPECT_FLOAT_EQ(batch[0], 1);
  EXPECT_FLOAT_EQ(batch[1], 0.2F);
  EXPECT_FLOAT_EQ(batch[2], 10);
  EXPECT_FLOAT_EQ(batch[45], 1);
}

TEST(filling, pads_with_grey) {
  const cv::Mat rgba(36, 64, CV_8UC4, cv::Scalar(200, 200, 200, 255));
  const Frame frame(GST_VIDEO_FORMAT_RGBA, rgba);
  const Input input = input_of(64, 64, Fit::letterbox);
  const TilePlan plan = plan_of({64, 36}, {1, 1, 0.2}, input);
  const std::vector<float> batch = filled(frame.picture(), plan, input);
  EXPECT_EQ(batch[35 * 64], 200);
  EXPECT_EQ(batch[36 * 64], padding);
  EXPECT_EQ(batch[63 * 64 + 63], padding);
}

TEST(filling, of_a_tile_is_the_whole_batchs_part) {
  const cv::Mat rgba = noise(200, 100, 3);
  const Frame frame(GST_VIDEO_FORMAT_RGBA, rgba);
  const Input input = input_of(100, 100);
  const TilePlan plan = plan_of({200, 100}, {2, 1, 0}, input);
  const std::vector<float> batch = filled(frame.picture(), plan, input);
  for (int y = 0; y < 100; y++)
    for (int x = 0; x < 100; x++) {
      ASSERT_EQ(batch[static_cast<std::size_t>(y * 100 + x)], rgba.at<cv::Vec4b>(y, x)[0]);
      ASSERT_EQ(batch[static_cast<std::size_t>(30000 + y * 100 + x)], rgba.at<cv::Vec4b>(y, x + 100)[0]);
    }
}

/// Of the bits of a positive one; of 0x7c00, infinite, what would come after the largest.
double value_of_half(int bits) {
  const int exponent = bits >> 10, mantissa = bits & 0x3ff;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(filling, in_halves_and_bytes_rounds_to_the_nearest) {
  std::mt19937 random(4);
  for (int i = 0; i < 2000000; i++) {
    const auto bits = static_cast<std::uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, sizeof value);
    const int half = crowd::tensors::half_of_float(value), magnitude = half & 0x7fff;
    if (std::isnan(value)) {
      ASSERT_GT(magnitude, 0x7c00);
      continue;
    }
    ASSERT_EQ(half >> 15, static_cast<int>(bits >> 31)) << value;
    if (std::abs(value) >= 65536) {
      ASSERT_EQ(magnitude, 0x7c00) << value;
      continue;
    }
    const auto distance = [value](int to) { return std::abs(value_of_half(to) - std::abs(double{value})); };
    for (const int other : {std::max(magnitude - 1, 0), std::min(magnitude + 1, 0x7c00)})
      ASSERT_TRUE(other == magnitude || distance(magnitude) < distance(other) ||
                  (distance(magnitude) == distance(other) && magnitude % 2 == 0))
          << value;
  }
  std::uint8_t byte = 0;
  const auto stored = [&byte](float value) {
    store(value, byte);
    return int{byte};
  };
  EXPECT_EQ(stored(-3), 0);
  EXPECT_EQ(stored(1.49F), 1);
  EXPECT_EQ(stored(1.5F), 2);
  EXPECT_EQ(stored(300), 255);
}

}  // namespace
