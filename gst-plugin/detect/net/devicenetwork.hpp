// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A network on a device: frames in CUDA memory in, candidates in CUDA memory out. See gpu/parts.hpp.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"
#include "detect/net/choice.hpp"
#include "detect/net/tiles.hpp"
#include "tensors/decoder.hpp"

namespace crowd::net {

/// For one thread. Loads the model at the first frame. Allocates and waits where the frame's size or context, or the
/// tiles, are not those of the frame before, and allocates for a pair of memories, of frame and candidates, that is
/// new.
class DeviceNetwork {
 public:
  static std::unique_ptr<DeviceNetwork> make(const Choice& choice);

  virtual ~DeviceNetwork() = default;

  struct Settings {
    TileGrid tiles;
    float score_threshold;
    std::span<const std::uint32_t> classes;  ///< as DecodeSettings::classes; the same at each call
    guint capacity;
  };

  /// Leaves the candidates, a GstCrowdBoxesMeta's memory, in `candidates`, in order of the frame's stream. The host
  /// does not wait. Outcome `unusable` where the model or the engine cannot be had.
  [[nodiscard]] virtual DeviceReport find(GstBuffer* buffer, const GstVideoInfo& info, const Settings& settings,
                                          MemoryRef& candidates) = 0;
};

}  // namespace crowd::net
