// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Crowds: frames of which a few candidates decide most others, and batches of such frames.

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "hard_boxes.hpp"

namespace crowd::test {

namespace {

/// Frames one behind the other, each of which fills the capacity.
Batch joined(std::span<const Boxes> frames) {
  Batch batch;
  batch.frames = static_cast<std::uint32_t>(frames.size());
  batch.capacity = frames[0].size();
  for (const Boxes& frame : frames)
    for (std::uint32_t i = 0; i < batch.capacity; ++i)
      batch.all.add(frame.boxes[i], frame.scores[i], frame.classes[i]);
  return batch;
}

/// Of n candidates, most in one spot: 144 small ones suppress a large one above an IoU of 0.005, and are suppressed,
/// each by a smaller one. Another survivor suppresses the large one, which would suppress a second.
Boxes dense_with_full_lists(std::uint32_t n, Dice& dice) {
  Boxes frame;
  const auto add = [&](float x, float y, float size, float score) {
    frame.add({x, y, x + size, y + size}, score + 0.01f * dice.unit());
  };
  for (unsigned k = 0; k < 144; ++k) {
    const float x = 1002 + 16 * static_cast<float>(k % 12), y = 2 + 16 * static_cast<float>(k / 12);
    add(x, y, 15, 0.9f);
    add(x + 1, y + 1, 12, 0.95f);
  }
  add(1000, 193, 40, 0.8f);
  add(1000, 0, 200, 0.7f);
  add(1185, 0, 200, 0.6f);
  while (frame.size() < n)
    frame.add({0, 0, 50, 50}, 0.5f * dice.unit());
  return frame;
}

/// Of n candidates, most in one spot; the others in groups that none of the best suppresses. A group's first suppresses
/// all but the last two: these overlap each other, and the last one all those that are suppressed. So only the last but
/// one, which ranks behind those, suppresses the last.
Boxes dense_and_groups(std::uint32_t n, Dice& dice) {
  constexpr std::uint32_t sizes[] = {98, 98, 220};
  Boxes frame;
  const auto add = [&](std::size_t group, float shift, float score) {
    const float x = 1000 * static_cast<float>(group + 1) + shift;
    frame.add({x, 0, x + 60, 60}, score);
  };
  for (std::size_t group = 0; group < std::size(sizes); ++group) {
    add(group, 0, 0.4f);
    for (std::uint32_t k = 3; k < sizes[group]; ++k)
      add(group, 15, 0.2f + 0.1f * dice.unit());
    add(group, 45, 0.1f);
    add(group, 30, 0.05f);
  }
  while (frame.size() < n)
    frame.add({0, 0, 50, 50}, 0.5f + 0.5f * dice.unit());
  return frame;
}

constexpr std::uint32_t crowd_size = 1500;

using Check = std::function<void(const std::string& name, Batch batch, double threshold,
                                 const std::function<void(CrowdNmsParams&)>& change)>;

void as_it_is(CrowdNmsParams&) {}

void of_one_class(CrowdNmsParams& params) {
  params.class_agnostic = 1;
}

void check_thresholds(const Check& check, const std::string& kind, const Boxes& frame,
                      std::initializer_list<double> thresholds) {
  check(kind + "of classes", Batch::of(frame), 0.5, as_it_is);
  for (const double threshold : thresholds)
    check(kind + "above " + std::to_string(threshold), Batch::of(frame), threshold, of_one_class);
}

void check_crowds(const Check& check, Dice& dice) {
  constexpr std::uint32_t n = crowd_size;
  const Boxes usual = crowd(n, 20, 1920, 1080, 1);
  check_thresholds(check, "", usual, {0.05, 0.3, 0.8});
  Boxes changed = usual;
  for (float& score : changed.scores)
    score = std::round(score * 16) / 16;
  check("scores in steps", Batch::of(changed), 0.5, as_it_is);
  changed = usual;
  for (float& score : changed.scores)
    score = std::log(score);
  check("scores below zero", Batch::of(changed), 0.5,
        [](CrowdNmsParams& params) { params.score_threshold = -std::numeric_limits<float>::infinity(); });
  check("all overlap", Batch::of(usual), 0,
        [](CrowdNmsParams& params) { params.comparator = CROWD_NMS_GREATER_EQUAL; });
  Boxes spots;
  for (const std::uint32_t clusters : {1u, 80u}) {
    spots = {};
    for (std::uint32_t i = 0; i < n; ++i) {
      const float x = 100 * static_cast<float>(i % clusters);
      spots.add({x, 0, x + 50, 50}, dice.unit());
    }
    check(std::to_string(clusters) + " spots of equal boxes", Batch::of(spots), 0.5, as_it_is);
  }
  // More clusters than a frame of this capacity may have peaks.
  constexpr std::uint32_t pairs = 150, each = 22;
  spots = {};
  for (std::uint32_t i = 0; i < pairs * each; ++i) {
    const float x = 100 * static_cast<float>(i % pairs);
    spots.add({x, 0, x + 50, 50}, i < pairs ? 1 + dice.unit() : dice.unit());
  }
  check("more spots than peaks", Batch::of(spots), 0.5, as_it_is);
  check_thresholds(check, "of many clusters, ", crowd(2 * n, 700, 3840, 2160, 15), {0.2, 0.5});
  const Boxes three[] = {usual, distribution("uniform").make(n, 2), crowd(n, 10, 900, 900, 3)};
  Batch batch = joined(three);
  batch.counts = {n, n, 700};
  check("one of three frames", std::move(batch), 0.5, as_it_is);
}

/// The best are decided, what is left of them is listed.
void check_dense_crowds(const Check& check, Dice& dice) {
  constexpr std::uint32_t n = crowd_size;
  check_thresholds(check, "dense, ", crowd(n, 5, 1920, 1080, 5), {0.3, 0.65, 0.8});
  Boxes one_spot, half_in_a_spot;
  for (std::uint32_t i = 0; i < 2 * n; ++i) {
    const float x = i % 2 ? 100 * static_cast<float>(i) : 0;
    one_spot.add({0, 0, 50, 50}, dice.unit());
    half_in_a_spot.add({x, 0, x + 50, 50}, dice.unit());
  }
  check("dense, more suppressors than a list holds", Batch::of(one_spot), 0.5, as_it_is);
  check("dense, more left than fit", Batch::of(half_in_a_spot), 0.5, as_it_is);
  // Three are too many for 16 lanes a candidate: then more are left than there are warps.
  const Boxes groups = dense_and_groups(2 * n, dice);
  const Boxes thrice[] = {groups, groups, groups};
  check("dense, and groups", Batch::of(groups), 0.5, as_it_is);
  check("dense, and groups, more left than warps", joined(thrice), 0.5, as_it_is);
  check("dense, survivors behind full lists", Batch::of(dense_with_full_lists(4 * n, dice)), 0.005, as_it_is);
  Boxes of_many_classes;
  for (std::uint32_t i = 0; i < 3 * n; ++i)
    of_many_classes.add({0, 0, 50, 50}, dice.unit(), static_cast<std::int32_t>(i % 80));
  check("dense, of many classes in one spot", Batch::of(of_many_classes), 0.5, as_it_is);
  // Pairs beside the spot: more than 4096 are left, more than 256 of them peaks.
  Boxes many_left;
  for (std::uint32_t i = 0; i < 16 * n; ++i) {
    const bool in_spot = i % 9 > 1;
    const float x = in_spot ? 0 : static_cast<float>(i / 9 % 50 * 100 + i % 9 * 10);
    const float y = in_spot ? 0 : static_cast<float>(i / 450 * 100 + 100);
    many_left.add({x, y, x + 50, y + 50}, dice.unit());
  }
  check("dense, many left", Batch::of(many_left), 0.5, as_it_is);
  check("dense, in a row", Batch::of(ladder(n, 60)), 0.5, as_it_is);
  check("dense, larger", Batch::of(crowd(4500, 12, 1920, 1080, 8)), 0.7, as_it_is);
}

}  // namespace

void for_each_case_of_crowds(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  const Check check = [&](const std::string& name, Batch batch, double threshold, const auto& change) {
    Case it{"crowd, " + name, default_params(), std::move(batch), {}};
    it.wanted = {it.batch.capacity, true, true};
    it.params.method = method;
    it.params.overlap_threshold = threshold;
    change(it.params);
    body(it);
  };
  Dice dice(crowd_size);
  check_crowds(check, dice);
  check_dense_crowds(check, dice);
  // Of a frame with room, which the direct path leaves to the stages.
  Batch batch = Batch::of(crowd(4200, 40, 1920, 1080, 4));
  batch.offsets = {0};
  batch.counts = {4200};
  batch.capacity = 4300;
  check("with room", std::move(batch), 0.5, as_it_is);
}

namespace {

/// Some candidates that are not valid, all over the frame.
Boxes with_rejected(Boxes frame) {
  for (std::uint32_t i = 0; i < frame.size(); i += 7)
    frame.boxes[i].x2 = frame.boxes[i].x1 - 1;
  for (std::uint32_t i = 3; i < frame.size(); i += 11)
    frame.scores[i] = i % 2 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
  return frame;
}

Boxes with_scores(Boxes frame, float (*change)(float)) {
  std::transform(frame.scores.begin(), frame.scores.end(), frame.scores.begin(), change);
  return frame;
}

/// A crowd, of which few are left once the best are decided, between as many boxes that do not overlap.
Boxes crowd_and_grid(std::uint32_t n) {
  const Boxes dense = crowd(n / 2, 5, 1920, 1080, 11), grid = distribution("disjoint_grid").make(n - n / 2, 12);
  Boxes both;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Boxes& from = i % 2 ? dense : grid;
    const CrowdNmsBox& b = from.boxes[i / 2];
    const float away = i % 2 ? 0 : 1e4F;
    both.add({b.x1 + away, b.y1, b.x2 + away, b.y2}, from.scores[i / 2], from.classes[i / 2]);
  }
  return both;
}

/// A crowd and boxes that do not overlap, which rank behind some 90 of it and before the others: the best are these,
/// and those of both halves survive.
Boxes crowd_around_grid(std::uint32_t n) {
  Boxes frame = crowd(n, 20, 1920, 1080, 13);
  const Boxes grid = distribution("disjoint_grid").make(n, 14);
  for (std::uint32_t i = 0; i < n; ++i)
    if (i % 7 == 0) {
      const CrowdNmsBox& b = grid.boxes[i];
      frame.boxes[i] = {b.x1 + 1e4F, b.y1, b.x2 + 1e4F, b.y2};
      frame.scores[i] = 0.8F + frame.scores[i] / 10;
    } else {
      frame.scores[i] = i % 40 == 1 ? 0.9F + frame.scores[i] / 10 : frame.scores[i] * 0.8F;
    }
  return frame;
}

}  // namespace

