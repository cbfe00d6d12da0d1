// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What DeviceNms has the device do: the kernels of a frame, and the copy of its survivors to the host. Not thread-safe
// but for totals() and times(): it belongs to a streaming thread. The CUDA context of the candidates is current in
// every call.
#pragma once

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <cstdint>
#include <memory>

#include "base/deviceoutcome.hpp"
#include "cluster/device_nms.hpp"

struct CUstream_st;

namespace crowd {

/// What an error of the CUDA runtime means for a frame.
FrameReport frame_report(DeviceReport report);

class DeviceWork {
 public:
  /// What a frame is clustered with.
  struct Call {
    CrowdNmsParams params;       ///< with paper_d_max filled in
    std::uint32_t capacity = 0;  ///< max candidates that are looked at
    std::uint32_t room = 0;      ///< max survivors that are handed out
  };

  /// Survivors on the host, once wait() has returned. They live until the second next submit() to the host.
  struct HostSurvivors {
    meta::Candidates boxes;  ///< the survivors alone, in rank order
    meta::Verdict verdict;   ///< all of them survive
    CrowdNmsReport report{};
  };

  DeviceWork();
  ~DeviceWork();
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  /// Makes room for the call; nothing where there is room. Otherwise it allocates, which waits for the device.
  FrameReport prepare(const Call& call);

  /// Frees everything but the totals.
  void release();

  /// Whether an array that a meta names is memory of the current device: broken if not. The owner may have freed it
  /// while the meta lives.
  static FrameReport check_alive(const void* array);

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
  FrameReport submit(const Call& call, const GstCrowdBoxesMap& candidates, const Destination& destination,
                     CUstream_st* stream);

  /// Waits for the oldest frame that is on its way to the host.
  FrameReport wait(HostSurvivors& survivors);

  /// Gives up the frames that are on their way to the host.
  void forget();

  /// See DeviceNms. No context needed.
  CrowdNmsTotals totals() const;
  DeviceNms::Times times() const;
  void forget_totals();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace crowd
