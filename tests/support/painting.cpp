// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "painting.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "boxes.hpp"
#include "overlay/draw/text.hpp"

namespace crowd::test {

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <typename T, std::size_t n>
const T& one_of(Dice& dice, const T (&all)[n]) {
  return all[dice.below(n)];
}

int samples(int pixels, int shift) {
  return (pixels + (1 << shift) - 1) >> shift;
}

float around(Dice& dice, int extent) {
  return static_cast<float>(dice.below(8 * static_cast<std::uint32_t>(extent) + 64)) / 4 -
         static_cast<float>(extent / 2 + 8);
}

void add_strange_box(Dice& dice, int width, int height, std::vector<float>& boxes) {
  constexpr float odd[] = {nan, infinity, -infinity, 3e38F, -3e38F, 1e9F, -1e9F, 0.0F, -0.0F, 0.5F};
  const float x = around(dice, width), y = around(dice, height);
  float box[] = {x, y, x + around(dice, width), y + around(dice, height)};
  if (dice.below(3)) {
    box[2] = x + static_cast<float>(dice.below(300)) / 7;
    box[3] = y + static_cast<float>(dice.below(400)) / 7;
  }
  if (dice.below(8) == 0)
    box[dice.below(4)] = one_of(dice, odd);
  boxes.insert(boxes.end(), box, box + 4);
}

float strange_score(Dice& dice) {
  constexpr float odd[] = {nan, infinity, -infinity, 3e38F, -3e38F, -0.001F, -0.0F, 0.125F, 0.375F, 999999.5F, 12.995F};
  return dice.below(3) ? static_cast<float>(dice.below(1001)) / 1000 : one_of(dice, odd);
}

PaintedBoxes strange_boxes(Dice& dice, int width, int height, std::uint32_t capacity) {
  PaintedBoxes all;
  all.capacity = capacity;
  all.count = dice.below(4) ? capacity : dice.below(2) ? capacity + 1 + dice.below(1000) : dice.below(capacity + 1);
  all.with_members = dice.below(4) > 0;
  all.with_labels = dice.below(2) > 0;
  constexpr draw::Placement placements[] = {{},
                                            {},
                                            {0.37F, 0, 0, 0, 1.7F, 0},         // scaled
                                            {1, 0, -7.25F, 0, 0.75F, 11},      // cropped, between borders
                                            {-1, 0, 64, 0, 1, 0},              // mirrored
                                            {0, -0.5F, 40, 1.25F, 0, -3.5F}};  // turned
  all.placement = one_of(dice, placements);
  constexpr Calibration calibrations[] = {{}, {}, {2.5F, -1}, {-0.7F, 0.2F}, {1e30F, 0}, {infinity, 1}};
  all.calibration = one_of(dice, calibrations);
  for (std::uint32_t i = 0; i < capacity; i++) {
    add_strange_box(dice, width, height, all.boxes);
    all.scores.push_back(strange_score(dice));
    all.classes.push_back(static_cast<std::int32_t>(dice.below(24)) - 6);
    all.labels.push_back(static_cast<std::int32_t>(dice.below(15)) - 2);
    all.members.push_back(dice.below(3) ? dice.below(30) : ~dice.below(9));
  }
  return all;
}

draw::Style strange_style(Dice& dice) {
  constexpr std::uint32_t colors[] = {0, 0, 0xffffb300, 0xff000000, 0x01ffffff, 0xff1234cd};
  constexpr int thicknesses[] = {0, 1, 2, 5, 64};
  constexpr int scales[] = {0, 1, 1, 2, 3, 7, 32};
  draw::Style style;
  style.color = one_of(dice, colors);
  style.candidate_color = one_of(dice, colors);
  style.thickness = one_of(dice, thicknesses);
  style.candidate_thickness = std::max(1, one_of(dice, thicknesses));
  style.font_scale = one_of(dice, scales);
  style.labels = dice.below(4) > 0;
  style.scores = dice.below(4) > 0;
  style.counts = dice.below(4) > 0;
  style.summary = dice.below(3) == 0;
  return style;
}

void set_names(PaintedScene& scene, std::vector<std::string> words) {
  scene.words = std::move(words);
  for (const std::string& word : scene.words)
    scene.names.push_back(word == "null" ? nullptr : word.c_str());
}

}  // namespace

