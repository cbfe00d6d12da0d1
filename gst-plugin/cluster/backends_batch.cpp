// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Several frames in one call.

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "cluster/backends.hpp"

namespace crowd {

// In powers of two, lest sessions be made anew for each batch. A frame of CandidateBatch::max_places candidates is
// alone.
CrowdNmsStatus Backends::prepare_batch(const Config& config, const CandidateBatch& batch, GpuOutcome& gpu) {
  if (batch.frames() <= many_.frames && batch.capacity() <= many_.capacity)
    return CROWD_NMS_OK;
  const std::uint32_t frames = std::bit_ceil(batch.frames()), capacity = std::bit_ceil(batch.capacity());
  Sessions made = no_sessions(std::max(frames, many_.frames), std::max(capacity, many_.capacity));
  if (std::size_t{made.frames} * made.capacity > 4 * CandidateBatch::max_places)
    made = no_sessions(frames, capacity);
  free_on_gpu(many_.gpu);
  many_ = no_sessions(0, 0);
  if (one_.cpu) {
    if (const CrowdNmsStatus status = make(CROWD_NMS_BACKEND_CPU, config, made); status != CROWD_NMS_OK)
      return status;
  }
  if (one_.gpu) {
    const CrowdNmsStatus status = make_on_gpu(config, made);
    if (status != CROWD_NMS_OK && config.backend == BackendChoice::cuda)
      return status;
    if (status != CROWD_NMS_OK)
      gpu = GpuOutcome::refused;
  }
  many_ = std::move(made);
  return CROWD_NMS_OK;
}

CrowdNmsStatus Backends::run_batch(const Config& config, const CandidateBatch& batch, std::uint32_t max_survivors,
                                   bool with_representatives, std::span<Result> results) {
  Result all;
  if (const CrowdNmsStatus status = prepare_batch(config, batch, all.gpu); status != CROWD_NMS_OK)
    return status;
  const std::size_t places = std::size_t{batch.frames()} * batch.capacity();
  if (!make_room(places))
    return fail_for_memory(places);
  reports_.assign(batch.frames(), {});
  Call call = {.input = batch.view(), .output = {}, .total = batch.total()};
  call.output = output_of(config, call.input, max_survivors, with_representatives, reports_.data());
  if (const CrowdNmsStatus status = run_call(config, many_, call, all); status != CROWD_NMS_OK)
    return status;
  for (std::size_t f = 0; f < batch.frames(); ++f) {
    Result& result =
        results[f] = {.verdict = {}, .report = reports_[f], .backend = all.backend, .time = all.time / batch.frames()};
    result.report.candidates += batch.missing(f);
    result.report.overflow += batch.missing(f);
    fill_verdict(call, f, batch.count(f), result);
  }
  results.front().gpu = all.gpu;
  return CROWD_NMS_OK;
}

}  // namespace crowd
