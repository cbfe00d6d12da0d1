// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "scene.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>

#include "font.hpp"

namespace crowd::draw {

namespace {

// Bright and far apart, so that neighbouring classes differ on dark and light footage.
constexpr std::array<std::uint32_t, 12> class_colors = {0x00e676, 0x2979ff, 0xff5252, 0xffd600, 0xd500f9, 0x00e5ff,
                                                        0xff9100, 0x76ff03, 0xff4081, 0x1de9b6, 0x7c4dff, 0xc6ff00};

// Keeps sums and differences of a few coordinates in an int; far beyond any frame.
constexpr float far = 1 << 28;

// Of a label, characters; metadata may hold any text.
constexpr std::size_t longest_text = 256;

struct Box {
  int x1, y1, x2, y2;
};

std::optional<Box> to_pixels(const Detection& d) {
  if (!std::isfinite(d.x1) || !std::isfinite(d.y1) || !std::isfinite(d.x2) || !std::isfinite(d.y2))
    return std::nullopt;
  if (d.x2 <= d.x1 || d.y2 <= d.y1)
    return std::nullopt;
  const auto pixel = [](float edge) { return static_cast<int>(std::floor(std::clamp(edge, -far, far) + 0.5F)); };
  const Box box{pixel(d.x1), pixel(d.y1), pixel(d.x2), pixel(d.y2)};
  return Box{box.x1, box.y1, std::max(box.x2, box.x1 + 1), std::max(box.y2, box.y1 + 1)};
}

bool visible(const Box& box, int width, int height) {
  return box.x1 < width && box.y1 < height && box.x2 > 0 && box.y2 > 0;
}

std::uint32_t color_of(const Detection& box, std::uint32_t argb) {
  return argb >> 24 == 0 ? class_color(box.class_id, box.label) : argb & 0xffffff;
}

std::uint32_t readable_on(std::uint32_t rgb) {
  const std::uint32_t luma = 299 * (rgb >> 16 & 0xff) + 587 * (rgb >> 8 & 0xff) + 114 * (rgb & 0xff);
  return luma > 128 * 1000 ? 0x000000 : 0xffffff;
}

int automatic(int value, int height, int part) {
  return value > 0 ? value : std::max(1, (height + part / 2) / part);
}

// Bytes of the UTF-8 character that begins with `lead`; broken text counts byte by byte.
std::size_t character_bytes(unsigned char lead) {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

}  // namespace

std::uint32_t class_color(int class_id, const char* label) {
  if (class_id >= 0)
    return class_colors[static_cast<std::size_t>(class_id) % class_colors.size()];
  std::uint32_t hash = 2166136261U;
  for (const char* c = label ? label : ""; *c; c++)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
  return class_colors[hash % class_colors.size()];
}

std::span<const Primitive> Scene::build(int width, int height, const Style& style,
                                        std::span<const Detection> candidates, std::span<const Detection> survivors,
                                        const Summary& summary) {
  width_ = width;
  height_ = height;
  primitives_.clear();
  const int scale = automatic(style.font_scale, height, 540);
  for (const Detection& box : candidates)
    add_outline(box, style.candidate_thickness, color_of(box, style.candidate_color));
  // The best-ranked come first and lie on top.
  for (const Detection& box : std::views::reverse(survivors))
    add_outline(box, automatic(style.thickness, height, 360), color_of(box, style.color));
  for (const Detection& box : std::views::reverse(survivors)) {
    compose(style, box);
    add_label(box, scale, color_of(box, style.color));
  }
  if (style.summary)
    add_summary(summary, 2 * scale);
  return primitives_;
}

void Scene::add_outline(const Detection& detection, int thickness, std::uint32_t rgb) {
  const auto box = to_pixels(detection);
  if (!box || !visible(*box, width_, height_))
    return;
  const auto add = [&](int x1, int y1, int x2, int y2) {
    primitives_.push_back({Primitive::fill, x1, y1, x2, y2, 0, 0, rgb});
  };
  const auto [x1, y1, x2, y2] = *box;
  if (2 * thickness >= x2 - x1 || 2 * thickness >= y2 - y1) {
    add(x1, y1, x2, y2);
    return;
  }
  add(x1, y1, x2, y1 + thickness);
  add(x1, y2 - thickness, x2, y2);
  add(x1, y1 + thickness, x1 + thickness, y2 - thickness);
  add(x2 - thickness, y1 + thickness, x2, y2 - thickness);
}

void Scene::compose(const Style& style, const Detection& box) {
  text_.clear();
  std::array<char, 64> digits{};
  if (style.labels && box.label)
    append(box.label);
  if (style.scores && std::isfinite(box.score)) {
    const float shown = std::clamp(box.score, -1e6F, 1e6F);
    const char* end =
        std::to_chars(digits.data(), digits.data() + digits.size(), shown, std::chars_format::fixed, 2).ptr;
    append(text_.empty() ? "" : " ");
    append({digits.data(), end});
  }
  if (style.counts && box.members > 0) {
    append(text_.empty() ? "x" : " x");
    append_number(box.members);
  }
}

void Scene::append_number(unsigned number) {
  std::array<char, 16> digits{};
  append({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
}

void Scene::append(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size() && text_.size() < longest_text;) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    text_.push_back(glyph_index(lead));
    i += character_bytes(lead);
  }
}

void Scene::add_label(const Detection& detection, int scale, std::uint32_t rgb) {
  const auto box = to_pixels(detection);
  if (text_.empty() || !box || !visible(*box, width_, height_))
    return;
  const int w = (static_cast<int>(text_.size()) * glyph_advance + 1) * scale;
  const int h = (glyph_height + 1) * scale;
  const int y = box->y1 - h >= 0 ? box->y1 - h : std::max(box->y1, 0);
  add_text(std::max(std::min(box->x1, width_ - w), 0), y, scale, rgb);
}

void Scene::add_summary(const Summary& summary, int scale) {
  text_.clear();
  append_number(summary.candidates);
  append(" candidates");
  if (summary.survivors) {
    append(", ");
    append_number(*summary.survivors);
    append(" kept");
  }
  add_text(0, 0, scale, 0x000000);
}

void Scene::add_text(int x, int y, int scale, std::uint32_t rgb) {
  const int w = (static_cast<int>(text_.size()) * glyph_advance + 1) * scale;
  const int h = (glyph_height + 1) * scale;
  primitives_.push_back({Primitive::fill, x, y, x + w, y + h, 0, 0, rgb});
  for (std::size_t i = 0; i < text_.size(); i++) {
    const int left = x + (1 + static_cast<int>(i) * glyph_advance) * scale;
    if (left >= width_)
      break;
    primitives_.push_back({Primitive::glyph, left, y + scale, 0, 0, scale, text_[i], readable_on(rgb)});
  }
}

}  // namespace crowd::draw
