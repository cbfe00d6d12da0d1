// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cases.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

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
