// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cases.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "hard_boxes.hpp"

namespace crowd::test {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

template <typename T, std::size_t N>
const T& pick(Dice& dice, const T (&from)[N]) {
  return dice.pick(std::span<const T>(from));
}

// What a backend must not care about, beside metric and comparator.
void draw_options(Case& it, Dice& dice) {
  const std::uint32_t n = it.batch.all.size();
  constexpr double thresholds[] = {0.5, 0.5, 0.3, 0.25, 0.75, 0.0, 1.0, 0.123};
  constexpr float scores[] = {-inf, -inf, -inf, 0.25f, 0.0f, inf};
  it.params.overlap_threshold = pick(dice, thresholds);
  it.params.score_threshold = pick(dice, scores);
  it.params.pixel_offset = dice.one_in(3);
  it.params.class_agnostic = dice.one_in(4);
  if (reads(it.params.method, CROWD_NMS_READS_SIGMA))
    it.params.sigma = 0.1f + 2 * dice.unit();
  if (reads(it.params.method, CROWD_NMS_READS_MODELS))
    it.params.models = dice.below(4);
  it.batch.with_classes = !dice.one_in(3);
  if (dice.one_in(5))
    it.batch.capacity = n - n / 7;
  else if (dice.one_in(4))
    it.batch.capacity = n + 5;
  if (it.batch.capacity != n || dice.one_in(2))
    it.batch.counts = {n};
  const std::uint32_t rooms[] = {n, n, n, n / 3, 0, 1, n + 3};
  it.wanted = {pick(dice, rooms), !dice.one_in(4), !dice.one_in(3)};
}

void draw_paper_options(Case& it, Dice& dice) {
  constexpr std::uint32_t ks[] = {1, 2, 5, 32, 64};
  it.params.paper_k = pick(dice, ks);
  const std::uint32_t k = it.params.paper_k;
  const std::uint32_t full = std::max(1u, (it.batch.capacity + k - 1) / k) * k;
  const std::uint32_t sides[] = {0, full, full + 2 * k, std::max(full / (2 * k), 1u) * k};
  it.params.paper_d_max = pick(dice, sides);
  // CUDA needs D_max / k <= 1024.
  while ((std::max(it.params.paper_d_max, full) + it.params.paper_k - 1) / it.params.paper_k > 1024) {
    it.params.paper_k = 32;
    it.params.paper_d_max = 0;
  }
}

}  // namespace

void for_each_case(std::span<const std::uint32_t> sizes, CrowdNmsMethod method, std::uint32_t per_size,
                   const std::function<void(const Case&)>& body) {
  std::uint64_t seed = 1;
  for (const Distribution& from : distributions()) {
    for (const std::uint32_t n : sizes) {
      const std::uint32_t metrics = metric_count();
      const std::uint32_t variants = reads(method, CROWD_NMS_READS_RULE) ? 2 * metrics : 3;
      const std::uint32_t taken = per_size ? std::min(per_size, variants) : variants;
      for (std::uint32_t v = 0; v < taken; ++v) {
        ++seed;
        Dice dice(seed ^ 0x9e3779b97f4a7c15);
        // Where only some are taken, they differ from size to size.
        const std::uint32_t variant = taken == variants ? v : dice.below(variants);
        Case it{.name = std::string(from.name) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed),
                .params = default_params(),
                .batch = Batch::of(from.make(n, seed)),
                .wanted = {}};
        it.params.method = method;
        it.params.metric = static_cast<CrowdNmsMetric>(variant % metrics);
        it.params.comparator = variant / metrics ? CROWD_NMS_GREATER_EQUAL : CROWD_NMS_GREATER;
        draw_options(it, dice);
        if (reads(method, CROWD_NMS_READS_D_MAX))
          draw_paper_options(it, dice);
        body(it);
      }
    }
  }
}

void for_each_huge_case(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  std::uint64_t seed = 20000;
  for (const char* name : {"uniform", "clustered", "chain", "tied_scores", "huge_coordinates", "mixed_sizes",
                           "integer_lattice", "outliers", "multi_class"}) {
    ++seed;
    Case it{.name = std::string(name) + " n=" + std::to_string(huge_size) + " seed=" + std::to_string(seed),
            .params = default_params(),
            .batch = Batch::of(distribution(name).make(huge_size, seed)),
            .wanted = {.max_survivors = huge_size}};
    it.params.method = method;
    it.params.overlap_threshold = seed % 2 ? 0.5 : 0.3;
    body(it);
  }
}

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