std::span<const PictureFormat> picture_formats() {
  static const std::vector<PictureFormat> all = {
      {"NV12", false, 1, {{0, 0, 1, 0, 0}, {1, 0, 2, 1, 1}, {1, 1, 2, 1, 1}}},
      {"RGBA", true, 4, {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 3, 4, 0, 0}}},
      {"ABGR", true, 4, {{0, 3, 4, 0, 0}, {0, 2, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 0, 4, 0, 0}}},
      {"BGRx", true, 3, {{0, 2, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 0, 4, 0, 0}}},
      {"RGB", true, 3, {{0, 0, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 2, 3, 0, 0}}},
      {"I420", false, 1, {{0, 0, 1, 0, 0}, {1, 0, 1, 1, 1}, {2, 0, 1, 1, 1}}},
      {"Y42B", false, 1, {{0, 0, 1, 0, 0}, {1, 0, 1, 1, 0}, {2, 0, 1, 1, 0}}},
      {"YUY2", false, 1, {{0, 0, 2, 0, 0}, {0, 1, 4, 1, 0}, {0, 3, 4, 1, 0}}},
      {"Y444", false, 1, {{0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {2, 0, 1, 0, 0}}},
      {"GRAY8", false, 1, {{0, 0, 1, 0, 0}}},
  };
  return all;
}

std::vector<std::string> picture_format_names() {
  std::vector<std::string> names;
  for (const PictureFormat& format : picture_formats())
    names.emplace_back(format.name);
  return names;
}

const PictureFormat& picture_format(const std::string& name) {
  for (const PictureFormat& format : picture_formats())
    if (format.name == name)
      return format;
  throw std::invalid_argument(name);
}

Picture::Picture(const PictureFormat& format, int width, int height, bool aligned, std::uint64_t seed)
    : format_(&format), width_(width), height_(height), seed_(seed) {
  std::ptrdiff_t end = aligned ? 256 : 13;
  for (int plane = 0; plane <= format.components.back().plane; plane++) {
    std::ptrdiff_t row = 0, rows = 0;
    for (const auto& component : format.components)
      if (component.plane == plane) {
        row = std::max<std::ptrdiff_t>(row, samples(width, component.shift_x) * component.advance + component.offset);
        rows = std::max<std::ptrdiff_t>(rows, samples(height, component.shift_y));
      }
    const std::ptrdiff_t stride = aligned ? (row + 127) / 64 * 64 : row + 6;
    planes_.push_back({end, stride});
    end += aligned ? (stride * rows + 319) / 256 * 256 : stride * rows + 17;
  }
  Dice dice(seed);
  bytes.resize(static_cast<std::size_t>(end));
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(dice.bits() >> 40);
}

draw::Canvas Picture::at(std::uint8_t* memory) const {
  constexpr draw::ColourSpace spaces[] = {
      {false, false, 2990, 1140}, {false, false, 2126, 722}, {false, true, 2627, 593}};
  draw::Canvas canvas{};
  canvas.width = width_;
  canvas.height = height_;
  canvas.components = static_cast<int>(format_->components.size());
  canvas.glyph_components = format_->glyph_components;
  canvas.colours = spaces[seed_ % 3];
  canvas.colours.rgb = format_->rgb;
  for (std::size_t i = 0; i < format_->components.size(); i++) {
    const auto& place = format_->components[i];
    const Plane& plane = planes_[static_cast<std::size_t>(place.plane)];
    canvas.component[i] = {memory + plane.offset + place.offset, plane.stride, place.advance, place.shift_x,
                           place.shift_y};
  }
  return canvas;
}

draw::DeviceBoxes PaintedBoxes::on_device(const Upload& upload) const {
  const auto put = [&upload]<typename T>(const std::vector<T>& all) {
    return static_cast<const T*>(upload(all.data(), all.size() * sizeof(T)));
  };
  return {put(boxes),
          put(scores),
          put(classes),
          with_members ? put(members) : nullptr,
          with_labels ? put(labels) : nullptr,
          put(std::vector{count}),
          capacity,
          placement,
          calibration};
}

