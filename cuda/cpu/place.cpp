// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/place.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>

#include "core/order.hpp"
#include "cpu/sort.hpp"
#include "cpu/split.hpp"
#include "cpu/tuning.hpp"

namespace crowd::cpu {

namespace {

// A range that most centres lie in, cut into 2^bits parts.
class Axis {
 public:
  Axis(std::span<float> samples, std::uint32_t bits) : last_(static_cast<float>((1u << bits) - 1)) {
    std::sort(samples.begin(), samples.end());
    const float low = samples[samples.size() / 16];
    const float high = samples[samples.size() - 1 - samples.size() / 16];
    const float margin = 0.125f * (high - low);
    low_ = low - margin;
    const float range = high - low + 2 * margin;
    scale_ = range > 0 ? (last_ + 1) / range : 0;
  }

  // Coordinates outside the range go to an end; so does NaN, from infinity times 0.
  std::uint32_t part(float centre) const {
    const float part = (centre - low_) * scale_;
    return part > 0 ? static_cast<std::uint32_t>(part < last_ ? part : last_) : 0;
  }

 private:
  float low_;
  float scale_;
  float last_;
};

float centre_x(const CrowdNmsBox& box) {
  return 0.5f * box.x1 + 0.5f * box.x2;
}

float centre_y(const CrowdNmsBox& box) {
  return 0.5f * box.y1 + 0.5f * box.y2;
}

// abc... becomes a0b0c0...
std::uint32_t spread(std::uint32_t bits) {
  bits = (bits | bits << 8) & 0x00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f;
  bits = (bits | bits << 2) & 0x33333333;
  return (bits | bits << 1) & 0x55555555;
}

// Adds to the cells of the valid candidates, which are at `cells`, where each is among all centres along an axis: a
// place in their order, so that it makes no difference how far apart they are.
template <typename Centre>
void add_places(const Scratch& scratch, std::uint32_t count, std::uint32_t* cells, std::uint32_t axis, Centre centre) {
  for (std::uint32_t k = 0; k < count; ++k)
    scratch.keys[k] = std::uint64_t{number_key(centre(scratch.by_rank[k]))} << 32 | k;
  const std::uint64_t* const sorted = sort(scratch.keys, scratch.spare, count, 32);
  std::uint32_t place = 0;
  for (std::uint32_t r = 0; r < count; ++r) {
    if (r && sorted[r] >> 32 != sorted[r - 1] >> 32)
      place = static_cast<std::uint32_t>((std::uint64_t{r} << 16) / count);
    cells[static_cast<std::uint32_t>(sorted[r])] |= spread(place) << axis;
  }
}

// Sorts Scratch::index, in which are places in Scratch::by_rank, by keys of `bits` bits; equal ones stay in order.
template <typename Key>
void sort_by(const Scratch& scratch, std::uint32_t count, std::uint32_t bits, Key key) {
  for (std::uint32_t slot = 0; slot < count; ++slot)
    scratch.keys[slot] = std::uint64_t{key(scratch.index[slot])} << 32 | slot;
  const std::uint64_t* const sorted = sort(scratch.keys, scratch.spare, count, bits);
  for (std::uint32_t slot = 0; slot < count; ++slot)
    scratch.of[slot] = scratch.index[static_cast<std::uint32_t>(sorted[slot])];
  std::copy_n(scratch.of, count, scratch.index);
}

}  // namespace

void order_by_place(const Frame& frame, const Scratch& scratch, std::uint32_t count) {
  const std::uint32_t* const valid = scratch.by_rank;
  const std::uint32_t bits = std::clamp<std::uint32_t>(std::bit_width(count) / 2, 2, 11);
  std::array<float, tuning::centre_samples> xs;
  std::array<float, tuning::centre_samples> ys;
  const std::size_t samples = std::min<std::size_t>(xs.size(), count);
  for (std::size_t s = 0; s < samples; ++s) {
    const CrowdNmsBox& box = frame.boxes[valid[s * count / samples]];
    xs[s] = centre_x(box);
    ys[s] = centre_y(box);
  }
  const Axis across({xs.data(), samples}, bits);
  const Axis down({ys.data(), samples}, bits);
  for (std::uint32_t k = 0; k < count; ++k) {
    const CrowdNmsBox& box = frame.boxes[valid[k]];
    const std::uint32_t cell = spread(across.part(centre_x(box))) | spread(down.part(centre_y(box))) << 1;
    scratch.keys[k] = std::uint64_t{cell} << 32 | valid[k];
  }
  const std::uint64_t* const sorted = sort(scratch.keys, scratch.spare, count, 2 * bits);
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const auto i = static_cast<std::uint32_t>(sorted[slot]);
    scratch.index[slot] = i;
    scratch.of[i] = slot;
  }
}

void order_by_kind(const Frame& frame, const Scratch& scratch, std::uint32_t count, const OverlapRule& rule) {
  const std::uint32_t* const valid = scratch.by_rank;
  std::uint32_t* const cells = scratch.survivors;
  std::fill_n(cells, count, 0u);
  add_places(scratch, count, cells, 0, [&](std::uint32_t i) { return centre_x(frame.boxes[i]); });
  add_places(scratch, count, cells, 1, [&](std::uint32_t i) { return centre_y(frame.boxes[i]); });
  std::iota(scratch.index, scratch.index + count, 0u);
  sort_by(scratch, count, 32, [&](std::uint32_t k) { return cells[k]; });
  sort_by(scratch, count, 16, [&](std::uint32_t k) { return size_class(frame.boxes[valid[k]], rule); });
  if (frame.classes)
    sort_by(scratch, count, 32,
            [&](std::uint32_t k) { return static_cast<std::uint32_t>(frame.classes[valid[k]]) ^ 0x80000000u; });
  for (std::uint32_t slot = 0; slot < count; ++slot)
    scratch.index[slot] = valid[scratch.index[slot]];
  split_by_edges(frame, scratch, count, rule);
  for (std::uint32_t slot = 0; slot < count; ++slot)
    scratch.of[scratch.index[slot]] = slot;
}

}  // namespace crowd::cpu