namespace {

/// Boxes of which the fused box of `one` and `other` overlaps `corner`, which they do not.
struct Corner {
  CrowdNmsMetric metric;
  double threshold;
  CrowdNmsBox one, other, corner;
};

/// So many copies of each, among others; and `further` ones.
Boxes with_corner(const Corner& it, std::uint32_t copies, std::span<const CrowdNmsBox> further) {
  Boxes set;
  set.add({100, 0, 120, 20}, 0.75F);
  for (const CrowdNmsBox& box : {it.one, it.other, it.corner})
    for (std::uint32_t k = 0; k < copies; ++k)
      set.add(box, 0.5F);
  for (const CrowdNmsBox& box : further)
    set.add(box, 0.5F);
  set.add({110, 10, 130, 30}, 0.25F);
  return set;
}

}  // namespace

void for_each_case_of_corners(const std::function<void(const Case&)>& body) {
  // The first two fuse to 3, 3, 23, 23, all three to 8.8, 3.1, 23.7, 17.1, where they take in another one.
  constexpr Corner ios{CROWD_NMS_IOS, 0.3, {0, 0, 20, 20}, {6, 6, 26, 26}, {20.5F, 3.2F, 25, 5.2F}};
  constexpr CrowdNmsBox next[] = {{23.1F, 5.3F, 23.6F, 5.9F}};
  // To 4, 4, 24, 24, of which the third one is a 25th.
  constexpr Corner iou{CROWD_NMS_IOU, 0.03, {0, 0, 20, 20}, {8, 8, 28, 28}, {20, 4, 24, 8}};
  const auto run = [&](const Corner& it, std::uint32_t copies, std::span<const CrowdNmsBox> further) {
    const Boxes set = with_corner(it, copies, further);
    CrowdNmsParams params = default_params();
    params.method = CROWD_NMS_WBF;
    params.metric = it.metric;
    params.overlap_threshold = it.threshold;
    const std::uint32_t n = set.size();
    body({"corners " + std::to_string(n), params, Batch::of(set), {n, true, true, true, true}});
  };
  for (const std::uint32_t copies : {1u, 20u, 300u, 600u}) {
    run(ios, copies, {});
    run(ios, copies, next);
    run(iou, copies, {});
  }
}

Case merging(Case it) {
  std::uint64_t seed = 0xcbf29ce484222325;
  for (const char letter : it.name)
    seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  Dice dice(seed + it.params.metric + 8 * it.params.comparator);
  it.wanted.boxes = !dice.one_in(8);
  it.wanted.scores = !dice.one_in(8);
  if (dice.one_in(4))
    return it;
  constexpr std::uint32_t min_members[] = {0, 0, 0, 1, 2, 3, 20};
  it.params.merge = static_cast<CrowdNmsMerge>(dice.below(static_cast<std::uint32_t>(all_merges().size())));
  it.params.cluster_score = static_cast<CrowdNmsClusterScore>(dice.below(CROWD_NMS_CLUSTER_SCORE_SUM + 1));
  it.params.min_members = pick(dice, min_members);
  return it;
}

Case sorted_crowds(CrowdNmsMethod method) {
  constexpr std::uint32_t frames = 40;
  constexpr std::uint32_t n = 100;
  Case it{.name = "batch of sorted crowds", .params = default_params(), .batch = {}, .wanted = {n, true, true}};
  it.params.method = method;
  it.batch.frames = frames;
  it.batch.capacity = n;
  for (std::uint32_t f = 0; f < frames; ++f) {
    Boxes frame = crowd(n, 2, 400, 400, f + 1);
    std::sort(frame.scores.begin(), frame.scores.end(), std::greater<>());
    for (std::uint32_t i = 0; i < n; ++i)
      it.batch.all.add(frame.boxes[i], frame.scores[i]);
  }
  return it;
}

void for_each_batch(CrowdNmsMethod method, const std::function<void(const Case&)>& body, std::uint64_t batches) {
  constexpr std::uint32_t counts[] = {0, 1, 33, 64, 100, 127, 128, 129, 300};
  for (std::uint64_t seed = 1; seed <= batches; ++seed) {
    Dice dice(seed);
    Case it{.name = "batch seed=" + std::to_string(seed), .params = default_params(), .batch = {}, .wanted = {}};
    it.params.method = method;
    it.params.metric = static_cast<CrowdNmsMetric>(dice.below(metric_count()));
    const std::uint32_t frames = dice.below(12);
    for (std::uint32_t f = 0; f < frames; ++f) {
      const Distribution& from = dice.pick(distributions());
      const Boxes frame = from.make(pick(dice, counts), seed * 100 + f);
      const Boxes gap = distribution("dense").make(dice.below(3) * 7, seed);
      for (const Boxes* part : {&gap, &frame}) {
        for (std::uint32_t i = 0; i < part->size(); ++i)
          it.batch.all.add(part->boxes[i], part->scores[i], part->classes[i]);
      }
      it.batch.offsets.push_back(it.batch.all.size() - frame.size());
      it.batch.counts.push_back(frame.size());
    }
    for (std::uint32_t f = frames; f > 1; --f) {
      const std::uint32_t other = dice.below(f);
      std::swap(it.batch.offsets[f - 1], it.batch.offsets[other]);
      std::swap(it.batch.counts[f - 1], it.batch.counts[other]);
    }
    it.batch.frames = frames;
    constexpr std::uint32_t capacities[] = {300, 128, 310, 0};
    it.batch.capacity = pick(dice, capacities);
    it.batch.with_classes = dice.one_in(2);
    it.wanted = {it.batch.capacity / (1 + dice.below(3)), !dice.one_in(4), !dice.one_in(4)};
    body(it);
  }
}

