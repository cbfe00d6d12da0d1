// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdoverlay does with a frame, on a small picture.
#pragma once

#include <gst/video/video.h>

#include <iterator>

#include "base/mappedframe.hpp"
#include "input.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay/draw/detections.hpp"
#include "overlay/draw/frame.hpp"

namespace crowd::fuzz {

inline draw::Style read_style(Input& input) {
  draw::Style style;
  style.color = input.any<std::uint32_t>();
  style.candidate_color = input.any<std::uint32_t>();
  style.thickness = static_cast<int>(input.below(65));
  style.candidate_thickness = 1 + static_cast<int>(input.below(64));
  style.font_scale = static_cast<int>(input.below(33));
  style.labels = input.flag();
  style.scores = input.flag();
  style.counts = input.flag();
  style.summary = input.flag();
  return style;
}

/// Paints what the metadata of `buffer` say on a picture of its own.
inline void draw_detections(Input& input, const draw::Detections& detections) {
  constexpr GstVideoFormat formats[] = {GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420,
                                        GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_RGB,  GST_VIDEO_FORMAT_GRAY8};
  const draw::Style style = read_style(input);
  const auto width = static_cast<int>(1 + input.below(64)), height = static_cast<int>(1 + input.below(64));
  GstVideoInfo info;
  require(gst_video_info_set_format(&info, input.pick(formats), static_cast<guint>(width), static_cast<guint>(height)),
          "there is a picture");
  GstBuffer* picture = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  {
    const MappedFrame frame(picture, info, GST_MAP_READWRITE);
    require(bool(frame), "a picture can be mapped");
    draw::Composer composer;
    draw::paint(draw::canvas_of(*frame),
                composer.build(width, height, style, detections.candidates, detections.survivors, detections.summary));
  }
  gst_buffer_unref(picture);
}

}  // namespace crowd::fuzz
