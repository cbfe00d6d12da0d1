// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pictures that OpenCV's detectors answer to, drawn here, so that no footage is needed.
#pragma once

#include <cstdint>
#include <opencv2/imgproc.hpp>

namespace crowd::test {

inline void draw_person(cv::Mat& picture, cv::Point hip, double size, int grey) {
  const auto at = [&](double x, double y) { return cv::Point(cvRound(hip.x + x * size), cvRound(hip.y + y * size)); };
  const auto thick = [size](double width) { return cvRound(width * size); };
  cv::ellipse(picture, at(0, -38), {thick(6), thick(8)}, 0, 0, 360, grey, cv::FILLED);
  cv::ellipse(picture, at(0, -14), {thick(12), thick(18)}, 0, 0, 360, grey, cv::FILLED);
  cv::line(picture, at(-5, 0), at(-7, 46), grey, thick(8));
  cv::line(picture, at(5, 0), at(7, 46), grey, thick(8));
  cv::line(picture, at(-10, -24), at(-14, 4), grey, thick(5));
  cv::line(picture, at(10, -24), at(14, 4), grey, thick(5));
}

/// Three dark persons of about 95, 140 and 190 pixels before a light wall, 640x480; feet of the first at (150, 288).
inline cv::Mat picture_of_people() {
  cv::Mat picture(480, 640, CV_8U, cv::Scalar(190));
  draw_person(picture, {150, 240}, 1, 40);
  draw_person(picture, {320, 220}, 1.5, 60);
  draw_person(picture, {500, 240}, 2, 30);
  cv::GaussianBlur(picture, picture, {}, 1.2);
  return picture;
}

/// Blurred noise, in which the face cascades see dozens of faces.
inline cv::Mat picture_of_noise(std::uint32_t seed = 1) {
  cv::Mat_<std::uint8_t> picture(480, 640);
  for (auto& pixel : picture) {
    seed = seed * 1664525U + 1013904223U;
    pixel = static_cast<std::uint8_t>(seed >> 24);
  }
  cv::Mat blurred;
  cv::GaussianBlur(picture, blurred, {}, 3);
  cv::normalize(blurred, blurred, 0, 255, cv::NORM_MINMAX);
  return blurred;
}

}  // namespace crowd::test
