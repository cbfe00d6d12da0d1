// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The entry points of the CPU backend: arguments in, frames one after the other, reports out.

#include <algorithm>
#include <cstdint>

#include "core/call.hpp"
#include "core/failure.hpp"
#include "core/floating_point.hpp"
#include "core/methods.hpp"
#include "cpu/backend.hpp"
#include "cpu/frame.hpp"
#include "cpu/members.hpp"
#include "cpu/merge.hpp"

namespace crowd::cpu {

namespace {

/// Checks that this backend can run the params, which are legal, at this capacity.
CrowdNmsStatus check_supported(const CrowdNmsParams& params, std::uint32_t capacity) {
  if (const CrowdNmsStatus status = check_backend(info_of(params.method), CROWD_NMS_BACKEND_CPU);
      status != CROWD_NMS_OK)
    return status;
  if (!reads_d_max(params) || paper_side(params, capacity) <= paper_d_max_limit)
    return CROWD_NMS_OK;
  return fail(CROWD_NMS_UNSUPPORTED, "capacity %u makes D_max %llu, more than %u: set paper_d_max", capacity,
              static_cast<unsigned long long>(paper_side(params, capacity)), paper_d_max_limit);
}

CrowdNmsStatus check_workspace(const void* workspace, std::size_t bytes, std::size_t needed) {
  if (bytes < needed)
    return fail(CROWD_NMS_WORKSPACE_TOO_SMALL,
                "the workspace has %zu bytes, needs %zu: ask crowd_nms_cpu_workspace_bytes()", bytes, needed);
  if (!workspace || reinterpret_cast<std::uintptr_t>(workspace) % workspace_alignment)
    return fail(CROWD_NMS_INVALID_ARGUMENT, "workspace %p must be memory aligned to %zu bytes", workspace,
                workspace_alignment);
  return CROWD_NMS_OK;
}

// A frame's candidates: as given, those the arrays hold, those looked at.
struct Counts {
  std::uint32_t given;
  std::uint32_t held;
  std::uint32_t seen;
};

template <typename... Row>
std::size_t own_bytes_of(Table<Row...>, CrowdNmsMethod method) {
  constexpr std::size_t rows[] = {own_bytes<Row>...};
  return rows[method];
}

std::size_t workspace_bytes(const CrowdNmsParams& params, std::uint32_t capacity) {
  std::size_t bytes = 0;
  carve(nullptr, capacity, bytes);
  bytes += own_bytes_of(Methods{}, params.method) * capacity;
  if (reads_weights(params))
    bytes += sizeof(float) * capacity;
  return std::max(bytes, workspace_alignment);
}

Counts count(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates, std::uint32_t f) {
  const std::uint32_t given = candidates.counts ? candidates.counts[f] : candidates.capacity;
  const std::uint32_t held = std::min(given, candidates.capacity);
  if (!reads_d_max(params))
    return {given, held, held};
  const std::uint64_t side = paper_side(params, candidates.capacity);
  return {given, held, static_cast<std::uint32_t>(std::min<std::uint64_t>(held, side))};
}

Frame frame_of(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates, std::uint32_t f,
               std::uint32_t seen) {
  if (!seen)
    return {};
  const std::size_t first = candidates.offsets ? candidates.offsets[f] : std::size_t{f} * candidates.capacity;
  const bool classless = params.class_agnostic || !candidates.classes;
  const bool by_visible = reads_pairs(params) && params.rule == CROWD_NMS_VISIBLE;
  return {
      {(by_visible ? candidates.visible : candidates.boxes) + first, seen},
      candidates.scores + first,
      candidates.scores + first,
      classless ? nullptr : candidates.classes + first,
      candidates.boxes + first,
      rule_arrays(candidates).from(first),
  };
}

using Run = Outcome (*)(const Job&);

template <typename Row>
constexpr Run run_of() {
  if constexpr (has_cpu<Row>)
    return Row::on_cpu;
  else
    return nullptr;
}

// Not null for a method that check_supported() takes.
template <typename... Row>
Run run_of(Table<Row...>, CrowdNmsMethod method) {
  constexpr Run rows[] = {run_of<Row>()...};
  return rows[method];
}

void weigh(Frame& frame, const ModelWeights& weights, float* weighted) {
  for (std::uint32_t i = 0; i < frame.size(); ++i)
    weighted[i] = weights.weighted(frame.given_scores[i], frame.arrays.models, i);
  frame.scores = weighted;
}

void write_members(const Frame& frame, const Scratch& scratch, const std::uint32_t* representatives,
                   std::span<std::uint32_t> members) {
  count_members(frame, scratch, representatives);
  for (std::size_t r = 0; r < members.size(); ++r)
    members[r] = scratch.of[scratch.survivors[r]];
}

void run_frame(const CrowdNmsParams& params, const Rule& rule, const CrowdNmsCandidates& candidates,
               const CrowdNmsSurvivors& out, const Scratch& scratch, void* own_workspace, std::byte* weighted,
               std::uint32_t f) {
  const Counts counts = count(params, candidates, f);
  Frame frame = frame_of(params, candidates, f, counts.seen);
  if (rule.weights.count)
    weigh(frame, rule.weights, reinterpret_cast<float*>(weighted));
  std::uint32_t* representatives = nullptr;
  if (out.representatives)
    representatives = out.representatives + std::size_t{f} * candidates.capacity;
  else if ((out.members && out.max_survivors) || needs_representatives(params, out))
    representatives = scratch.representatives;

  const std::uint64_t d_max = reads_d_max(params) ? paper_side(params, candidates.capacity) : 0;
  const std::size_t place = std::size_t{f} * out.max_survivors;
  const Merged merged{out.boxes ? out.boxes + place : nullptr, out.scores ? out.scores + place : nullptr,
                      out.max_survivors};
  const Job job{params, rule, frame, scratch, representatives, d_max, merged, own_workspace};
  const Outcome outcome = run_of(Methods{}, params.method)(job);
  // Candidates beyond D_max.
  if (representatives)
    std::fill(representatives + counts.seen, representatives + counts.held, CROWD_NMS_REJECTED);

  const std::uint32_t found = drop_small(job, outcome.survivors);
  const std::uint32_t written = std::min(found, out.max_survivors);
  if (written)
    std::copy_n(scratch.survivors, written, out.survivors + place);
  if (written && out.members)
    write_members(frame, scratch, representatives, {out.members + place, written});
  if (!outcome.merged)
    merge(job, written);
  for (std::uint32_t r = 0; outcome.scores && out.scores && r < written; ++r)
    out.scores[place + r] = outcome.scores[scratch.survivors[r]];
  out.reports[f] = {
      .candidates = counts.given,
      .overflow = counts.given - counts.seen,
      .invalid = outcome.invalid,
      .below_threshold = outcome.below_threshold,
      .survivors = found,
      .clipped = found - written,
  };
}

// Not inlined, see FloatingPointModes.
[[gnu::noinline]] CrowdNmsStatus check_and_run(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                                               const CrowdNmsSurvivors* survivors, void* workspace, std::size_t bytes) {
  const CrowdNmsStatus status = check_call(params, candidates, survivors);
  return status == CROWD_NMS_OK ? run_checked(*params, *candidates, *survivors, workspace, bytes) : status;
}

}  // namespace

CrowdNmsStatus run_checked(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                           const CrowdNmsSurvivors& survivors, void* workspace, std::size_t bytes) {
  if (const CrowdNmsStatus status = check_supported(params, candidates.capacity); status != CROWD_NMS_OK)
    return status;
  if (!candidates.frames)
    return CROWD_NMS_OK;
  const std::size_t needed = workspace_bytes(params, candidates.capacity);
  if (const CrowdNmsStatus status = check_workspace(workspace, bytes, needed); status != CROWD_NMS_OK)
    return status;
  std::size_t common = 0;
  const Scratch scratch = carve(workspace, candidates.capacity, common);
  std::byte* const own = static_cast<std::byte*>(workspace) + common;
  std::byte* const weighted = own + own_bytes_of(Methods{}, params.method) * candidates.capacity;
  CrowdNmsParams read = params;
  if (!reads_pairs(params))
    read.rule = CROWD_NMS_PLAIN;
  const Rule rule(read);
  for (std::uint32_t f = 0; f < candidates.frames; ++f)
    run_frame(read, rule, candidates, survivors, scratch, own, weighted, f);
  return CROWD_NMS_OK;
}

}  // namespace crowd::cpu

size_t crowd_nms_cpu_workspace_bytes(const CrowdNmsParams* params, uint32_t frames, uint32_t capacity) {
  using namespace crowd;
  if (crowd_nms_params_check(params) != CROWD_NMS_OK || cpu::check_supported(*params, capacity) != CROWD_NMS_OK ||
      check_total(frames, capacity) != CROWD_NMS_OK)
    return 0;
  return cpu::workspace_bytes(*params, capacity);
}

CrowdNmsStatus crowd_nms_cpu(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                             const CrowdNmsSurvivors* survivors, void* workspace, size_t workspace_bytes) {
  const crowd::FloatingPointModes modes;
  return crowd::cpu::check_and_run(params, candidates, survivors, workspace, workspace_bytes);
}
