// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** device_overlay.hpp: the detections of a buffer, drawn into its frame in device memory. */
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "base/deviceoutcome.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay/draw/detections.hpp"

namespace crowd::draw {

/**
 * For one thread. Boxes in device memory are drawn from there; those that the metadata has on the host are sent there
 * in one copy. The host does not wait: the drawing is ordered on the frame's stream, and on that of the boxes, if it is
 * another. The exception are names of classes that are new: they are uploaded, which waits for the device. Names of
 * detections on the host stay known, see labels.hpp; those of survivors in device memory are known while these have the
 * same ones.
 */
class DeviceOverlay {
 public:
  /** See gpu/parts.hpp. */
  static std::unique_ptr<DeviceOverlay> make();

  virtual ~DeviceOverlay() = default;

  /** Draws what `detections` has read from `buffer`, which is writable, whose frame is in device memory and described
   * by `info`. Throws std::bad_alloc. */
  [[nodiscard]] virtual DeviceReport draw(GstBuffer* buffer, const GstVideoInfo& info, const Style& style,
                                          const Detections& detections) = 0;
};

}  // namespace crowd::draw
