// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime on a CUDA device; only in builds with CUDA.
#pragma once

#include <memory>
#include <string>

#include "detect/net/engine.hpp"

namespace crowd::net {

/// EngineRow::make_device.
std::unique_ptr<DeviceEngine> make_ort_device_engine(const EngineModel& model, int device, std::string& problem);

}  // namespace crowd::net
