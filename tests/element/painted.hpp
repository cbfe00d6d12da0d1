// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames with padding and noise, and the pixel rule of draw/canvas.hpp in its plainest form, sample by sample.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "overlay/draw/canvas.hpp"
#include "overlay/draw/font.hpp"
#include "support.hpp"

namespace crowd::test {

inline const char* const drawn_formats[] = {"NV12", "NV21",      "I420",      "YV12", "Y42B", "NV16", "Y444", "YUY2",
                                            "UYVY", "P010_10LE", "I420_10LE", "RGB",  "BGR",  "RGBA", "BGRA", "ARGB",
                                            "ABGR", "RGBx",      "BGRx",      "xRGB", "xBGR", "GRAY8"};

inline GstVideoInfo video_info(const char* format, unsigned width, unsigned height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height);
  return info;
}

/// A frame of noise whose planes have odd offsets and wider strides than they need, as a GstVideoMeta says.
inline Ref<GstBuffer> padded_frame(const GstVideoInfo& info, std::uint32_t seed = 7) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize size = 13;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
    offset[p] = size;
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE(&info, p) + 6;
    size += static_cast<gsize>(stride[p]) * static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info)) + 17;
  }
  std::minstd_rand random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes)
    byte = static_cast<std::uint8_t>(random() >> 8);
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_fill(buffer.get(), 0, bytes.data(), size);
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)), GST_VIDEO_INFO_N_PLANES(&info),
                                 offset, stride);
  return buffer;
}

inline std::vector<std::uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

inline bool covers(const draw::Primitive& p, std::int64_t x, std::int64_t y) {
  if (p.kind == draw::Primitive::fill)
    return x >= p.x1 && x < p.x2 && y >= p.y1 && y < p.y2;
  const std::int64_t column = x - p.x1, row = y - p.y1;
  return column >= 0 && row >= 0 && column < 5 * p.scale && row < draw::glyph_height * p.scale &&
         draw::has_ink(draw::glyphs()[static_cast<std::size_t>(p.code)], static_cast<int>(column / p.scale),
                       static_cast<int>(row / p.scale));
}

/// Paints by asking of every sample which primitives cover one of its pixels.
inline void paint_plainly(GstVideoFrame& frame, std::span<const draw::Primitive> primitives,
                          const draw::ColourSpace& colours) {
  const int width = GST_VIDEO_FRAME_WIDTH(&frame), height = GST_VIDEO_FRAME_HEIGHT(&frame);
  for (int c = 0; c < static_cast<int>(GST_VIDEO_FRAME_N_COMPONENTS(&frame)); c++) {
    const int w = 1 << GST_VIDEO_FORMAT_INFO_W_SUB(frame.info.finfo, c);
    const int h = 1 << GST_VIDEO_FORMAT_INFO_H_SUB(frame.info.finfo, c);
    const bool takes_glyphs = colours.rgb || c == 0;
    for (int y = 0; y < height; y += h)
      for (int x = 0; x < width; x += w)
        for (const auto& p : primitives) {
          bool covered = false;
          for (int py = y; py < std::min(y + h, height); py++)
            for (int px = x; px < std::min(x + w, width); px++)
              covered |= covers(p, px, py) && (p.kind == draw::Primitive::fill || takes_glyphs);
          if (!covered)
            continue;
          auto* sample = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                         y / h * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                         x / w * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
          const unsigned value = unsigned{draw::encode(p.rgb, colours)[static_cast<std::size_t>(c)]}
                                 << GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, c);
          sample[0] = static_cast<std::uint8_t>(value);
          if (GST_VIDEO_FORMAT_INFO_DEPTH(frame.info.finfo, c) > 8)
            sample[1] = static_cast<std::uint8_t>(value >> 8);
        }
  }
}

/// The rows of a grey picture after painting: '.' where nothing was, '#' white, '@' black.
inline std::vector<std::string> rows_of(int width, int height, std::span<const draw::Primitive> primitives) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width * height), 77);
  draw::Canvas canvas{width, height, 1, 1, {false, true, 2990, 1140}, {}};
  canvas.component[0] = {pixels.data(), width, 1, 0, 0};
  draw::paint(canvas, primitives);
  std::vector<std::string> rows(static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < pixels.size(); i++)
    rows[i / static_cast<std::size_t>(width)] += pixels[i] == 77 ? '.' : pixels[i] == 255 ? '#' : '@';
  return rows;
}

}  // namespace crowd::test