void for_each_batch_of_crowds(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t n = 4300;
  const Boxes usual = crowd(n, 40, 1920, 1080, 1);
  const auto in_steps = [](float score) { return std::round(score * 16) / 16; };
  const auto alike = [](float) { return 0.5F; };
  const std::vector<Boxes> frames = {usual,
                                     distribution("uniform").make(n, 2),
                                     with_rejected(crowd(n, 30, 1920, 1080, 3)),
                                     with_scores(crowd(n, 30, 1920, 1080, 4), in_steps),
                                     with_scores(crowd(n, 20, 1920, 1080, 5), alike),
                                     crowd_and_grid(n),
                                     crowd(n, 1, 1920, 1080, 6),
                                     crowd(n, 25, 1920, 1080, 7),
                                     crowd_around_grid(n),
                                     crowd(n, 10, 1920, 1080, 9),
                                     crowd(n, 60, 1920, 1080, 10)};
  const auto check = [&](const std::string& name, Batch batch, std::uint32_t max_survivors, auto change,
                         bool all_outputs = false) {
    Case it{"crowds, " + name, default_params(), std::move(batch), {max_survivors, all_outputs, all_outputs}};
    it.params.method = method;
    change(it.params);
    body(it);
  };
  check("of classes", joined(frames), n, as_it_is);
  Batch counted = joined(frames);
  counted.counts = {n, 4200, 4250, n, 1025, 4000, 1024, 900, 0, 1, 5000};
  check(
      "counted", counted, n, [](CrowdNmsParams& params) { params.class_agnostic = 1; }, true);
  Batch placed = joined(frames);
  for (std::uint32_t f = 0; f < placed.frames; ++f)
    placed.offsets.push_back((placed.frames - 1 - f) * n);
  check("in another order, with room for few", std::move(placed), 30, [](CrowdNmsParams& params) {
    params.class_agnostic = 1;
    params.overlap_threshold = 0.3;
    params.score_threshold = 0.2F;
    params.pixel_offset = 1;
  });
  std::vector<Boxes> smaller;
  for (std::uint32_t f = 0; f < 22; ++f)
    smaller.push_back(crowd(3000, 10 + 6 * f, 1920, 1080, 20 + f));
  check("many of up to 4096", joined(smaller), 3000, as_it_is, true);
  counted.with_classes = false;
  check("above all but all", std::move(counted), n, [](CrowdNmsParams& params) {
    params.overlap_threshold = 0.8;
    params.comparator = CROWD_NMS_GREATER_EQUAL;
    params.score_threshold = -std::numeric_limits<float>::infinity();
  });
}

}  // namespace crowd::test
