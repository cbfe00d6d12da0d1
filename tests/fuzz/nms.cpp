// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowd/nms.h with parameters and arrays of any bits: a call is refused in words, or its answer adds up and, where that
// is cheap, is the oracle's. Plain calls and sessions give the same.

#include <crowd/nms.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "input.hpp"
#include "oracle.hpp"
#include "rule_cases.hpp"

namespace {

using namespace crowd::test;
using crowd::fuzz::Exact;
using crowd::fuzz::Input;
using crowd::fuzz::require;

/// What the oracle, in n^2 and (paper) d_max^2, is asked about.
constexpr std::uint32_t max_for_oracle = 256;
constexpr std::size_t max_workspace = 1 << 20;

// Half of the inputs mean something, or hardly any would.
template <typename T>
void choose(Input& input, bool legal, std::uint32_t count, T& value) {
  if (!legal) {
    input.fill(value);
    return;
  }
  const std::uint32_t number = input.below(count);
  static_assert(sizeof value == sizeof number);
  std::memcpy(&value, &number, sizeof value);
}

float lattice_score(Input& input) {
  return static_cast<float>(input.any<std::int8_t>()) / 16;
}

void read_class_settings(Input& input, bool legal, CrowdNmsParams& params) {
  const std::uint32_t count = input.below(4);
  for (std::uint32_t k = 0; k < count; k++) {
    CrowdNmsClassSettings& own = params.class_settings[k];
    own.label = legal ? static_cast<std::int32_t>(k) : input.any<std::int32_t>();
    own.score_threshold = input.flag() ? NAN : lattice_score(input);
    own.overlap_threshold = legal ? static_cast<double>(input.below(5)) / 4 : input.any<double>();
  }
  choose(input, legal, 1, params.class_count);
  if (legal)
    params.class_count = count;
  choose(input, legal, 2, params.listed_only);
  if (input.flag())
    params.min_width = lattice_score(input);
  if (input.flag())
    params.max_height = lattice_score(input);
}

CrowdNmsParams read_params(Input& input) {
  constexpr double thresholds[] = {0, 0.25, 0.3, 0.5, 0.7, 1};
  CrowdNmsParams params = default_params();
  const bool legal = input.flag();
  choose(input, legal, static_cast<std::uint32_t>(all_methods().size()), params.method);
  choose(input, legal, metric_count(), params.metric);
  choose(input, legal, 2, params.comparator);
  if (legal)
    params.overlap_threshold = input.pick(thresholds);
  else
    input.fill(params.overlap_threshold);
  const std::uint32_t score = input.below(3);
  if (score == 1)
    params.score_threshold = lattice_score(input);
  if (score == 2)
    input.fill(params.score_threshold);
  choose(input, legal, 2, params.pixel_offset);
  choose(input, legal, 2, params.class_agnostic);
  choose(input, legal, static_cast<std::uint32_t>(all_rules().size()), params.rule);
  params.max_distance = input.flag() ? 1 : input.any<float>();
  params.min_overlap = legal ? params.overlap_threshold / 2 : input.any<double>();
  read_class_settings(input, legal, params);
  choose(input, legal, 65, params.paper_d_max);
  choose(input, legal, 33, params.paper_k);
  return params;
}

void read_merging(Input& input, CrowdNmsParams& params, Wanted& wanted) {
  const bool legal = input.flag();
  choose(input, legal, static_cast<std::uint32_t>(all_merges().size()), params.merge);
  choose(input, legal, CROWD_NMS_CLUSTER_SCORE_SUM + 1, params.cluster_score);
  choose(input, legal, 4, params.min_members);
  choose(input, legal, 4, params.models);
  choose(input, legal, 5, params.weight_count);
  for (float& weight : params.model_weights)
    weight = legal ? static_cast<float>(1 + input.below(3)) : input.any<float>();
  wanted.boxes = input.flag();
  wanted.scores = input.flag();
}

void add_candidates(Input& input, std::uint32_t n, Boxes& all) {
  for (std::uint32_t i = 0; i < n; i++) {
    const bool corners = input.flag();
    CrowdNmsBox box = {input.coordinate(), input.coordinate(), input.coordinate(), input.coordinate()};
    if (!corners)
      box.x2 += box.x1, box.y2 += box.y1;
    const bool any_score = input.below(8) == 7;
    const float score = any_score ? input.any<float>() : lattice_score(input);
    all.add(box, score, static_cast<std::int32_t>(input.below(3)));
  }
}

/// Frames within arrays that are just long enough.
Batch read_batch(Input& input) {
  Batch batch;
  batch.frames = input.below(4);
  batch.capacity = input.below(96);
  batch.with_classes = input.flag();
  const bool with_counts = input.flag();
  const bool with_offsets = input.flag();
  for (std::uint32_t f = 0; f < batch.frames; f++) {
    const std::uint32_t given = with_counts ? input.flag() ? input.any<std::uint32_t>() : input.below(96) : 0;
    if (with_counts)
      batch.counts.push_back(given);
    const std::uint32_t gap = with_offsets ? input.below(4) : 0;
    add_candidates(input, gap, batch.all);
    if (with_offsets)
      batch.offsets.push_back(batch.all.size());
    const bool whole = !with_counts || !with_offsets;
    add_candidates(input, whole ? batch.capacity : std::min(given, batch.capacity), batch.all);
  }
  if (input.flag()) {
    Dice dice(input.any<std::uint32_t>());
    batch.extras = draw_extras(batch.all, dice);
  }
  return batch;
}

/// The arrays of a batch again, each ending where its memory ends.
struct ExactArrays {
  explicit ExactArrays(const Batch& batch)
      : boxes(batch.all.size()),
        scores(batch.all.size()),
        classes(batch.all.size()),
        densities(batch.extras.densities.size()),
        proposals(batch.extras.proposals.size()),
        visible(batch.extras.visible.size()),
        features(batch.extras.features.size()),
        models(batch.extras.models.size()) {
    std::copy(batch.extras.models.begin(), batch.extras.models.end(), models.data());
    std::copy(batch.extras.densities.begin(), batch.extras.densities.end(), densities.data());
    std::copy(batch.extras.proposals.begin(), batch.extras.proposals.end(), proposals.data());
    std::copy(batch.extras.visible.begin(), batch.extras.visible.end(), visible.data());
    std::copy(batch.extras.features.begin(), batch.extras.features.end(), features.data());
    std::copy_n(batch.all.boxes.begin(), batch.all.size(), boxes.data());
    std::copy_n(batch.all.scores.begin(), batch.all.size(), scores.data());
    std::copy_n(batch.all.classes.begin(), batch.all.size(), classes.data());
  }
  CrowdNmsCandidates candidates(const Batch& batch) const {
    CrowdNmsCandidates all = batch.candidates();
    all.boxes = boxes.data();
    all.scores = scores.data();
    all.classes = all.classes ? classes.data() : nullptr;
    all.densities = all.densities ? densities.data() : nullptr;
    all.proposals = all.proposals ? proposals.data() : nullptr;
    all.visible = all.visible ? visible.data() : nullptr;
    all.features = all.features ? features.data() : nullptr;
    all.models = all.models ? models.data() : nullptr;
    return all;
  }

