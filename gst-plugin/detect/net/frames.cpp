// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/frames.hpp"

#include <algorithm>

namespace crowd::net {

namespace {

Samples component_of(const GstVideoFrame& frame, const ShownPart& part, guint i) {
  const GstVideoFormatInfo* format = frame.info.finfo;
  Samples component;
  component.data = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, i));
  // GStreamer 1.22 says that V of P010 is 1 byte behind U, which has 2.
  if (GST_VIDEO_FORMAT_INFO_DEPTH(format, i) > 8 && GST_VIDEO_FRAME_COMP_POFFSET(&frame, i) == 1)
    component.data++;
  component.stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, i);
  component.step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, i);
  component.shift_x = static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(format, i));
  component.shift_y = static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(format, i));
  // An odd corner begins in the middle of a sample of chroma: the part then shows it from its left, by a pixel at most.
  component.data += (part.y >> component.shift_y) * component.stride + (part.x >> component.shift_x) * component.step;
  return component;
}

// Levels of the samples that 8 bits stand for.
float units_of(const GstVideoFormatInfo* format) {
  const auto depth = GST_VIDEO_FORMAT_INFO_DEPTH(format, 0), shift = GST_VIDEO_FORMAT_INFO_SHIFT(format, 0);
  return static_cast<float>(1U << (depth + shift - 8));
}

void set_rgb(Picture& picture) {
  for (int i = 0; i < 3; i++)
    picture.matrix[i][i] = 1;
}

// Full-range RGB of Y, U and V with the colorimetry's range and matrix; BT.601 where it says none.
void set_yuv(Picture& picture, const GstVideoInfo& info) {
  gint offsets[GST_VIDEO_MAX_COMPONENTS], scales[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offsets, scales);
  gdouble kr = 0, kb = 0;
  if (!gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb)) {
    kr = 0.299;
    kb = 0.114;
  }
  const double kg = 1 - kr - kb;
  const double shift = 1U << GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0);
  const double luma = 255.0 / (scales[0] * shift), chroma = 255.0 / (scales[1] * shift);
  const double rows[3][3] = {
      {luma, 0, 2 * (1 - kr) * chroma},
      {luma, -2 * (1 - kb) * kb / kg * chroma, -2 * (1 - kr) * kr / kg * chroma},
      {luma, 2 * (1 - kb) * chroma, 0},
  };
  for (int i = 0; i < 3; i++) {
    picture.offsets[i] = static_cast<float>(offsets[i] * shift);
    for (int k = 0; k < 3; k++)
      picture.matrix[i][k] = static_cast<float>(rows[i][k]);
  }
}

// Grey alone, in the range that it has.
void set_grey(Picture& picture, const GstVideoInfo& info) {
  picture.components[1] = picture.components[2] = picture.components[0];
  for (auto& row : picture.matrix)
    row[0] = 1 / units_of(info.finfo);
}

}  // namespace

Picture picture_of(const GstVideoFrame& frame, const ShownPart& part) {
  Picture picture;
  picture.width = part.width;
  picture.height = part.height;
  picture.wide = GST_VIDEO_FORMAT_INFO_DEPTH(frame.info.finfo, 0) > 8;
  const guint components = std::min(3U, GST_VIDEO_FORMAT_INFO_N_COMPONENTS(frame.info.finfo));
  for (guint i = 0; i < components; i++)
    picture.components[i] = component_of(frame, part, i);
  if (GST_VIDEO_INFO_IS_RGB(&frame.info))
    set_rgb(picture);
  else if (GST_VIDEO_INFO_IS_GRAY(&frame.info))
    set_grey(picture, frame.info);
  else
    set_yuv(picture, frame.info);
  return picture;
}

Encoding encoding_of(const tensors::Input& input, int width, int height) {
  Encoding encoding;
  encoding.width = width;
  encoding.height = height;
  encoding.planar = input.planar;
  for (int i = 0; i < 3; i++) {
    const int channel = input.rgb ? i : 2 - i;
    const tensors::ValueRange range = input.ranges[static_cast<std::size_t>(channel)];
    encoding.channel_of[i] = channel;
    encoding.factor[i] = (range.max - range.min) / 255;
    encoding.offset[i] = range.min;
  }
  return encoding;
}

tensors::Dims batch_dims(const tensors::Input& input, const TilePlan& plan) {
  const auto count = static_cast<std::int64_t>(plan.crops.size());
  return input.planar ? tensors::Dims{count, 3, plan.input.height, plan.input.width}
                      : tensors::Dims{count, plan.input.height, plan.input.width, 3};
}

std::size_t batch_bytes(const tensors::Input& input, const TilePlan& plan) {
  return tensors::bytes_of(batch_dims(input, plan), input.tensor.type);
}

}  // namespace crowd::net
