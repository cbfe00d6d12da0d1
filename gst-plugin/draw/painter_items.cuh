// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is painted: outlines and texts, each a source of items in painting order, one for each place. A source says
// which of its items touch a tile, and makes them for it.
#pragma once

#include "painter_planes.cuh"

namespace crowd::draw {

__device__ inline std::uint32_t size_of(const DeviceBoxes& boxes) {
  return boxes.count ? min(*boxes.count, boxes.capacity) : 0;
}

/// A box as it is in memory.
__device__ inline float4 load_box(const DeviceBoxes& boxes, std::uint32_t index) {
  return reinterpret_cast<const float4*>(boxes.boxes)[index];
}

/// A box of no place; it is not drawn.
__device__ inline float4 no_box() {
  return {0, 0, 0, 0};
}

/// False if it is not drawn, whatever the frame.
__device__ inline bool find_pixels(const DeviceBoxes& boxes, const float4& box, PixelBox& pixels) {
  const float x1 = box.x * boxes.scale_x, x2 = box.z * boxes.scale_x;
  const float y1 = box.y * boxes.scale_y, y2 = box.w * boxes.scale_y;
  if (!is_drawable(x1, y1, x2, y2))
    return false;
  pixels = to_pixels(x1, y1, x2, y2);
  return true;
}

__device__ inline int class_of(const DeviceBoxes& boxes, std::uint32_t index) {
  return boxes.classes ? boxes.classes[index] : -1;
}

/// The entry of a box's label, or null.
__device__ inline const LabelEntry* label_of(const PaintJob& job, const DeviceBoxes& boxes, std::uint32_t index) {
  const int label = boxes.labels ? boxes.labels[index] : class_of(boxes, index);
  return label >= 0 && static_cast<std::uint32_t>(label) < job.label_count ? job.labels + label : nullptr;
}

__device__ inline unsigned color_of(const PaintJob& job, const BoxLayer& layer, std::uint32_t index) {
  if (!layer.by_class)
    return layer.fixed;
  const int id = class_of(layer.boxes, index);
  if (id >= 0)
    return static_cast<unsigned>(class_color_index(id));
  const LabelEntry* label = label_of(job, layer.boxes, index);
  constexpr int nameless = label_color_index(nullptr);
  return label ? label->color : static_cast<unsigned>(nameless);
}

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

/// A text on its background. It begins with glyphs of the label table and goes on with its own.
struct TextItem : ListedItem {
  Area background;
  int x, y;  ///< of the background's corner, from that of the tile
  int scale;
  unsigned ink;
  const std::uint8_t* label;
  int label_length;
  int tail_length;
  std::uint8_t tail[40];

  __device__ int length() const {
    return label_length + tail_length;
  }
  __device__ unsigned glyph(int index) const {
    return index < label_length ? label[index] : tail[index - label_length];
  }
};

/// A Text that only counts.
struct CountedText {
  int length;

  __device__ bool empty() const {
    return length == 0;
  }
  __device__ void put(char) {
    length += length < static_cast<int>(longest_text);
  }
};

/// A Text that becomes an item's tail.
struct TailText {
  TextItem& item;

  __device__ bool empty() const {
    return item.length() == 0;
  }
  __device__ void put(char character) {
    if (item.length() < static_cast<int>(longest_text))
      item.tail[item.tail_length++] = static_cast<std::uint8_t>(glyph_index(static_cast<unsigned char>(character)));
  }
};

/// The labels of survivors from the last to the first, then the summary.
struct TextSource {
  using Item = TextItem;
  static constexpr int batch = 1;
  static constexpr unsigned divided_from = 2;

  const PaintJob& job;
  PixelBox tile;
  std::uint32_t survivors;

