// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// DeviceNms of a build in which there are no device memories. Nothing but release() and totals() is ever called.

#include "nms/nmsdevice.hpp"

namespace crowd {

struct DeviceNms::State {
  std::string problem = "this build has no CUDA";
};

DeviceNms::DeviceNms() : state_(std::make_unique<State>()) {}

DeviceNms::~DeviceNms() = default;

CrowdNmsStatus DeviceNms::prepare(const Call&) {
  return CROWD_NMS_NO_GPU;
}

void DeviceNms::release() {}

std::optional<bool> DeviceNms::is_alive(const void*) {
  return std::nullopt;
}

CrowdNmsStatus DeviceNms::enqueue(const Call&, const GstCrowdBoxesMap&, const Destination&, CUstream_st*) {
  return CROWD_NMS_NO_GPU;
}

CrowdNmsStatus DeviceNms::await(HostSurvivors&) {
  return CROWD_NMS_NO_GPU;
}

void DeviceNms::forget() {}

CrowdNmsTotals DeviceNms::totals() const {
  return {};
}

DeviceNms::Times DeviceNms::times() const {
  return {};
}

void DeviceNms::forget_totals() {}

const std::string& DeviceNms::problem() const {
  return state_->problem;
}

void DeviceNms::set_problem(const char* problem) {
  state_->problem = problem;
}

CrowdNmsStatus DeviceNms::set_no_memory(const char*) {
  return CROWD_NMS_NO_GPU;
}

}  // namespace crowd
