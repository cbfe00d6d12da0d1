// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "exact_ratios.hpp"

#include <cmath>
#include <limits>
#include <sstream>

namespace crowd::test {

namespace {

/// The extent of `pixels` pixels, the last of them inclusive if `offset` is 1.
CrowdNmsBox box_of(float x, float y, float width, float height, float offset) {
  return {x, y, x + width - offset, y + height - offset};
}

/// The pixel offset that a method without a rule to set computes with.
float own_offset(CrowdNmsMethod method) {
  return reads(method, CROWD_NMS_READS_RULE) ? 0 : 1;
}

/// For every tenth two pairs: a box in one of its width, whose ratio is that over the union and over the larger, and
/// two boxes of one size, whose ratio is that over either. All numbers are exact. The offset of metrics other than the
/// paper's is 0.
Boxes tenths(float offset) {
  // The paper takes a box of one pixel's width for an empty one: none is.
  constexpr float scales[] = {2, 3, 5, 8};
  Boxes set;
  float x = 64;
  for (int tenth = 1; tenth <= 9; ++tenth) {
    for (const float s : scales) {
      const auto t = static_cast<float>(tenth);
      const bool small_first = set.size() / 4 % 2;
      const float better = 0.75f + 0.001f * t;
      const CrowdNmsBox large = box_of(x, 32, 10 * s, s, offset);
      set.add(large, small_first ? 0.25f : better, 1);
      set.add(box_of(x, 32, t * s, s, offset), small_first ? better : 0.25f, 1);
      set.add(box_of(x, 960, 10 * s, 3 * s, offset), better, 2);
      set.add(box_of(x + (10 - t) * s, 960, 10 * s, 3 * s, offset), 0.5f, 2);
      x += 256;
    }
  }
  return set;
}

constexpr CrowdNmsBox giant = {0, 0, 1e20f, 1e10f};
constexpr CrowdNmsBox speck = {0, 0, 1e-5f, 1e-5f};

/// A speck in a giant: their ratio is a subnormal float.
Boxes subnormal() {
  Boxes set;
  set.add(giant, 0.9f);
  set.add(speck, 0.8f);
  return set;
}

double subnormal_ratio() {
  return speck.x2 * speck.y2 / (giant.x2 * giant.y2);
}

/// Beside the number, and the float next to it.
void add_neighbours(double threshold, std::vector<double>& to) {
  const double nearest = static_cast<float>(threshold);
  for (const double t : {std::nextafter(threshold, 0.0), std::nextafter(threshold, 1.0), nearest,
                         std::nextafter(nearest, 0.0), std::nextafter(nearest, 1.0)})
    to.push_back(t);
}

void run(const char* name, CrowdNmsMethod method, const Boxes& set, const std::vector<double>& thresholds,
         const std::function<void(const Case&)>& body) {
  const std::uint32_t metrics = metric_count();
  const std::uint32_t variants = reads(method, CROWD_NMS_READS_RULE) ? 2 * metrics : 1;
  for (const double threshold : thresholds) {
    for (std::uint32_t variant = 0; variant < variants; ++variant) {
      std::ostringstream text;
      text.precision(std::numeric_limits<double>::max_digits10);
      text << name << " at " << threshold;
      Case it{
          .name = text.str(), .params = default_params(), .batch = Batch::of(set), .wanted = {set.size(), true, true}};
      it.params.method = method;
      it.params.metric = static_cast<CrowdNmsMetric>(variant % metrics);
      it.params.comparator = variant / metrics ? CROWD_NMS_GREATER_EQUAL : CROWD_NMS_GREATER;
      it.params.overlap_threshold = threshold;
      body(it);
    }
  }
}

}  // namespace

void for_each_exact_ratio(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  std::vector<double> thresholds = {0, 1};
  for (int tenth = 1; tenth <= 9; ++tenth)
    thresholds.push_back(tenth / 10.0);
  run("tenths", method, tenths(own_offset(method)), thresholds, body);
  run("subnormal", method, subnormal(), {0, subnormal_ratio()}, body);
}

void for_each_near_ratio(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  std::vector<double> thresholds = {std::nextafter(1.0, 0.0)};
  for (int tenth = 1; tenth <= 9; ++tenth)
    add_neighbours(tenth / 10.0, thresholds);
  run("tenths", method, tenths(own_offset(method)), thresholds, body);
  std::vector<double> tiny = {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-45, 1e-38};
  add_neighbours(subnormal_ratio(), tiny);
  run("subnormal", method, subnormal(), tiny, body);
}

}  // namespace crowd::test
