// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From the tensors of a frame to candidates.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deviceoutcome.hpp"
#include "cluster/stream.hpp"
#include "meta/candidatewriter.hpp"
#include "tensordec/frametensors.hpp"
#include "tensordec/settings.hpp"
#include "tensordec/tensordecoder.hpp"
#include "tensors/decode.hpp"

namespace crowd {

/// What became of a frame's tensors.
struct DecodedFrame {
  DeviceReport report{};  ///< dropped with the reason where they cannot be decoded
  /// None of a frame without tensors. Their memory is null if there was none for them.
  std::optional<CandidateWriter::Written> candidates{};
  bool found_before = false;  ///< the frame has the objects of its tensors already, by a decoder of another project
};

class FrameDecoder {
 public:
  /// `pad`: that frames leave by.
  FrameDecoder(GstPad* pad, TensorFinder finder) : finder_(std::move(finder)), writer_(pad) {}

  /// The tensors are looked for on `input`, and whether they have been decoded before on `frame`, which is made of it.
  DecodedFrame decode(GstBuffer* frame, GstBuffer* input, const TensorDecSettings& settings, const NmsStream& stream);

  /// Of the last frame.
  const FrameTensors& found() const {
    return finder_.found();
  }

  /// Whether boxes of the last frame are those of GStreamer's decoder, also as to what they suppress.
  bool is_stock(const TensorDecSettings& settings) const;

 private:
  DecodedFrame decode_on_device(const TensorDecSettings& settings);
  DecodedFrame decode_on_host(GstBuffer* frame, const TensorDecSettings& settings);
  std::string find_boxes(const TensorDecSettings& settings);

  TensorFinder finder_;
  TensorDecoder decoder_;
  CandidateWriter writer_;
  std::vector<tensors::RawBox> boxes_;
};

}  // namespace crowd