void for_each_case_of_room(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t capacity = 4600;
  const std::vector<std::uint32_t> batches[] = {{0},    {61},        {1300},      {4096},         {4097},
                                                {5000}, {700, 4300}, {4300, 700}, {4500, 0, 4096}};
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
    ++number;
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

void for_each_case_of_crowds(CrowdNmsMethod method, const std::function<void(const Case&)>& body) {
  constexpr std::uint32_t n = 1500;
  const auto check = [&](const std::string& name, Batch batch, double threshold, auto change) {
    Case it{"crowd, " + name, default_params(), std::move(batch), {}};
    it.wanted = {it.batch.capacity, true, true};
    it.params.method = method;
    it.params.overlap_threshold = threshold;
    change(it.params);
    body(it);
  };
  const auto as_it_is = [](const CrowdNmsParams&) {};
  const Boxes usual = crowd(n, 20, 1920, 1080, 1);
  check("of classes", Batch::of(usual), 0.5, as_it_is);
  for (const double threshold : {0.05, 0.3, 0.8})
    check("above " + std::to_string(threshold), Batch::of(usual), threshold,
          [](CrowdNmsParams& params) { params.class_agnostic = 1; });
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
  Dice dice(n);
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
  Batch batch;
  batch.frames = 3;
  batch.capacity = n;
  batch.counts = {n, n, 700};
  for (const Boxes& frame : {usual, distribution("uniform").make(n, 2), crowd(n, 10, 900, 900, 3)})
    for (std::uint32_t i = 0; i < n; ++i)
      batch.all.add(frame.boxes[i], frame.scores[i], frame.classes[i]);
  check("one of three frames", std::move(batch), 0.5, as_it_is);
  // Of a frame with room, which the direct path leaves to the stages.
  batch = Batch::of(crowd(4200, 40, 1920, 1080, 4));
  batch.offsets = {0};
  batch.counts = {4200};
  batch.capacity = 4300;
  check("with room", std::move(batch), 0.5, as_it_is);
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
      {"a small frame", 50, 1.005f, false, 0.7, 5, CROWD_NMS_IOU, 250}};
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

RandomFrame random_frame(std::uint64_t seed) {
  Dice dice(seed);
  const auto& kind = distributions()[dice.below(static_cast<std::uint32_t>(distributions().size()))];
  const std::uint32_t n = dice.below(dice.one_in(20) ? 6000 : 600);
  RandomFrame it{std::string(kind.name) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed), default_params(),
                 Batch::of(kind.make(n, seed))};
  it.params.overlap_threshold = dice.unit();
  it.params.class_agnostic = dice.below(2);
  return it;
}

void expect_as_oracle(std::span<const Mode> modes, const Case& asked) {
  Case it = asked;
  // Where the method changes them there is more to see.
  const CrowdNmsMethodInfo& method = *crowd_nms_method_info(it.params.method);
  it.wanted.boxes |= method.changes_boxes != 0;
  it.wanted.scores |= method.changes_scores != 0 || it.params.weight_count > 0;
  const Result expected = run_oracle(it.params, it.batch, it.wanted);
  for (const Mode& mode : modes)
    EXPECT_TRUE(same(expected, mode.run(it.params, it.batch, it.wanted), it.batch, it.wanted))
        << it.name << ' ' << mode.name << "\n  " << it.params << "\n  frames=" << it.batch.frames
        << " capacity=" << it.batch.capacity << " classes=" << it.batch.with_classes
        << " max-survivors=" << it.wanted.max_survivors << " members=" << it.wanted.members
        << " representatives=" << it.wanted.representatives << " boxes=" << it.wanted.boxes
        << " scores=" << it.wanted.scores;
}

void expect_as_oracle(const Runner& runner, const Case& it) {
  const Mode only{"", runner};
  expect_as_oracle(std::span(&only, 1), it);
}

}  // namespace crowd::test
