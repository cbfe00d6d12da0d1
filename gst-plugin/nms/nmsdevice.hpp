// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS of candidates that lie in device memory, their number included: what crowdnms does where nothing has to reach the
// host, or the survivors alone. Not thread-safe but for totals(): it belongs to a streaming thread. The CUDA context of
// the candidates is current in every call.
#pragma once

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "meta/adapter.hpp"

struct CUstream_st;

namespace crowd {

class DeviceNms {
 public:
  /// What a frame is clustered with.
  struct Call {
    CrowdNmsParams params;       ///< with paper_d_max filled in
    std::uint32_t capacity = 0;  ///< most candidates that are looked at
    std::uint32_t room = 0;      ///< most survivors that are handed out
  };

  /// Survivors on the host, once await() has returned. They live until the second next enqueue() to the host.
  struct HostSurvivors {
    meta::Candidates boxes;  ///< the survivors alone, in rank order
    meta::Verdict verdict;   ///< all of them survive
    CrowdNmsReport report{};
  };

  DeviceNms();
  ~DeviceNms();
  DeviceNms(const DeviceNms&) = delete;
  DeviceNms& operator=(const DeviceNms&) = delete;

  /// Makes room for the call; nothing where there is room. Otherwise it allocates, which waits for the device.
  CrowdNmsStatus prepare(const Call& call);

  /// Frees everything but the totals.
  void release();

  /// Whether an array that a meta names is memory of the current device. A meta outlives what somebody else frees.
  /// Nothing if CUDA fails to say.
  std::optional<bool> is_alive(const void* array);

  /// Where survivors go. Either, or both.
  struct Destination {
    /// Mapped as device pointers, with a capacity of at least the call's room; null: nowhere on the device.
    const GstCrowdBoxesMap* device = nullptr;
    bool host = false;  ///< two frames may be on their way there
    bool count = true;  ///< whether the frame is added to the totals
  };

  /// Enqueues the clustering of `candidates`, mapped as device pointers, and the writing of survivors. prepare() must
  /// have succeeded for the call. All but the first are launched as one CUDA graph each, if they can be: recorded where
  /// the memories or the call are new, which costs more than launching, and kept for when they come back, as they do
  /// where memories are from pools.
  CrowdNmsStatus enqueue(const Call& call, const GstCrowdBoxesMap& candidates, const Destination& destination,
                         CUstream_st* stream);

  /// Waits for the oldest frame that is on its way to the host.
  CrowdNmsStatus await(HostSurvivors& survivors);

  /// Gives up the frames that are on their way to the host.
  void forget();

  /// Of all frames since forget_totals(), as far as the device got. Any thread, no context needed.
  CrowdNmsTotals totals() const;

  /// How long the device worked on those frames that it was timed at, one in sixteen. The time of a frame is known from
  /// the frame behind it or release() on, since only there a context is current to ask in.
  struct Times {
    std::uint64_t frames = 0;  ///< that were timed
    GstClockTime total = 0;
  };
  /// Since forget_totals(). Any thread, no context needed.
  Times times() const;

  /// After release().
  void forget_totals();

  /// Why the last call failed.
  const std::string& problem() const;
  void set_problem(const char* problem);
  /// The same, of memory that the caller could not get. Returns what it means: a context that is lost gives none
  /// either.
  CrowdNmsStatus set_no_memory(const char* problem);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace crowd
