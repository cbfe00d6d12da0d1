// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The machinery of oracle.hpp that is not the oracle.

#include <algorithm>
#include <bit>
#include <cstring>
#include <iomanip>
#include <limits>
#include <memory>

#include "oracle.hpp"

namespace crowd::test {

Batch Batch::of(Boxes set) {
  Batch batch;
  batch.capacity = set.size();
  batch.all = std::move(set);
  return batch;
}

CrowdNmsCandidates Batch::candidates() const {
  // A call with room for candidates wants arrays, though none be there.
  static constexpr CrowdNmsBox no_box{};
  static constexpr float no_score = 0;
  const bool empty = all.boxes.empty();
  return {
      .boxes = empty ? &no_box : all.boxes.data(),
      .scores = empty ? &no_score : all.scores.data(),
      .classes = with_classes && !empty ? all.classes.data() : nullptr,
      .offsets = offsets.empty() ? nullptr : offsets.data(),
      .counts = counts.empty() ? nullptr : counts.data(),
      .frames = frames,
      .capacity = capacity,
      .feature_length = extras.feature_length,
      .flags = 0,
      .densities = extras.densities.empty() ? nullptr : extras.densities.data(),
      .proposals = extras.proposals.empty() ? nullptr : extras.proposals.data(),
      .visible = extras.visible.empty() ? nullptr : extras.visible.data(),
      .features = extras.features.empty() ? nullptr : extras.features.data(),
      .models = extras.models.empty() ? nullptr : extras.models.data(),
      .reserved = {},
  };
}

Result Result::sized(const Batch& batch, const Wanted& wanted) {
  Result result;
  result.survivors.assign(std::size_t{batch.frames} * wanted.max_survivors, untouched);
  if (wanted.members)
    result.members = result.survivors;
  if (wanted.representatives)
    result.representatives.assign(std::size_t{batch.frames} * batch.capacity, untouched);
  constexpr std::uint32_t u = untouched;
  constexpr auto bits = std::bit_cast<float>(untouched);
  if (wanted.boxes)
    result.boxes.assign(result.survivors.size(), {bits, bits, bits, bits});
  if (wanted.scores)
    result.scores.assign(result.survivors.size(), bits);
  result.reports.assign(batch.frames, {u, u, u, u, u, u});
  return result;
}

CrowdNmsSurvivors Result::outputs(const Wanted& wanted) {
  const auto array = [](auto& v) { return v.empty() ? nullptr : v.data(); };
  return {
      .survivors = array(survivors),
      .members = array(members),
      .representatives = array(representatives),
      .reports = reports.data(),
      .max_survivors = wanted.max_survivors,
      .flags = 0,
      .boxes = array(boxes),
      .scores = array(scores),
      .reserved = {},
  };
}

Result run_cpu(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  constexpr std::size_t guard = 64;
  constexpr std::byte canary{0xc5};
  constexpr std::byte garbage{0x7f};
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  const std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, batch.frames, batch.capacity);
  EXPECT_GT(bytes, 0u) << crowd_nms_last_error();
  const std::unique_ptr<std::byte[], void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(guard, (bytes + 3 * guard - 1) / guard * guard)), std::free);
  std::byte* const workspace = memory.get() + guard;
  std::fill_n(memory.get(), guard, canary);
  std::fill_n(workspace, bytes, garbage);
  std::fill_n(workspace + bytes, guard, canary);
  result.status = crowd_nms_cpu(&params, &candidates, &outputs, workspace, bytes);
  const auto intact = [&](const std::byte* at) {
    return std::all_of(at, at + guard, [](auto b) { return b == canary; });
  };
  EXPECT_TRUE(intact(memory.get())) << "wrote before the workspace";
  EXPECT_TRUE(intact(workspace + bytes)) << "wrote behind the workspace";
  return result;
}

