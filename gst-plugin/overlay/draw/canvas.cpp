// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/canvas.hpp"

#include <algorithm>

#include "overlay/draw/cells.hpp"
#include "overlay/draw/font.hpp"

namespace crowd::draw {

namespace {

constexpr std::int64_t rounded_quotient(std::int64_t numerator, std::int64_t denominator) {
  return (numerator >= 0 ? numerator + denominator / 2 : numerator - denominator / 2) / denominator;
}

/** Columns of a glyph's row that have ink. */
struct Dots {
  std::int8_t first, end;
};

struct DotRuns {
  std::array<Dots, (glyph_width + 1) / 2> all{};
  int count = 0;

  const Dots* begin() const {
    return all.data();
  }
  const Dots* end() const {
    return all.data() + count;
  }
};

constexpr std::array<DotRuns, 1 << glyph_width> make_runs() {
  std::array<DotRuns, 1 << glyph_width> table{};
  for (unsigned row = 0; row < table.size(); row++) {
    const auto has_dot = [row](int column) { return column >= 0 && (row >> (glyph_width - 1 - column) & 1) != 0; };
    for (int column = 0; column < glyph_width; column++) {
      DotRuns& runs = table[row];
      if (has_dot(column) && !has_dot(column - 1))
        runs.all[static_cast<std::size_t>(runs.count++)].first = static_cast<std::int8_t>(column);
      if (has_dot(column))
        runs.all[static_cast<std::size_t>(runs.count - 1)].end = static_cast<std::int8_t>(column + 1);
    }
  }
  return table;
}

const DotRuns& runs_of(std::uint8_t row) {
  static constexpr auto table = make_runs();
  return table[row];
}

/** Paints in one colour after the other. */
class Painter {
 public:
  explicit Painter(const Canvas& canvas) : canvas_(canvas), grids_(canvas) {
    take(0);
  }

  /** Paints the first primitive and those behind it that go with it, and returns how many these are. */
  std::size_t paint(std::span<const Primitive> primitives) {
    if (primitives[0].rgb != rgb_)
      take(primitives[0].rgb);
    const bool is_fill = primitives[0].kind == Primitive::fill;
    const std::size_t painted = is_fill ? paint_fill(primitives[0]) : paint_text(primitives);
    background_ = is_fill ? &primitives[0] : nullptr;
    return painted;
  }

 private:
  using Inks = std::array<Ink, 4>;
  /** Of a text whose rows are painted as one: memory is far from row to row. */
  static constexpr std::size_t max_glyphs = 32;

  void take(std::uint32_t rgb) {
    rgb_ = rgb;
    const Paint paint = encode(rgb, canvas_.colours);
    for (std::size_t i = 0; i < grids_.all().size(); i++) {
      fills_[i] = Ink(canvas_, grids_.all()[i], paint, canvas_.components);
      glyphs_[i] = Ink(canvas_, grids_.all()[i], paint, canvas_.glyph_components);
    }
  }

  void fill(const Inks& inks, const Pixels& rows, std::span<const Pixels> columns) const {
    if (rows.first >= rows.end)
      return;
    for (std::size_t i = 0; i < grids_.all().size(); i++)
      inks[i].fill(grids_.all()[i], rows, columns);
  }

  void fill_alike(const Inks& inks, const Pixels& rows, std::span<const Pixels> columns) const {
    if (rows.first >= rows.end || columns.empty())
      return;
    for (std::size_t i = 0; i < grids_.all().size(); i++)
      inks[i].fill_alike(grids_.all()[i], rows, columns);
  }

  /** Pixels that lie in the frame are left, counted from where components begin; they may be anywhere in the range of
   *  int. */
  static Pixels clip(int first, int end, int extent, int begin) {
    return {std::max(first, 0) + begin, std::min(end, extent) + begin};
  }
  Pixels clip_columns(int first, int end) const {
    return clip(first, end, canvas_.width, canvas_.left);
  }
  Pixels clip_rows(int first, int end) const {
    return clip(first, end, canvas_.height, canvas_.top);
  }

