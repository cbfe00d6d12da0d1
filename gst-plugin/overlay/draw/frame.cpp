// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/frame.hpp"

#include <algorithm>

namespace crowd::draw {

namespace {

ColourSpace colours_of(const GstVideoInfo& info) {
  ColourSpace space{};
  space.rgb = GST_VIDEO_INFO_IS_RGB(&info);
  space.depth = static_cast<int>(GST_VIDEO_INFO_COMP_DEPTH(&info, 0));
  space.full_range = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  const auto weights = [&space](int kr, int kb) {
    space.kr = kr;
    space.kb = kb;
  };
  switch (info.colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
      weights(2126, 722);
      break;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      weights(2627, 593);
      break;
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      weights(2120, 870);
      break;
    case GST_VIDEO_COLOR_MATRIX_FCC:
      weights(3000, 1100);
      break;
    default:
      weights(2990, 1140);
  }
  return space;
}

}  // namespace

Canvas canvas_of(const GstVideoFrame& frame, const ShownPart& part) {
  Canvas canvas{};
  canvas.width = part.width;
  canvas.height = part.height;
  canvas.components = static_cast<int>(GST_VIDEO_FRAME_N_COMPONENTS(&frame));
  canvas.colours = colours_of(frame.info);
  canvas.glyph_components = canvas.colours.rgb ? canvas.components : 1;
  int shift_x = 0, shift_y = 0;
  for (int i = 0; i < canvas.components; i++) {
    shift_x = std::max(shift_x, static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(frame.info.finfo, i)));
    shift_y = std::max(shift_y, static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(frame.info.finfo, i)));
  }
  // Components begin where a sample of each does.
  const int x = part.x >> shift_x << shift_x, y = part.y >> shift_y << shift_y;
  canvas.left = part.x - x;
  canvas.top = part.y - y;
  for (int i = 0; i < canvas.components; i++) {
    Component& component = canvas.component[static_cast<std::size_t>(i)];
    component = {
        .data = GST_VIDEO_FRAME_COMP_DATA(&frame, i),
        .stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, i),
        .advance = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, i),
        .shift_x = static_cast<int>(GST_VIDEO_FORMAT_INFO_W_SUB(frame.info.finfo, i)),
        .shift_y = static_cast<int>(GST_VIDEO_FORMAT_INFO_H_SUB(frame.info.finfo, i)),
        .bytes = canvas.colours.depth > 8 ? 2 : 1,
        .shift = static_cast<int>(GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, i)),
    };
    component.data += (y >> component.shift_y) * component.stride + (x >> component.shift_x) * component.advance;
  }
  return canvas;
}

Canvas canvas_of(const GstVideoFrame& frame) {
  return canvas_of(frame, {0, 0, GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame)});
}

}  // namespace crowd::draw