  __device__ std::uint32_t size() const {
    const bool any = job.parts.labels || job.parts.scores || job.parts.counts;
    return (any ? survivors : 0) + (job.with_summary ? 1 : 0);
  }
  __device__ bool is_summary(std::uint32_t place) const {
    return job.with_summary && place == size() - 1;
  }
  __device__ std::uint32_t index(std::uint32_t place) const {
    return survivors - 1 - place;
  }
  __device__ int scale(std::uint32_t place) const {
    return is_summary(place) ? summary_scale * job.scale : job.scale;
  }
  __device__ float4 load(std::uint32_t place) const {
    return place < size() && !is_summary(place) ? load_box(job.survivors.boxes, index(place)) : no_box();
  }
  __device__ const LabelEntry* shown_label(std::uint32_t place) const {
    return is_summary(place) || !job.parts.labels ? nullptr : label_of(job, job.survivors.boxes, index(place));
  }
  /// What follows the label.
  template <typename Text>
  __device__ void put_tail(std::uint32_t place, Text& text) const {
    const DeviceBoxes& boxes = job.survivors.boxes;
    if (is_summary(place)) {
      put_summary(text, job.summary.candidates ? *job.summary.candidates : 0, job.summary.survivors);
      return;
    }
    const std::uint32_t i = index(place);
    const LabelParts parts{job.parts.labels, job.parts.scores && boxes.scores, job.parts.counts && boxes.members};
    put_numbers(text, parts, parts.scores ? boxes.scores[i] : 0, parts.counts ? boxes.members[i] : 0);
  }
  __device__ int length(std::uint32_t place) const {
    const LabelEntry* label = shown_label(place);
    CountedText text{label ? label->length : 0};
    put_tail(place, text);
    return text.length;
  }
  __device__ PixelBox background(std::uint32_t place, const PixelBox& pixels, int characters) const {
    return is_summary(place) ? text_box(0, 0, characters, scale(place))
                             : label_box(pixels, characters, job.scale, job.width);
  }
  /// The whole background; false if it does not touch the tile.
  __device__ bool find(std::uint32_t place, const float4& box, PixelBox& whole) const {
    PixelBox pixels{};
    if (!is_summary(place) &&
        (!find_pixels(job.survivors.boxes, box, pixels) || !is_visible(pixels, job.width, job.height)))
      return false;
    // Most are above or below the tile, whatever they say.
    const PixelBox empty = background(place, pixels, 0);
    if (empty.y1 >= tile.y2 || empty.y2 <= tile.y1)
      return false;
    const int characters = length(place);
    whole = background(place, pixels, characters);
    return characters > 0 && !is_empty(intersection(whole, tile));
  }
  __device__ bool touches(std::uint32_t place, const float4& box) const {
    PixelBox whole;
    return find(place, box, whole);
  }
  __device__ void make(Item& item) const {
    const std::uint32_t place = item.place;
    PixelBox whole{};
    find(place, load(place), whole);
    item.background.set(tile, intersection(whole, tile));
    item.x = whole.x1 - tile.x1;
    item.y = whole.y1 - tile.y1;
    item.scale = scale(place);
    item.color = is_summary(place) ? unsigned{black} : color_of(job, job.survivors, index(place));
    item.ink = job.ink_black >> item.color & 1 ? black : white;
    const LabelEntry* label = shown_label(place);
    item.label = label ? reinterpret_cast<const std::uint8_t*>(job.labels + job.label_count) + label->first : nullptr;
    item.label_length = label ? label->length : 0;
    item.tail_length = 0;
    TailText tail{item};
    put_tail(place, tail);
  }
};

template <int rest_rows>
__device__ void paint_item(const PaintJob& job, const OutlineItem& item, StripPlace at, Strip<rest_rows>& strip) {
  const auto pixels = [&item, at](int y) { return item.outer.in_row(at.word, y) & ~item.hole.in_row(at.word, y); };
  strip.fill(pixels(at.y), pixels(at.y + 1), item.color, job.rest_pairs);
}

/// Which row of a glyph's dots a row of pixels shows; glyph_height: none.
__device__ inline int dot_row(const TextItem& item, int y) {
  const int row = y < item.y ? -1 : (y - item.y) / item.scale - 1;
  return row >= 0 && row < glyph_height ? row : glyph_height;
}

/// The ink of two rows of pixels.
struct Ink {
  unsigned upper, lower;

  /// Adds rows of a glyph whose first dot begins at a bit of the word.
  __device__ void add(std::uint64_t glyph, int upper_row, int lower_row, int begin, int scale) {
    const unsigned upper_dots = upper_row < glyph_height ? static_cast<unsigned>(glyph >> 8 * upper_row) : 0;
    const unsigned lower_dots = lower_row < glyph_height ? static_cast<unsigned>(glyph >> 8 * lower_row) : 0;
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
  Ink ink{0, 0};
  for (int i = first; i <= last; ++i)
    ink.add(job.font[item.glyph(i)], upper_row, lower_row, character_left({0, 0, 0, 0}, i, item.scale) - left,
            item.scale);
  strip.row[0].paint(upper & ink.upper, item.ink);
  strip.row[1].paint(lower & ink.lower, item.ink);
}

}  // namespace crowd::draw
