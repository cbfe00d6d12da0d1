// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tensors in CUDA memory to candidates in CUDA memory. See gpu/parts.hpp. Takes nothing of gstreamer-analytics.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <span>
#include <vector>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"
#include "tensors/description.hpp"
#include "tensors/placement.hpp"
#include "tensors/tensor.hpp"

namespace crowd {

/// How the tensors of a network are decoded.
struct TensorPlan {
  const tensors::Description* description = nullptr;
  std::vector<tensors::TensorInfo> infos{};  ///< of the tensors
  int input_width = 0, input_height = 0;
  tensors::InputPlacement placement{};  ///< of the input in the frame
};

/// For one thread.
class DeviceTensors {
 public:
  struct Settings {
    float score_threshold, objectness_threshold;
    guint capacity;
  };

  static std::unique_ptr<DeviceTensors> make();
  virtual ~DeviceTensors() = default;

  /// Leaves what the tensors hold in `candidates`, a GstCrowdBoxesMeta's memory, in order of the first tensor's stream.
  /// The host does not wait. memories[i] is device memory with what plan.infos[i] says; it may be written again in
  /// order of its stream.
  virtual DeviceReport find(const TensorPlan& plan, std::span<GstMemory* const> memories, const Settings& settings,
                            MemoryRef& candidates) = 0;

  /// The plan of the next call is another one.
  virtual void forget_plan() = 0;
};

}  // namespace crowd
