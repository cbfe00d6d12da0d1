// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/devicepeople.hpp"

namespace crowd {

struct DevicePeople::State {
  std::string problem = "this build has no CUDA";
};

bool DevicePeople::is_available() {
  return false;
}

DevicePeople::DevicePeople() : state_(std::make_unique<State>()) {}

DevicePeople::~DevicePeople() = default;

DeviceOutcome DevicePeople::find(GstBuffer*, const GstVideoInfo&, const Search&, guint, MemoryRef&) {
  return DeviceOutcome::failed;
}

const std::string& DevicePeople::problem() const {
  return state_->problem;
}

}  // namespace crowd