  std::size_t paint_fill(const Primitive& p) const {
    const Pixels columns = clip_columns(p.x1, p.x2);
    if (columns.first < columns.end)
      fill(fills_, clip_rows(p.y1, p.y2), std::span(&columns, 1));
    return 1;
  }

  /** Glyphs in a line. */
  std::size_t paint_text(std::span<const Primitive> primitives) const {
    const Primitive& a = primitives[0];
    const auto end = std::ranges::find_if(
        primitives.first(std::min(primitives.size(), max_glyphs)),
        [&a](const Primitive& b) { return b.kind != a.kind || b.y1 != a.y1 || b.scale != a.scale || b.rgb != a.rgb; });
    const auto line = primitives.first(static_cast<std::size_t>(end - primitives.begin()));
    const bool plain = lies_on_background(line);
    for (int row = 0; row < glyph_height; row++) {
      std::array<Pixels, max_glyphs*(glyph_width + 1) / 2> columns;
      std::size_t visible = 0;
      for (const Primitive& glyph : line)
        for (const Dots& dots :
             runs_of(glyphs()[static_cast<std::size_t>(glyph.code)][static_cast<std::size_t>(row)])) {
          columns[visible] = clip_columns(glyph.x1 + dots.first * a.scale, glyph.x1 + dots.end * a.scale);
          visible += columns[visible].first < columns[visible].end;
        }
      const Pixels rows = clip_rows(a.y1 + row * a.scale, a.y1 + (row + 1) * a.scale);
      if (plain)
        fill_alike(glyphs_, rows, std::span(columns).first(visible));
      else
        fill(glyphs_, rows, std::span(columns).first(visible));
    }
    return line.size();
  }

  /** Whether all of a line of glyphs lies on the fill painted just before. */
  bool lies_on_background(std::span<const Primitive> line) const {
    const int scale = line[0].scale;
    return background_ && background_->y1 <= line[0].y1 && line[0].y1 + glyph_height * scale <= background_->y2 &&
           std::ranges::all_of(line, [&](const Primitive& glyph) {
             return background_->x1 <= glyph.x1 && glyph.x1 + glyph_width * scale <= background_->x2;
           });
  }

  const Canvas& canvas_;
  Grids grids_;
  std::uint32_t rgb_ = 0;
  Inks fills_, glyphs_;
  const Primitive* background_ = nullptr;  ///< what was painted just before, if it is a fill
};

}  // namespace

Paint encode(std::uint32_t rgb, const ColourSpace& space) {
  const std::int64_t r = rgb >> 16 & 0xff;
  const std::int64_t g = rgb >> 8 & 0xff;
  const std::int64_t b = rgb & 0xff;
  const std::int64_t largest = (std::int64_t{1} << space.depth) - 1;
  const std::int64_t unit = std::int64_t{1} << (space.depth - 8);
  const auto sample = [largest](std::int64_t value) {
    return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 0, largest));
  };
  const std::uint16_t opaque = sample(largest);
  if (space.rgb)
    return {sample(rounded_quotient(largest * r, 255)), sample(rounded_quotient(largest * g, 255)),
            sample(rounded_quotient(largest * b, 255)), opaque};
  // Luma and the colour differences as 10000ths of 255.
  const std::int64_t luma = space.kr * r + (10000 - space.kr - space.kb) * g + space.kb * b;
  const std::int64_t luma_range = space.full_range ? largest : 219 * unit;
  const std::int64_t chroma_range = space.full_range ? largest : 224 * unit;
  const auto chroma = [&](std::int64_t value, std::int64_t weight) {
    return sample(128 * unit + rounded_quotient(chroma_range * (10000 * value - luma), 2 * (10000 - weight) * 255));
  };
  return {sample((space.full_range ? 0 : 16 * unit) + rounded_quotient(luma_range * luma, 10000 * 255)),
          chroma(b, space.kb), chroma(r, space.kr), opaque};
}

void paint(const Canvas& canvas, std::span<const Primitive> primitives) {
  Painter painter(canvas);
  while (!primitives.empty())
    primitives = primitives.subspan(painter.paint(primitives));
}

}  // namespace crowd::draw
