// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * composer.hpp: from detections to what is painted, in whole pixels.
 *
 * An outline lies inside its box: edges are rounded to the nearest pixel (a half goes up), and a box that would vanish
 * is one pixel wide or high. A box that leaves the frame loses the edges that are outside. No label covers another:
 * placement.hpp says where they are placed, and which are left out.
 *
 * Order: candidates, outlines of survivors, their labels, summary. Survivors are painted from the last to the first, so
 * that the best-ranked lies on top.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "meta/object.hpp"
#include "overlay/draw/canvas.hpp"
#include "overlay/draw/geometry.hpp"
#include "overlay/draw/placer.hpp"

namespace crowd::draw {

/** A box to draw. Boxes with a coordinate that is not finite, or with x2 <= x1 or y2 <= y1, are not drawn. */
using Detection = meta::Object;

/** How it looks. Colours are 0xAARRGGBB; alpha 0 means: a colour for each class. */
struct Style {
  std::uint32_t color = 0;
  std::uint32_t candidate_color = 0xffffb300;
  int thickness = 0;            ///< pixels; 0: a 360th of the frame's height
  int candidate_thickness = 1;  ///< pixels
  int font_scale = 0;           ///< pixels per dot of the font; 0: a 540th of the frame's height
  bool labels = true;
  bool scores = true;
  bool counts = false;
  bool summary = false;
};

/** Numbers of the summary line. */
struct Summary {
  unsigned candidates = 0;
  std::optional<unsigned> survivors = {};  ///< left out if it is not known
};

/** Builds lists of primitives, keeping its memory from frame to frame. */
class Composer {
 public:
  /** The primitives of a frame. The span lives until the next call. */
  std::span<const Primitive> build(int width, int height, const Style& style, std::span<const Detection> candidates,
                                   std::span<const Detection> survivors, const Summary& summary);

 private:
  void add_fill(const PixelBox& pixels, std::uint32_t rgb);
  void add_outline(const Detection& box, int thickness, std::uint32_t rgb);
  void place_labels(const Style& style, std::span<const Detection> survivors, int scale, const PixelBox& taken);
  void add_text(const PixelBox& background, std::span<const int> text, int scale, std::uint32_t rgb);

  /** A label that has found its place. */
  struct Label {
    PixelBox background;
    std::size_t first, length;  ///< of its text
    std::uint32_t rgb;
  };

  int width_ = 0;
  int height_ = 0;
  std::vector<Primitive> primitives_;
  LabelPlacer placer_;
  std::vector<Label> labels_;  ///< the best-ranked first
  std::vector<int> text_;      ///< glyph indices of all labels
};

/** The colour of a class, 0xRRGGBB. */
std::uint32_t class_color(int class_id, const char* label);

}  // namespace crowd::draw
