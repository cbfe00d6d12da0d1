// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/composer.hpp"

#include <algorithm>
#include <optional>

#include "overlay/draw/font.hpp"
#include "overlay/draw/placement.hpp"
#include "overlay/draw/text.hpp"

namespace crowd::draw {

namespace {

std::optional<PixelBox> visible_pixels(const Detection& d, int width, int height) {
  if (!is_drawable(d.x1, d.y1, d.x2, d.y2))
    return std::nullopt;
  const PixelBox box = to_pixels(d.x1, d.y1, d.x2, d.y2);
  return is_visible(box, width, height) ? std::optional(box) : std::nullopt;
}

std::uint32_t color_of(const Detection& box, std::uint32_t argb) {
  return argb >> 24 == 0 ? class_color(box.class_id, box.label) : argb & 0xffffff;
}

/** Glyph indices behind others, as a Text. */
struct GlyphText {
  std::vector<int>& codes;
  std::size_t first = codes.size();

  std::size_t length() const {
    return codes.size() - first;
  }
  bool empty() const {
    return length() == 0;
  }
  void put(char character) {
    if (length() < longest_text)
      codes.push_back(ascii_glyph(character));
  }
};

void compose(const Style& style, const Detection& box, GlyphText& text) {
  if (style.labels && box.label)
    for_each_character(box.label, [&text](char32_t character) { text.codes.push_back(glyph_index(character)); });
  put_numbers(text, {style.labels, style.scores, style.counts}, box.score, box.members);
}

}  // namespace

std::uint32_t class_color(int class_id, const char* label) {
  return class_colors[class_id >= 0 ? class_color_index(class_id) : label_color_index(label)];
}

std::span<const Primitive> Composer::build(int width, int height, const Style& style,
                                           std::span<const Detection> candidates, std::span<const Detection> survivors,
                                           const Summary& summary) {
  width_ = width;
  height_ = height;
  primitives_.clear();
  const int scale = automatic(style.font_scale, height, text_part);
  for (const Detection& box : candidates)
    add_outline(box, style.candidate_thickness, color_of(box, style.candidate_color));
  // The best-ranked come first and lie on top.
  for (auto box = survivors.rbegin(); box != survivors.rend(); ++box)
    add_outline(*box, automatic(style.thickness, height, outline_part), color_of(*box, style.color));
  text_.clear();
  GlyphText summary_text{text_};
  PixelBox summary_box{};
  if (style.summary) {
    put_summary(summary_text, summary.candidates, summary.survivors ? &*summary.survivors : nullptr);
    summary_box = text_box(0, 0, static_cast<int>(summary_text.length()), summary_scale * scale);
  }
  const std::size_t summary_length = summary_text.length();
  place_labels(style, survivors, scale, summary_box);
  const std::span<const int> text(text_);
  for (auto label = labels_.rbegin(); label != labels_.rend(); ++label)
    add_text(label->background, text.subspan(label->first, label->length), scale, label->rgb);
  if (style.summary)
    add_text(summary_box, text.first(summary_length), summary_scale * scale, 0x000000);
  return primitives_;
}

void Composer::place_labels(const Style& style, std::span<const Detection> survivors, int scale,
                            const PixelBox& taken) {
  labels_.clear();
  placer_.begin_frame(text_box(0, 0, 0, scale).y2, height_);
  for (const Detection& survivor : survivors.first(std::min<std::size_t>(survivors.size(), max_labels))) {
    const auto box = visible_pixels(survivor, width_, height_);
    if (!box)
      continue;
    GlyphText text{text_};
    compose(style, survivor, text);
    if (text.empty())
      continue;
    const auto place = placer_.place(places_of(*box, static_cast<int>(text.length()), scale, width_, height_, taken));
    if (place)
      labels_.push_back({*place, text.first, text.length(), color_of(survivor, style.color)});
  }
}

void Composer::add_fill(const PixelBox& pixels, std::uint32_t rgb) {
  primitives_.push_back({Primitive::fill, pixels.x1, pixels.y1, pixels.x2, pixels.y2, 0, 0, rgb});
}

void Composer::add_outline(const Detection& detection, int thickness, std::uint32_t rgb) {
  const auto box = visible_pixels(detection, width_, height_);
  if (!box)
    return;
  const auto [outer, hole] = outline_of(*box, thickness);
  if (is_empty(hole)) {
    add_fill(outer, rgb);
    return;
  }
  add_fill({outer.x1, outer.y1, outer.x2, hole.y1}, rgb);
  add_fill({outer.x1, hole.y2, outer.x2, outer.y2}, rgb);
  add_fill({outer.x1, hole.y1, hole.x1, hole.y2}, rgb);
  add_fill({hole.x2, hole.y1, outer.x2, hole.y2}, rgb);
}

void Composer::add_text(const PixelBox& background, std::span<const int> text, int scale, std::uint32_t rgb) {
  add_fill(background, rgb);
  for (std::size_t i = 0; i < text.size(); i++) {
    const int left = character_left(background, static_cast<int>(i), scale);
    if (left >= width_)
      break;
    primitives_.push_back({Primitive::glyph, left, background.y1, 0, 0, scale, text[i], readable_on(rgb)});
  }
}

}  // namespace crowd::draw