namespace {

testing::AssertionResult differs(const char* what, std::size_t frame, std::size_t at, std::uint32_t expected,
                                 std::uint32_t actual, const Batch& batch, std::size_t box) {
  auto failure = testing::AssertionFailure();
  const auto named = [](std::uint32_t value) {
    return value == CROWD_NMS_NONE       ? std::string("none")
           : value == CROWD_NMS_REJECTED ? std::string("rejected")
           : value == Result::untouched  ? std::string("untouched")
                                         : std::to_string(value);
  };
  failure << what << '[' << at << "] of frame " << frame << " is " << named(actual) << ", expected " << named(expected);
  const std::size_t first = batch.offsets.empty() ? frame * batch.capacity : batch.offsets[frame];
  if (first + box < batch.all.size())
    failure << "; candidate " << box << " is " << batch.all.boxes[first + box] << " score " << std::setprecision(9)
            << batch.all.scores[first + box] << " class " << batch.all.classes[first + box];
  return failure;
}

template <typename T>
testing::AssertionResult same_bits(const char* what, std::size_t frame, std::size_t rank,
                                   const std::vector<T>& expected, const std::vector<T>& actual, std::size_t at,
                                   bool wanted) {
  if (!wanted || std::memcmp(&expected[at], &actual[at], sizeof(T)) == 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << what << '[' << rank << "] of frame " << frame << " is " << std::setprecision(9)
                                     << actual[at] << ", expected " << expected[at];
}

}  // namespace

testing::AssertionResult same(const Result& expected, const Result& actual, const Batch& batch, const Wanted& wanted) {
  if (expected.status != actual.status)
    return testing::AssertionFailure() << "status is " << actual.status << " (" << crowd_nms_last_error()
                                       << "), expected " << expected.status;
  if (expected.survivors.size() != actual.survivors.size() || expected.members.size() != actual.members.size() ||
      expected.representatives.size() != actual.representatives.size() ||
      expected.boxes.size() != actual.boxes.size() || expected.scores.size() != actual.scores.size() ||
      expected.reports.size() != actual.reports.size())
    return testing::AssertionFailure() << "arrays differ in length";
  for (std::size_t f = 0; f < expected.reports.size(); ++f) {
    for (std::size_t r = 0; r < wanted.max_survivors; ++r) {
      const std::size_t at = f * wanted.max_survivors + r;
      const std::uint32_t e = expected.survivors[at];
      if (const std::uint32_t a = actual.survivors[at]; a != e)
        return differs("survivors", f, r, e, a, batch, std::min(a, e));
      if (wanted.members && expected.members[at] != actual.members[at])
        return differs("members", f, r, expected.members[at], actual.members[at], batch, e);
      if (const auto boxes = same_bits("boxes", f, r, expected.boxes, actual.boxes, at, wanted.boxes); !boxes)
        return boxes;
      if (const auto scores = same_bits("scores", f, r, expected.scores, actual.scores, at, wanted.scores); !scores)
        return scores;
    }
    for (std::size_t i = 0; wanted.representatives && i < batch.capacity; ++i) {
      const std::size_t at = f * batch.capacity + i;
      if (expected.representatives[at] != actual.representatives[at])
        return differs("representatives", f, i, expected.representatives[at], actual.representatives[at], batch, i);
    }
    if (!(expected.reports[f] == actual.reports[f]))
      return testing::AssertionFailure() << "report of frame " << f << " is " << actual.reports[f] << ", expected "
                                         << expected.reports[f];
  }
  return testing::AssertionSuccess();
}

CrowdNmsParams default_params() {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  return params;
}

}  // namespace crowd::test

bool operator==(const CrowdNmsReport& a, const CrowdNmsReport& b) {
  return a.candidates == b.candidates && a.overflow == b.overflow && a.invalid == b.invalid &&
         a.below_threshold == b.below_threshold && a.survivors == b.survivors && a.clipped == b.clipped;
}

std::ostream& operator<<(std::ostream& out, const CrowdNmsReport& report) {
  return out << "{candidates " << report.candidates << ", overflow " << report.overflow << ", invalid "
             << report.invalid << ", below threshold " << report.below_threshold << ", survivors " << report.survivors
             << ", clipped " << report.clipped << '}';
}

std::ostream& operator<<(std::ostream& out, const CrowdNmsBox& box) {
  return out << std::setprecision(9) << '{' << box.x1 << ", " << box.y1 << ", " << box.x2 << ", " << box.y2 << '}';
}

std::ostream& operator<<(std::ostream& out, const CrowdNmsParams& params) {
  out << crowd_nms_method_info(params.method)->name << ' ' << crowd_nms_metric_info(params.metric)->name
      << (params.comparator ? " >= " : " > ") << std::setprecision(17) << params.overlap_threshold
      << std::setprecision(9) << " score>=" << params.score_threshold << " pixel-offset=" << params.pixel_offset
      << " class-agnostic=" << params.class_agnostic << ' ' << crowd_nms_rule_info(params.rule)->name
      << " min-overlap=" << params.min_overlap << " max-distance=" << params.max_distance << " size "
      << params.min_width << 'x' << params.min_height << " to " << params.max_width << 'x' << params.max_height
      << (params.listed_only ? " listed only" : "");
  for (std::uint32_t k = 0; k < params.class_count; ++k) {
    const CrowdNmsClassSettings& own = params.class_settings[k];
    out << " {class " << own.label << ": overlap " << own.overlap_threshold << ", score " << own.score_threshold << '}';
  }
  if (crowd::test::reads(params.method, CROWD_NMS_READS_SIGMA))
    out << " sigma=" << params.sigma;
  if (crowd::test::reads(params.method, CROWD_NMS_READS_MODELS))
    out << " models=" << params.models;
  for (std::uint32_t model = 0; model < params.weight_count; ++model)
    out << (model ? "," : " weights=") << params.model_weights[model];
  if (crowd::test::reads(params.method, CROWD_NMS_READS_MERGE))
    out << " merge=" << crowd_nms_merge_info(params.merge)->name << " cluster-score=" << params.cluster_score
        << " min-members=" << params.min_members;
  if (crowd::test::reads(params.method, CROWD_NMS_READS_D_MAX))
    out << " D_max=" << params.paper_d_max << " k=" << params.paper_k;
  return out;
}
