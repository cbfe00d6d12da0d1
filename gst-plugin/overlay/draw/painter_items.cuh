// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is painted: outlines and texts, each a source of items in painting order, one for each place. A source says
// which of its items touch a tile, and makes them for it. painter_texts.cuh has placed the texts.
#pragma once

#include "overlay/draw/painter_boxes.cuh"
#include "overlay/draw/painter_planes.cuh"

namespace crowd::draw {

/// The pixels of a tile that lie in the frame.
__device__ inline PixelBox tile_of(const PaintJob& job) {
  const int x = static_cast<int>(blockIdx.x) * tile_size;
  const int y = static_cast<int>(blockIdx.y) * tile_size;
  return {x, y, min(x + tile_size, job.width), min(y + tile_size, job.height)};
}

/// A rectangle in a tile: a bit for each column, rows from y1 to before y2.
struct Area {
  unsigned columns[tile_words];
  std::int16_t y1, y2;

  __device__ void set(const PixelBox& tile, const PixelBox& pixels) {
    for (int word = 0; word < tile_words; ++word)
      columns[word] = bits_between(pixels.x1 - tile.x1 - 32 * word, pixels.x2 - tile.x1 - 32 * word);
    y1 = static_cast<std::int16_t>(min(max(pixels.y1 - tile.y1, 0), tile_size));
    y2 = static_cast<std::int16_t>(min(max(pixels.y2 - tile.y1, 0), tile_size));
  }
  __device__ unsigned in_row(int word, int y) const {
    return columns[word] & mask_if(y >= y1 && y < y2);
  }
};

/// An item is listed by its place and then made, all items of a list at the same time.
struct ListedItem {
  union {
    std::uint32_t place;
    unsigned color;
  };
};

struct OutlineItem : ListedItem {
  Area outer, hole;
};

/// The outlines of candidates, then those of survivors from the last to the first.
struct OutlineSource {
  using Item = OutlineItem;
  static constexpr int batch = 3;              ///< that a thread looks at between barriers
  static constexpr unsigned divided_from = 6;  ///< items of a list, of which fewer are not worth a division

  const PaintJob& job;
  PixelBox tile;
  std::uint32_t candidates, survivors;

  __device__ std::uint32_t size() const {
    return candidates + survivors;
  }
  __device__ bool is_candidate(std::uint32_t place) const {
    return place < candidates;
  }
  __device__ const BoxLayer& layer(std::uint32_t place) const {
    return is_candidate(place) ? job.candidates : job.survivors;
  }
  __device__ std::uint32_t index(std::uint32_t place) const {
    return is_candidate(place) ? place : survivors - 1 - (place - candidates);
  }
  __device__ float4 load(std::uint32_t place) const {
    return place < size() ? load_box(layer(place).boxes, index(place)) : no_box();
  }
  /// The part in the tile.
  __device__ bool cut(std::uint32_t place, const float4& box, Outline& part) const {
    const BoxLayer& from = layer(place);
    PixelBox pixels;
    if (!find_pixels(from.boxes, box, pixels))
      return false;
    const Outline whole = outline_of(pixels, from.thickness);
    part = {intersection(whole.outer, tile), intersection(whole.hole, tile)};
    const bool all_hole = part.outer.x1 == part.hole.x1 && part.outer.y1 == part.hole.y1 &&
                          part.outer.x2 == part.hole.x2 && part.outer.y2 == part.hole.y2;
    return !is_empty(part.outer) && !all_hole;
  }
  __device__ bool touches(std::uint32_t place, const float4& box) const {
    Outline part;
    return cut(place, box, part);
  }
  __device__ void make(Item& item) const {
    const std::uint32_t place = item.place;
    Outline part;
    cut(place, load(place), part);
    item.outer.set(tile, part.outer);
    item.hole.set(tile, part.hole);
    item.color = color_of(job, layer(place), index(place));
  }
};

/// A text on its background.
struct TextItem : ListedItem {
  Area background;
  int x, y;  ///< of the background's corner, from that of the tile
  int scale;
  unsigned ink;
  const std::uint16_t* label;
  int label_length;
  int tail_length;
  std::uint8_t tail[sizeof Text::tail];

  __device__ int length() const {
    return label_length + tail_length;
  }
  __device__ std::uint64_t glyph(const PaintJob& job, int index) const {
    if (index >= label_length)
      return job.ascii[tail[index - label_length]];
    const unsigned code = label[index];
    return code < ascii_glyph_count ? job.ascii[code] : job.glyphs[code];
  }
};

/// The labels of survivors from the last to the first, then the summary, where they have been placed.
struct TextSource {
  using Item = TextItem;
  static constexpr int batch = 1;
  static constexpr unsigned divided_from = 2;

