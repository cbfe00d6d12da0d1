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

  /// Survivors on the host, once await() has returned. They live until the second next to_host().
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
  static bool is_alive(const void* array);

  /// Enqueues the clustering of `candidates`, mapped as device pointers. prepare() must have succeeded for the call.
  CrowdNmsStatus run(const Call& call, const GstCrowdBoxesMap& candidates, CUstream_st* stream);

  /// After run(): enqueues the writing of survivors into `survivors`, mapped as device pointers, whose capacity is at
  /// least the call's room. With `count`, the frame is added to the totals.
  CrowdNmsStatus to_device(const GstCrowdBoxesMap& survivors, bool count);

  /// After run(): enqueues the writing of survivors to the host. Two frames may be on their way.
  CrowdNmsStatus to_host();

  /// Waits for the oldest frame that to_host() sent and has not been waited for.
  CrowdNmsStatus await(HostSurvivors& survivors);

  /// Gives up the frames that to_host() sent and nobody waited for.
  void forget();

  /// Of all frames since forget_totals(), as far as the device got. Any thread, no context needed.
  CrowdNmsTotals totals() const;
  /// After release().
  void forget_totals();

  /// Why the last call failed.
  const std::string& problem() const;
  void set_problem(const char* problem);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace crowd
