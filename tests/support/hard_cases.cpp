// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cases that one part of a backend was made for, or that were found to be hard for it.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "hard_boxes.hpp"

namespace crowd::test {

void for_each_hard_case(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t n = 1200;
  constexpr double thresholds[] = {0.3, 0, 1e-6, 0.02, 0.7, 0.99, 1};
  std::uint64_t seed = 30000;
  for (const Distribution& from : hard_distributions()) {
    for (std::uint32_t variant = 0; variant < std::size(thresholds) * metric_count(); ++variant) {
      ++seed;
      Case it{.name = std::string(from.name) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed),
              .params = default_params(),
              .batch = Batch::of(from.make(n, seed)),
              .wanted = {.max_survivors = n}};
      it.params.method = method;
      it.params.metric = static_cast<CrowdNmsMetric>(variant % metric_count());
      it.params.overlap_threshold = thresholds[variant / metric_count()];
      it.params.comparator = seed % 3 ? CROWD_NMS_GREATER : CROWD_NMS_GREATER_EQUAL;
      it.params.pixel_offset = seed % 5 == 0;
      body(it);
    }
  }
}

void for_each_case_of_room(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t capacity = 4600;
  const std::vector<std::uint32_t> batches[] = {
      {0}, {61}, {1300}, {4096}, {4097}, {5000}, {700, 4300}, {4300, 700}, {4500, 0, 4096}, {4600, 5000}, {0, 4600}};
  std::uint32_t number = 0;
  for (const std::vector<std::uint32_t>& counts : batches) {
    const bool with_offsets = number % 2;
    Case it{.name = "room, batch " + std::to_string(number), .params = default_params(), .batch = {}, .wanted = {}};
    it.params.method = method;
    it.params.metric = number % 3 == 1 ? CROWD_NMS_DIOU : CROWD_NMS_IOU;
    it.params.class_agnostic = number % 3 == 2;
    for (const std::uint32_t count : counts) {
      const std::uint32_t held = std::min(count, capacity);
      const Boxes frame = distribution(number % 4 < 2 ? "clustered" : "tied_scores").make(held, number + held);
      if (with_offsets)
        it.batch.offsets.push_back(it.batch.all.size());
      it.batch.counts.push_back(count);
      for (std::uint32_t i = 0; i < held; ++i)
        it.batch.all.add(frame.boxes[i], frame.scores[i], frame.classes[i]);
      for (std::uint32_t i = held; i < (with_offsets ? held + 3 : capacity); ++i)
        it.batch.all.add({-1e4F, -1e4F, 1e4F, 1e4F}, 2, static_cast<std::int32_t>(i % 3));
    }
    it.batch.frames = static_cast<std::uint32_t>(counts.size());
    it.batch.capacity = capacity;
    it.wanted = {number % 4 ? capacity : 100, number % 4 < 2, number % 5 < 2};
    body(it);
    it.name += ", survivors alone";
    it.wanted = {it.wanted.max_survivors, false, false};
    if (method == CROWD_NMS_MAP_REDUCE)
      body(it);
    ++number;
  }
}

void for_each_case_of_tiny_frames(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t counts[] = {64, 0, 65, 1, 63, 33, 32, 40, 300, 64, 50, 64};
  constexpr std::uint32_t frames = std::size(counts), capacity = 2100;
  for (std::uint32_t variant = 0; variant < 12; ++variant) {
    Case it{.name = "tiny frames, " + std::to_string(variant),
            .params = default_params(),
            .batch = {},
            .wanted = {variant % 4 == 1 ? 5 : capacity, variant % 3 != 1, variant % 3 != 2}};
    it.params.method = method;
    it.params.metric = variant % 5 == 4 ? CROWD_NMS_IOS : variant % 5 == 3 ? CROWD_NMS_DIOU : CROWD_NMS_IOU;
    it.params.overlap_threshold = variant % 2 ? 0.2 : 0.5;
    it.params.class_agnostic = variant % 3 == 0;
    it.params.score_threshold = variant % 4 == 2 ? 0.3F : -std::numeric_limits<float>::infinity();
    for (std::uint32_t f = 0; f < frames; ++f) {
      Boxes frame = crowd(capacity, variant % 4 < 2 ? 3 + 2 * f : 100 + 40 * f, 640, 480, 100 * variant + f);
      for (std::uint32_t i = 0; i < capacity; ++i) {
        if (variant == 7)
          frame.scores[i] = std::round(frame.scores[i] * 4) / 4;
        if (variant == 9 && i % 6 == 0)
          frame.boxes[i].x2 = frame.boxes[i].x1 - 1;
        it.batch.all.add(frame.boxes[i], frame.scores[i], frame.classes[i]);
      }
    }
    it.batch.frames = variant % 2 || variant == 2 ? frames : 1;
    it.batch.capacity = capacity;
    it.batch.counts.assign(counts, counts + it.batch.frames);
    if (variant == 3)
      for (std::uint32_t f = 0; f < it.batch.frames; ++f)
        it.batch.offsets.push_back((it.batch.frames - 1 - f) * capacity);
    body(it);
  }
}

