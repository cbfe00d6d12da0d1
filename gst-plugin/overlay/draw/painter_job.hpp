// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * painter_job.hpp: between the halves of DevicePainter: painter.cpp, which knows canvas and style, and painter.cu,
 * which knows CUDA. C++17.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/deviceoutcome.hpp"
#include "overlay/draw/device_boxes.hpp"
#include "overlay/draw/font.hpp"
#include "overlay/draw/geometry.hpp"
#include "overlay/draw/placement.hpp"
#include "overlay/draw/text.hpp"

struct CUstream_st;

namespace crowd::draw {

/** Frees device memory, for code that does not see the CUDA runtime, which cuda::DeviceMemory is of. */
struct FreePainterMemory {
  void operator()(std::byte* memory) const;
};
using PainterMemory = std::unique_ptr<std::byte, FreePainterMemory>;

/** A label on the device. */
struct LabelEntry {
  std::uint32_t first;   ///< of its glyph indices
  std::uint16_t length;  ///< of them
  std::uint16_t color;   ///< label_color_index()
};

/** The labels on the device: entries, then the words of all glyphs, then glyph indices of two bytes. */
struct LabelMemory {
  PainterMemory memory;
  std::uint32_t count = 0;
};

/** A text of a frame on the device: it begins with glyphs of the label table and goes on with its own of ASCII. */
struct Text {
  PixelBox background;  ///< empty: it is left out
  std::uint32_t color;  ///< of the background
  const std::uint16_t* label;
  std::int32_t label_length, tail_length;
  std::uint8_t tail[40];
};

/** The texts of a frame on the device: its labels, the best-ranked first, and behind `max_labels` the summary. */
constexpr int max_texts = max_labels + 1;

/** Colours of a frame, by index: those of the classes, then these. */
enum Color : std::uint32_t { fixed_color = class_color_count, fixed_candidate_color, black, white, color_count };

/** Boxes and how to paint their outlines. */
struct BoxLayer {
  DeviceBoxes boxes;
  int thickness;
  bool by_class;        ///< else in the colour `fixed`
  std::uint32_t fixed;  ///< index of a colour
};

/** A component of the frame. */
struct Samples {
  std::uint8_t* data;
  std::ptrdiff_t stride;
  std::ptrdiff_t advance;
};

/** A frame to paint, as the kernel gets it. */
struct PaintJob {
  int width, height;
  int components;
  /** Components that have a sample for each pixel and take glyphs. */
  int full_components;
  /** Rows of samples that the other components have for two rows of pixels; 0: there are no others. */
  int rest_rows;
  bool rest_pairs;   ///< a sample of theirs covers two pixels of a row
  bool whole_words;  ///< pixels are words at component[0].data, and the palette has their bytes in this order
  Samples component[4];
  std::uint32_t palette[color_count];      ///< Paint, the first component in the lowest byte
  std::uint32_t ink_black;                 ///< a bit for each colour on which text is black; on others it is white
  std::uint64_t ascii[ascii_glyph_count];  ///< the first row in the lowest `glyph_width` bits
  BoxLayer candidates, survivors;
  DeviceSummary summary;
  bool with_summary;
  LabelParts parts;
  int scale;  ///< of labels
  const LabelEntry* labels;
  std::uint32_t label_count;
  const std::uint64_t* glyphs;  ///< all, as `ascii`
  const std::uint16_t* label_codes;
  Text* texts;  ///< max_texts; null if there are none
};

/** Allocates device memory; null, and `report` says why, if that fails. */
PainterMemory allocate(std::size_t size, DeviceReport& report);
/** The same, filled. */
PainterMemory upload(const void* bytes, std::size_t size, DeviceReport& report);

/** Launches the kernels. */
DeviceReport launch_painter(const PaintJob& job, CUstream_st* stream);

}  // namespace crowd::draw