  Exact<CrowdNmsBox> boxes;
  Exact<float> scores;
  Exact<std::int32_t> classes;
  Exact<float> densities;
  Exact<std::uint32_t> proposals;
  Exact<CrowdNmsBox> visible;
  Exact<float> features;
  Exact<std::uint32_t> models;
};

void require_refusal(CrowdNmsStatus status) {
  require(status != CROWD_NMS_OK, "what is not done is refused");
  require(crowd_nms_last_error()[0] != 0, "a refusal has a message");
  require(crowd_nms_status_text(status)[0] != 0, "a status has a text");
}

struct FreeWorkspace {
  void operator()(void* memory) const {
    std::free(memory);
  }
};
using Workspace = std::unique_ptr<void, FreeWorkspace>;

Workspace new_workspace(std::size_t bytes) {
  void* memory = nullptr;
  require(posix_memalign(&memory, 64, bytes) == 0, "there is memory");
  return Workspace(memory);
}

/// By rank: score descending, then index ascending.
void check_order(const CrowdNmsParams& params, const Batch& batch, const Result& result, const Wanted& wanted,
                 std::uint32_t f) {
  const std::uint32_t written = result.reports[f].survivors - result.reports[f].clipped;
  require(written <= wanted.max_survivors, "no more survivors are written than there is room for");
  const std::size_t first = batch.offsets.empty() ? std::size_t{f} * batch.capacity : batch.offsets[f];
  const bool by_new_scores = crowd_nms_method_info(params.method)->orders_by_new_scores;
  const bool by_weighted_scores = reads(params.method, CROWD_NMS_READS_WEIGHTS) && params.weight_count;
  const auto score_of = [&](std::uint32_t r, std::uint32_t survivor) {
    return by_new_scores ? result.scores[std::size_t{f} * wanted.max_survivors + r]
                         : batch.all.scores[first + survivor];
  };
  for (std::uint32_t r = 0; r < written; r++) {
    const std::uint32_t* at = &result.survivors[std::size_t{f} * wanted.max_survivors + r];
    require(*at < std::min(result.reports[f].candidates, batch.capacity), "a survivor is a candidate");
    if (r == 0 || (by_new_scores && !wanted.scores) || by_weighted_scores)
      continue;
    const float before = score_of(r - 1, at[-1]), score = score_of(r, *at);
    require(!(before < score), "survivors are sorted by score");
    require(before != score || at[-1] < *at, "equal scores are sorted by index");
  }
}

void check_sums(const Batch& batch, const Result& result, const Wanted& wanted, std::uint32_t f) {
  const CrowdNmsReport& report = result.reports[f];
  const std::uint64_t lost = std::uint64_t{report.overflow} + report.invalid + report.below_threshold;
  require(lost + report.survivors <= report.candidates, "the parts of a report are within its whole");
  require(report.candidates == (batch.counts.empty() ? batch.capacity : batch.counts[f]), "candidates are as given");
  if (!wanted.members || !wanted.representatives || report.clipped)
    return;
  std::uint64_t members = 0, represented = 0;
  for (std::uint32_t r = 0; r < report.survivors; r++)
    members += result.members[std::size_t{f} * wanted.max_survivors + r];
  for (std::uint32_t i = 0; i < report.candidates - report.overflow; i++)
    represented += result.representatives[std::size_t{f} * batch.capacity + i] < CROWD_NMS_REJECTED;
  require(members == represented, "members are those that a survivor represents");
}

bool oracle_can(const CrowdNmsParams& params, const Batch& batch) {
  if (batch.all.size() > max_for_oracle)
    return false;
  return !reads(params.method, CROWD_NMS_READS_D_MAX) || std::max(params.paper_d_max, params.paper_k) <= max_for_oracle;
}

void check_against(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted, const Result& result) {
  const Result expected = run_oracle(params, batch, wanted);
  if (const auto agreement = same(expected, result, batch, wanted); !agreement) {
    std::cerr << params << ": " << agreement.message() << '\n';
    require(false, "the answer is the oracle's");
  }
}

void check_session(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted,
                   const CrowdNmsCandidates& candidates, const Result& plain) {
  CrowdNmsSession* session = nullptr;
  const CrowdNmsStatus status =
      crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, &params, batch.frames, batch.capacity, &session);
  require(status == CROWD_NMS_OK && session, "what a plain call does a session can do");
  Result result = Result::sized(batch, wanted);
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  result.status = crowd_nms_session_run(session, &params, &candidates, &outputs);
  crowd_nms_session_free(session);
  require(bool(same(plain, result, batch, wanted)), "a session gives what a plain call gives");
}