  const PaintJob& job;
  PixelBox tile;
  std::uint32_t labels;

  __device__ std::uint32_t size() const {
    return labels + (job.with_summary ? 1 : 0);
  }
  __device__ bool is_summary(std::uint32_t place) const {
    return place == labels;
  }
  __device__ const Text& text(std::uint32_t place) const {
    return job.texts[is_summary(place) ? max_labels : labels - 1 - place];
  }
  __device__ PixelBox load(std::uint32_t place) const {
    return place < size() ? text(place).background : PixelBox{0, 0, 0, 0};
  }
  __device__ bool touches(std::uint32_t, const PixelBox& background) const {
    return !is_empty(intersection(background, tile));
  }
  __device__ void make(Item& item) const {
    const std::uint32_t place = item.place;
    const Text& from = text(place);
    item.background.set(tile, intersection(from.background, tile));
    item.x = from.background.x1 - tile.x1;
    item.y = from.background.y1 - tile.y1;
    item.scale = (is_summary(place) ? summary_scale : 1) * job.scale;
    item.color = from.color;
    item.ink = job.ink_black >> from.color & 1 ? black : white;
    item.label = from.label;
    item.label_length = from.label_length;
    item.tail_length = from.tail_length;
    for (int i = 0; i < from.tail_length; ++i)
      item.tail[i] = from.tail[i];
  }
};

template <int rest_rows>
__device__ void paint_item(const PaintJob& job, const OutlineItem& item, StripPlace at, Strip<rest_rows>& strip) {
  const auto pixels = [&item, at](int y) { return item.outer.in_row(at.word, y) & ~item.hole.in_row(at.word, y); };
  strip.fill(pixels(at.y), pixels(at.y + 1), item.color, job.rest_pairs);
}

/// Which row of a glyph's dots a row of pixels shows; glyph_height: none.
__device__ inline int dot_row(const TextItem& item, int y) {
  const int row = y < item.y ? -1 : (y - item.y) / item.scale;
  return row >= 0 && row < glyph_height ? row : glyph_height;
}

/// The ink of two rows of pixels.
struct RowPairInk {
  unsigned upper, lower;

  /// Adds rows of a glyph whose first dot begins at a bit of the word.
  __device__ void add(std::uint64_t glyph, int upper_row, int lower_row, int begin, int scale) {
    const unsigned upper_dots = upper_row < glyph_height ? static_cast<unsigned>(glyph >> glyph_width * upper_row) : 0;
    const unsigned lower_dots = lower_row < glyph_height ? static_cast<unsigned>(glyph >> glyph_width * lower_row) : 0;
    unsigned before = low_bits(begin);
#pragma unroll
    for (int column = 0; column < glyph_width; ++column) {
      const unsigned after = low_bits(begin + (column + 1) * scale);
      const unsigned dot = 1U << (glyph_width - 1 - column);
      upper |= after & ~before & mask_if(upper_dots & dot);
      lower |= after & ~before & mask_if(lower_dots & dot);
      before = after;
    }
  }
};

template <int rest_rows>
__device__ void paint_item(const PaintJob& job, const TextItem& item, StripPlace at, Strip<rest_rows>& strip) {
  if (item.background.columns[at.word] == 0)
    return;
  const unsigned upper = item.background.in_row(at.word, at.y), lower = item.background.in_row(at.word, at.y + 1);
  strip.fill(upper, lower, item.color, job.rest_pairs);
  const int upper_row = dot_row(item, at.y), lower_row = dot_row(item, at.y + 1);
  // Dots of the text from its left edge, of which the first is empty.
  const int left = 32 * at.word - item.x;
  const int first = left < 0 ? 0 : max(left / item.scale - 1, 0) / glyph_advance;
  const int last = min((left + 31) / item.scale / glyph_advance, item.length() - 1);
  RowPairInk ink{0, 0};
  for (int i = first; i <= last; ++i)
    ink.add(item.glyph(job, i), upper_row, lower_row, character_left({0, 0, 0, 0}, i, item.scale) - left, item.scale);
  strip.row[0].paint(upper & ink.upper, item.ink);
  strip.row[1].paint(lower & ink.lower, item.ink);
}

}  // namespace crowd::draw