void for_each_case_of_few(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  for_each_case_of_tiny_frames(method, body);
  // Of which the map has blocks of 768, 544 and 1024 threads.
  constexpr std::uint32_t capacities[] = {1500, 2100, 4096};
  constexpr std::uint32_t counts[] = {1, 31, 64, 65, 400, 544, 545, 768, 769, 1000, 1024, 1025, 0};
  std::uint64_t seed = 50000;
  for (const std::uint32_t capacity : capacities)
    for (const std::span<const Distribution> kinds : {distributions(), hard_distributions()})
      for (const Distribution& from : kinds) {
        Dice dice(++seed);
        const std::uint32_t n = dice.pick(std::span<const std::uint32_t>(counts));
        Case it{.name = std::string(from.name) + " " + std::to_string(n) + " of " + std::to_string(capacity) +
                        " seed=" + std::to_string(seed),
                .params = default_params(),
                .batch = Batch::of(from.make(capacity, seed)),
                .wanted = {dice.one_in(4) ? n / 9 + 1 : capacity, dice.one_in(2), dice.one_in(2)}};
        it.params.method = method;
        it.params.metric = dice.one_in(3) ? CROWD_NMS_IOS : CROWD_NMS_IOU;
        it.params.class_agnostic = dice.one_in(2);
        it.batch.counts = {n};
        body(it);
      }
}

void for_each_case_of_survivors(std::span<const std::uint32_t> sizes, CrowdNmsMethod method,
                                const std::function<void(const Case&)>& body) {
  constexpr double thresholds[] = {0.5, 0.3, 0.75};
  constexpr float scores[] = {-std::numeric_limits<float>::infinity(), 0.25F};
  std::uint64_t seed = 40000;
  for (const std::uint32_t n : sizes)
    for (const std::span<const Distribution> kinds : {distributions(), hard_distributions()})
      for (const Distribution& from : kinds) {
        Dice dice(++seed);
        Case it{.name = std::string(from.name) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed),
                .params = default_params(),
                .batch = Batch::of(from.make(n, seed)),
                .wanted = {dice.one_in(4) ? n / 9 : n, false, false}};
        it.params.method = method;
        it.params.overlap_threshold = dice.pick(std::span<const double>(thresholds));
        it.params.score_threshold = dice.pick(std::span<const float>(scores));
        it.params.comparator = dice.one_in(2) ? CROWD_NMS_GREATER : CROWD_NMS_GREATER_EQUAL;
        it.params.pixel_offset = dice.one_in(4);
        it.params.class_agnostic = dice.one_in(2);
        // The one pass of the CUDA backend takes up to 8704 of known number, and others with room for 16384.
        if (dice.one_in(2) || n > 8704) {
          it.batch.counts = {n};
          it.batch.capacity = std::min(n + n / 2, 16384U);
        }
        body(it);
      }
}

