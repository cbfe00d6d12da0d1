// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/device_overlay.hpp"

namespace crowd::draw {

struct DeviceOverlay::State {};

bool DeviceOverlay::is_available() {
  return false;
}

DeviceOverlay::DeviceOverlay() = default;

DeviceOverlay::~DeviceOverlay() = default;

DeviceOutcome DeviceOverlay::draw(GstBuffer*, const GstVideoInfo&, const Style&, const Detections&) {
  return DeviceOutcome::failed;
}

const char* DeviceOverlay::problem() const {
  return "this build has no CUDA";
}

}  // namespace crowd::draw
