// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms does between an adapter's read() and its write(), by the public C API.
#pragma once

#include <crowd/nms.h>

#include <memory>
#include <vector>

#include "input.hpp"
#include "meta/adapter.hpp"

namespace crowd::fuzz {

class Clusters {
 public:
  Clusters(const meta::Candidates& candidates, float overlap_threshold)
      : survivors_(candidates.boxes.size()),
        members_(candidates.boxes.size()),
        representatives_(candidates.boxes.size(), CROWD_NMS_NONE),
        places_(candidates.boxes.size(), meta::place_rejected) {
    CrowdNmsParams params;
    crowd_nms_params_init(&params);
    params.overlap_threshold = overlap_threshold;
    run(params, candidates);
    fill_places();
  }

  meta::Verdict verdict() const {
    return {.survivors = {survivors_.data(), report_.survivors},
            .members = {members_.data(), report_.survivors},
            .representatives = representatives_,
            .places = places_};
  }
  const CrowdNmsReport& report() const {
    return report_;
  }

 private:
  void run(const CrowdNmsParams& params, const meta::Candidates& candidates) {
    const auto n = static_cast<std::uint32_t>(candidates.boxes.size());
    CrowdNmsCandidates input{};
    input.boxes = candidates.boxes.data();
    input.scores = candidates.scores.data();
    input.classes = candidates.classes.data();
    input.counts = &candidates.count;
    input.frames = 1;
    input.capacity = n;
    const CrowdNmsSurvivors output = {
        survivors_.data(), members_.data(), representatives_.data(), &report_, n, 0, nullptr, nullptr, {}};
    CrowdNmsSession* session = nullptr;
    require(crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, nullptr, 1, n, &session) == CROWD_NMS_OK,
            "there is a session");
    const CrowdNmsStatus status = crowd_nms_session_run(session, &params, &input, &output);
    crowd_nms_session_free(session);
    require(status == CROWD_NMS_OK, "what an adapter reads can be clustered");
  }

  void fill_places() {
    for (std::size_t i = 0; i < representatives_.size(); i++)
      if (representatives_[i] < representatives_.size())
        places_[i] = meta::place_suppressed;
    for (std::uint32_t rank = 0; rank < report_.survivors; rank++)
      places_[survivors_[rank]] = static_cast<std::int32_t>(rank);
  }

  std::vector<std::uint32_t> survivors_, members_, representatives_;
  std::vector<std::int32_t> places_;
  CrowdNmsReport report_{};
};

}  // namespace crowd::fuzz