void for_each_case_of_giants(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  for (const std::uint32_t n : {1400u, 4200u})
    for (const double threshold : {0.5, 0.1, 0.8}) {
      Dice dice(n);
      Boxes set;
      for (std::uint32_t i = 0; i < n; ++i) {
        const bool giant = dice.one_in(60);
        const float w = giant ? dice.between(0.05F, 1) * 4000 : dice.between(8, 24);
        const float h = giant ? dice.between(0.7F, 1.4F) * w : dice.between(8, 24);
        const float x = dice.between(0, 1) * (4000 - w), y = dice.between(0, 1) * (4000 - h);
        set.add({x, y, x + w, y + h}, dice.unit(), static_cast<std::int32_t>(dice.below(2)));
      }
      Case it{.name = "giants, n=" + std::to_string(n) + " above " + std::to_string(threshold),
              .params = default_params(),
              .batch = Batch::of(set),
              .wanted = {n, true, true}};
      it.params.method = method;
      it.params.overlap_threshold = threshold;
      body(it);
    }
  constexpr std::uint32_t n = 4200;
  Dice dice(n);
  Boxes set;
  while (set.size() < n) {
    // Not where boxes are sampled.
    if (set.size() == 5) {
      set.add({0, 0, 3e36F, 1}, 0.5F);
      set.add({0, 0.02F, 1.2e36F, 1.02F}, 2);
    }
    const float x = dice.between(0, 1), y = dice.between(0, 1);
    set.add({x, y, x + 0.004F, y + 0.004F}, dice.unit());
  }
  Case it{"sizes that overflow", default_params(), Batch::of(set), {n, true, true}};
  it.params.method = method;
  it.params.overlap_threshold = 0.3;
  body(it);
}

void for_each_case_of_classes(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t n = 1500;
  for (const std::uint32_t classes : {3u, 300u}) {
    Dice dice(classes);
    Boxes set;
    for (std::uint32_t i = 0; i < n; ++i) {
      const float x = dice.between(0, 40), y = dice.between(0, 30);
      const float w = dice.one_in(50) ? 4000 : dice.between(8, 12), h = dice.one_in(50) ? 4000 : dice.between(8, 12);
      // Multiples of an odd number are all different.
      set.add({x, y, x + w, y + h}, dice.unit(), static_cast<std::int32_t>(dice.below(classes) * 0x9249249bu));
    }
    for (const auto& [comparator, threshold] : {std::pair{CROWD_NMS_GREATER, 0.3}, {CROWD_NMS_GREATER_EQUAL, 0.0}}) {
      Case it{std::to_string(classes) + " classes above " + std::to_string(threshold),
              default_params(),
              Batch::of(set),
              {n, true, true}};
      it.params.method = method;
      it.params.comparator = comparator;
      it.params.overlap_threshold = threshold;
      body(it);
    }
  }
}

void for_each_case_of_nested(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  struct Nested {
    const char* name;
    float half, growth;
    bool equal_scores;
    double overlap_threshold;
    std::uint32_t apart;  ///< as many candidates more that overlap none
    CrowdNmsMetric metric = CROWD_NMS_IOU;
    std::uint32_t n = 1100;
  };
  // Of the first, sums of two areas overflow from somewhere on: those overlap none.
  constexpr Nested cases[] = {
      {"sums of areas overflow", 4e18f, 1.0007f, false, 0.5, 0},
      {"more suppressors than a list has", 50, 1.002f, false, 0.9, 600},
      {"lists without room, equal scores", 50, 1.011f, true, 0.5, 100},
      {"all in one that ranks worse, and survives", 50, 1.002f, false, 0.9, 100, CROWD_NMS_OVER_LOWER},
      {"a small frame", 50, 1.005f, false, 0.7, 5, CROWD_NMS_IOU, 250},
      {"rows with masks that wait for each other", 50, 1.0006f, true, 0.9, 0, CROWD_NMS_IOU, 800},
      {"areas from 1e-44 to 1e-25", 1e-22f, 1.02f, false, 0.5, 0}};
  for (const Nested& nested : cases) {
    const std::uint32_t n = nested.n;
    Dice dice(n);
    Boxes set;
    float half = nested.half;
    for (std::uint32_t i = 0; i < n; ++i, half *= nested.growth)
      set.add({-half, -half, half, half}, nested.equal_scores ? 0.5f : dice.unit());
    for (std::uint32_t i = 0; i < nested.apart; ++i) {
      const float x = static_cast<float>(i) * 10;
      set.add({x, -1e9f, x + 5, -1e9f + 1000}, dice.unit());
    }
    // By its own area all others are within it; by theirs none has much of it.
    set.add({-1e5f, -1e5f, 1e5f, 1e5f}, -1);
    Case it{nested.name, default_params(), Batch::of(set), {n + nested.apart + 1, true, true}};
    it.params.method = method;
    it.params.metric = nested.metric;
    it.params.overlap_threshold = nested.overlap_threshold;
    // Masks of frames with classes test each pair exactly.
    it.params.class_agnostic = !nested.equal_scores;
    body(it);
  }
}

