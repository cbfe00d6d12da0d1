// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "scene.hpp"

#include <optional>
#include <ranges>

#include "font.hpp"
#include "text.hpp"

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

/** Glyph indices as a Text. */
struct GlyphText {
  std::vector<int>& codes;

  void put(char character) {
    if (codes.size() < longest_text)
      codes.push_back(glyph_index(static_cast<unsigned char>(character)));
  }
  bool empty() const {
    return codes.empty();
  }
};

}  // namespace

std::uint32_t class_color(int class_id, const char* label) {
  return class_colors[class_id >= 0 ? class_color_index(class_id) : label_color_index(label)];
}

std::span<const Primitive> Scene::build(int width, int height, const Style& style,
                                        std::span<const Detection> candidates, std::span<const Detection> survivors,
                                        const Summary& summary) {
  width_ = width;
  height_ = height;
  primitives_.clear();
  const int scale = automatic(style.font_scale, height, text_part);
  for (const Detection& box : candidates)
    add_outline(box, style.candidate_thickness, color_of(box, style.candidate_color));
  // The best-ranked come first and lie on top.
  for (const Detection& box : std::views::reverse(survivors))
    add_outline(box, automatic(style.thickness, height, outline_part), color_of(box, style.color));
  for (const Detection& box : std::views::reverse(survivors)) {
    compose(style, box);
    add_label(box, scale, color_of(box, style.color));
  }
  if (style.summary)
    add_summary(summary, summary_scale * scale);
  return primitives_;
}

void Scene::add_fill(const PixelBox& pixels, std::uint32_t rgb) {
  primitives_.push_back({Primitive::fill, pixels.x1, pixels.y1, pixels.x2, pixels.y2, 0, 0, rgb});
}

void Scene::add_outline(const Detection& detection, int thickness, std::uint32_t rgb) {
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

void Scene::compose(const Style& style, const Detection& box) {
  text_.clear();
  if (style.labels && box.label)
    for_each_character(box.label, [this](unsigned char lead) { text_.push_back(glyph_index(lead)); });
  GlyphText text{text_};
  put_numbers(text, {style.labels, style.scores, style.counts}, box.score, box.members);
}

void Scene::add_label(const Detection& detection, int scale, std::uint32_t rgb) {
  const auto box = visible_pixels(detection, width_, height_);
  if (text_.empty() || !box)
    return;
  add_text(label_box(*box, static_cast<int>(text_.size()), scale, width_), scale, rgb);
}

void Scene::add_summary(const Summary& summary, int scale) {
  text_.clear();
  GlyphText text{text_};
  put_summary(text, summary.candidates, summary.survivors ? &*summary.survivors : nullptr);
  add_text(text_box(0, 0, static_cast<int>(text_.size()), scale), scale, 0x000000);
}

void Scene::add_text(const PixelBox& background, int scale, std::uint32_t rgb) {
  add_fill(background, rgb);
  for (std::size_t i = 0; i < text_.size(); i++) {
    const int left = character_left(background, static_cast<int>(i), scale);
    if (left >= width_)
      break;
    primitives_.push_back({Primitive::glyph, left, background.y1 + scale, 0, 0, scale, text_[i], readable_on(rgb)});
  }
}

}  // namespace crowd::draw