void run(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted, bool short_workspace) {
  const ExactArrays arrays(batch);
  const CrowdNmsCandidates candidates = arrays.candidates(batch);
  Result result = Result::sized(batch, wanted);
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  const std::size_t needed = crowd_nms_cpu_workspace_bytes(&params, batch.frames, batch.capacity);
  if (needed > max_workspace)
    return;
  const std::size_t given = needed && short_workspace ? needed - 1 : needed;
  const Workspace workspace = new_workspace(given);
  result.status = crowd_nms_cpu(&params, &candidates, &outputs, workspace.get(), given);
  if (result.status != CROWD_NMS_OK) {
    require_refusal(result.status);
    require(given == 0 || given < needed || lacks_array(params, batch.extras), "legal calls are answered");
    return;
  }
  require(batch.frames == 0 || given == needed, "a workspace that is too small is refused");
  for (std::uint32_t f = 0; f < batch.frames; f++) {
    check_sums(batch, result, wanted, f);
    check_order(params, batch, result, wanted, f);
  }
  if (batch.frames > 0 && oracle_can(params, batch))
    check_against(params, batch, wanted, result);
  check_session(params, batch, wanted, candidates, result);
}

// Arithmetic on numbers that no call could have the arrays for.
void ask_for_sizes(const CrowdNmsParams& params, std::uint32_t frames, std::uint32_t capacity) {
  const bool legal = crowd_nms_params_check(&params) == CROWD_NMS_OK;
  require(legal || crowd_nms_last_error()[0] != 0, "a refusal has a message");
  const std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, frames, capacity);
  require(legal || bytes == 0, "illegal parameters need no workspace");
  require(bytes <= (std::uint64_t{capacity} + 64) * 96 + 4096, "a workspace takes at most 96 bytes a candidate");
  CrowdNmsCandidates none{};
  none.frames = frames;
  none.capacity = capacity;
  const CrowdNmsSurvivors nowhere = {};
  if (frames > 0)
    require_refusal(crowd_nms_cpu(&params, &none, &nowhere, nullptr, 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  CrowdNmsParams params = read_params(input);
  ask_for_sizes(params, input.any<std::uint32_t>(), input.any<std::uint32_t>());
  Wanted wanted;
  wanted.max_survivors = input.below(128);
  wanted.members = input.flag();
  wanted.representatives = input.flag();
  const bool short_workspace = input.below(16) == 15;
  const Batch batch = read_batch(input);
  read_merging(input, params, wanted);
  run(params, batch, wanted, short_workspace);
  return 0;
}