std::vector<draw::Detection> PaintedBoxes::detections(std::span<const char* const> names) const {
  std::vector<draw::Detection> all;
  for (std::size_t i = 0; i < std::min(count, capacity); i++) {
    const std::int32_t label = with_labels ? labels[i] : classes[i];
    const bool named = label >= 0 && static_cast<std::size_t>(label) < names.size();
    const float* box = &boxes[4 * i];
    const draw::PlacedBox at = draw::place(placement, box[0], box[1], box[2], box[3]);
    all.push_back({at.x1, at.y1, at.x2, at.y2, draw::shown_score(scores[i], calibration), classes[i],
                   with_members ? members[i] : 0, named ? names[static_cast<std::size_t>(label)] : nullptr});
  }
  return all;
}

draw::DeviceSummary PaintedScene::summary_on_device(const Upload& upload) const {
  const auto put = [&upload](const std::uint32_t& number) {
    return static_cast<const std::uint32_t*>(upload(&number, sizeof number));
  };
  return {put(shown_candidates), with_survivors ? put(shown_survivors) : nullptr};
}

void PaintedScene::paint(const draw::Canvas& canvas) const {
  draw::Summary summary{shown_candidates, {}};
  if (with_survivors)
    summary.survivors = shown_survivors;
  draw::Composer composer;
  draw::paint(canvas, composer.build(canvas.width, canvas.height, style, candidates.detections(names),
                                     survivors.detections(names), summary));
}

PaintedScene strange_scene(int width, int height, std::uint32_t candidates, std::uint32_t survivors,
                           std::uint64_t seed) {
  Dice dice(seed);
  PaintedScene scene;
  scene.style = strange_style(dice);
  scene.candidates = strange_boxes(dice, width, height, candidates);
  scene.survivors = strange_boxes(dice, width, height, survivors);
  if (dice.below(4))
    set_names(scene, {"person", "", "null",
                      "stra\xc3\x9f"
                      "e\xe2\x82\xac\x01",
                      std::string(255, 'w'), std::string(700, 'q'), "g_|", "\xff\xc3", "Żółć Ĳ", "\xe0\x80\xafΆνθρωπος",
                      "человек\xf0\x9f\x98"});
  scene.shown_candidates = dice.below(2) ? dice.below(5000) : ~0U;
  scene.shown_survivors = dice.below(2) ? dice.below(500) : ~0U;
  scene.with_survivors = dice.below(3) > 0;
  return scene;
}

PaintedScene street_scene(int width, int height, std::uint32_t candidates, std::uint32_t survivors,
                          std::uint64_t seed) {
  Dice dice(seed);
  PaintedScene scene;
  const auto pick = [&dice](float low, float high) {
    return low + (high - low) * static_cast<float>(dice.below(1U << 20)) / (1U << 20);
  };
  const auto add = [&](PaintedBoxes& all, float x, float y, float w) {
    all.boxes.insert(all.boxes.end(), {x, y, x + w, y + 2.5F * w});
    all.scores.push_back(pick(0.3F, 1));
    all.classes.push_back(static_cast<std::int32_t>(dice.below(3)));
    all.labels.push_back(all.classes.back());
    all.members.push_back(1 + dice.below(40));
    all.capacity = ++all.count;
  };
  scene.survivors.with_members = true;
  const auto w = static_cast<float>(width), h = static_cast<float>(height);
  for (std::uint32_t i = 0; i < survivors; i++)
    add(scene.survivors, pick(-10, w), pick(-10, h), pick(w / 100, w / 25));
  for (std::uint32_t i = 0; i < candidates; i++) {
    const std::size_t near = 4 * static_cast<std::size_t>(dice.below(std::max(survivors, 1U)));
    const float* box = survivors ? &scene.survivors.boxes[near] : nullptr;
    add(scene.candidates, (box ? box[0] : pick(0, w)) + pick(-9, 9), (box ? box[1] : pick(0, h)) + pick(-9, 9),
        pick(w / 100, w / 25));
  }
  set_names(scene, {"person", "face", "bicycle"});
  scene.style.summary = true;
  scene.shown_candidates = candidates;
  scene.shown_survivors = survivors;
  scene.with_survivors = true;
  return scene;
}

std::string difference(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> got) {
  if (expected.size() != got.size())
    return "sizes";
  const auto at = std::ranges::mismatch(expected, got);
  if (at.in1 == expected.end())
    return "";
  return "byte " + std::to_string(at.in1 - expected.begin()) + " of " + std::to_string(expected.size()) + " is " +
         std::to_string(*at.in2) + ", not " + std::to_string(*at.in1);
}

}  // namespace crowd::test
