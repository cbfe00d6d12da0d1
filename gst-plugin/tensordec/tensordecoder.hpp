// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tensors of frames to candidates.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/memorypool.hpp"
#include "gpu/parts.hpp"
#include "meta/adapter.hpp"
#include "tensordec/devicetensors.hpp"
#include "tensordec/frametensors.hpp"
#include "tensordec/stockrule.hpp"
#include "tensors/decoder.hpp"

namespace crowd {

/// For one thread.
class TensorDecoder {
 public:
  /// What the tensors of the frames from here on are decoded for. Empty, or why they cannot be, and what helps.
  std::string prepare(const FrameTensors& tensors, const meta::FrameSize& frame);

  /// Whether all tensors lie in device memory, in one piece each, and this build decodes them there.
  bool can_decode_on_device(const FrameTensors& tensors) const;

  /// After prepare(): appends the candidates to `boxes`. Empty, or why not, and what helps.
  std::string decode(const FrameTensors& tensors, const tensors::DecodeSettings& settings,
                     std::vector<tensors::RawBox>& boxes);

  /// Whether GStreamer has a decoder for the layout that was prepared for, whose rule select() follows.
  bool has_stock_rule() const {
    return rule_ != nullptr;
  }

  /// After prepare(), where has_stock_rule(): fills `kept` with what that decoder keeps, see stockrule.hpp. Empty, or
  /// why not, and what helps.
  std::string select(const FrameTensors& tensors, StockSettings settings, std::vector<tensors::RawBox>& kept);

  /// After prepare(), where can_decode_on_device(): leaves them in `candidates`.
  DeviceReport decode_on_device(const FrameTensors& tensors, const DeviceTensors::Settings& settings,
                                MemoryRef& candidates);

 private:
  class MappedData;

  std::string map(const FrameTensors& tensors, std::vector<MappedData>& maps);
  bool is_prepared(const FrameTensors& tensors, const meta::FrameSize& frame) const;
  void plan_for(const FrameTensors& tensors, const meta::FrameSize& frame);

  const TensorNetwork* network_ = nullptr;
  guint frame_width_ = 0, frame_height_ = 0;
  std::vector<GQuark> ids_;
  TensorPlan plan_;
  std::string problem_;
  std::unique_ptr<tensors::Decoder> decoder_;
  std::unique_ptr<StockRule> rule_;
  std::vector<tensors::Tensor> outputs_;
  std::vector<GstMemory*> memories_;
  std::unique_ptr<DeviceTensors> on_device_ = make_device_part<DeviceTensors>();
};

}  // namespace crowd