namespace {

/// Half are giants, so that all others share few cells of a grid whose cells are about as large as a mean box. Of these
/// some overlap none (a raster), others many before them (a ladder, and nested boxes). Few scores are far off the
/// others.
Boxes giants_and_shapes(std::uint32_t n, bool ties, Dice& dice) {
  Boxes set;
  const auto add = [&](float x, float y, float side, float score) { set.add({x, y, x + side, y + side}, score); };
  const std::uint32_t columns = 64;
  float nested = 5;
  for (std::uint32_t i = 0; set.size() < n; ++i) {
    const float close = ties ? std::floor(dice.between(0, 4)) / 4 : dice.unit();
    const std::uint32_t number = i / 6;
    if (i % 2) {
      add(dice.between(-1e5f, 1e5f), dice.between(-1e5f, 1e5f), dice.between(5e5f, 1e6f), i % 255 ? -1 : 100 * close);
    } else if (i % 6 == 0) {
      add(22 * static_cast<float>(number % columns), 22 * static_cast<float>(number / columns), 20,
          0.9f + 1e-5f * close);
    } else if (i % 6 == 2) {
      add(2000 + 0.1f * static_cast<float>(number), 0, 30, 0.3f + 1e-4f * static_cast<float>(number));
    } else {
      add(-nested, -nested, 2 * nested, 0.9f + 1e-4f * close);
      nested *= 1.01f;
    }
  }
  return set;
}

}  // namespace

void for_each_case_of_waiting(std::uint32_t n, CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  struct Variant {
    const char* name;
    double overlap_threshold;
    std::uint32_t classes, step;  ///< classes are multiples of `step`
    bool ties = false;
    CrowdNmsMetric metric = CROWD_NMS_IOU;
    bool or_equal = false;
    std::uint32_t pixel_offset = 0;
  };
  constexpr Variant variants[] = {{"one class", 0.5, 1, 1},
                                  {"tied scores", 0.8, 1, 1, true},
                                  {"three classes", 0.3, 3, 1},
                                  {"classes alike in their last bits", 0.3, 40, 256},
                                  {"labels far apart", 0.3, 4, 0x7fffffff},
                                  {"pixels included", 0.5, 3, 0x80000000, true, CROWD_NMS_IOU, true, 1},
                                  {"many classes", 0.1, 700, 0x9249249b, true},
                                  {"over the smaller", 0.6, 2, 1, false, CROWD_NMS_IOS},
                                  {"over the better-ranked", 0.4, 2, 1, true, CROWD_NMS_OVER_HIGHER},
                                  {"all overlap", 0, 300, 1, false, CROWD_NMS_IOU, true}};
  for (const Variant& variant : variants) {
    Dice dice(n + variant.classes);
    Boxes set = giants_and_shapes(n, variant.ties, dice);
    for (std::int32_t& label : set.classes)
      label = static_cast<std::int32_t>(dice.below(variant.classes) * variant.step);
    Case it{"giants and shapes, n=" + std::to_string(n) + ", " + variant.name,
            default_params(),
            Batch::of(set),
            {n, true, true}};
    it.params.method = method;
    it.params.metric = variant.metric;
    it.params.overlap_threshold = variant.overlap_threshold;
    it.params.comparator = variant.or_equal ? CROWD_NMS_GREATER_EQUAL : CROWD_NMS_GREATER;
    it.params.pixel_offset = variant.pixel_offset;
    it.params.class_agnostic = variant.classes == 1;
    it.params.score_threshold = -std::numeric_limits<float>::infinity();
    body(it);
  }
}

}  // namespace crowd::test
