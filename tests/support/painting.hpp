// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Scenes to paint with draw/painter.hpp, each a function of a seed, and the picture that the host makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "overlay/draw/painter.hpp"

namespace crowd::test {

/// A video format: where the samples of its components lie.
struct PictureFormat {
  struct Place {
    int plane, offset, advance, shift_x, shift_y;
  };
  const char* name;
  bool rgb;
  int glyph_components;
  std::vector<Place> components;
};
std::span<const PictureFormat> picture_formats();
const PictureFormat& picture_format(const std::string& name);
/// The names of all, for tests of each.
std::vector<std::string> picture_format_names();

/// A picture of noise, with noise between its rows and planes.
class Picture {
 public:
  /// `aligned`: planes and rows as hardware wants them, else at odd places.
  Picture(const PictureFormat& format, int width, int height, bool aligned, std::uint64_t seed);

  /// The picture if its bytes were at `memory`.
  draw::Canvas at(std::uint8_t* memory) const;

  std::vector<std::uint8_t> bytes;

 private:
  struct Plane {
    std::ptrdiff_t offset, stride;
  };
  const PictureFormat* format_;
  int width_, height_;
  std::uint64_t seed_;
  std::vector<Plane> planes_;
};

/// Copies so many bytes to where the painter reads, aligned to 16 bytes.
using Upload = std::function<const void*(const void*, std::size_t)>;

/// DeviceBoxes on the host.
struct PaintedBoxes {
  std::vector<float> boxes, scores;
  std::vector<std::int32_t> classes, labels;
  std::vector<std::uint32_t> members;
  bool with_members = false, with_labels = false;
  std::uint32_t count = 0, capacity = 0;
  draw::Placement placement;
  Calibration calibration;

  draw::DeviceBoxes on_device(const Upload& upload) const;
  std::vector<draw::Detection> detections(std::span<const char* const> names) const;
};

struct PaintedScene {
  draw::Style style;
  PaintedBoxes candidates, survivors;
  std::vector<std::string> words;
  std::vector<const char*> names;  ///< into words; some are null
  std::uint32_t shown_candidates = 0, shown_survivors = 0;
  bool with_survivors = false;

  PaintedScene() = default;
  PaintedScene(const PaintedScene&) = delete;
  PaintedScene(PaintedScene&&) = default;

  draw::DeviceSummary summary_on_device(const Upload& upload) const;
  /// What the host paints.
  void paint(const draw::Canvas& canvas) const;
};

/// Boxes everywhere and of every kind, in a random style.
PaintedScene strange_scene(int width, int height, std::uint32_t candidates, std::uint32_t survivors,
                           std::uint64_t seed);
/// People in a street: candidates in clusters around the survivors.
PaintedScene street_scene(int width, int height, std::uint32_t candidates, std::uint32_t survivors, std::uint64_t seed);

/// "" or where two pictures differ first.
std::string difference(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> got);

}  // namespace crowd::test
