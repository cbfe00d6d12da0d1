// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What becomes of a frame on the GPU, for the code that works on it and the code that reports it. C++17, for CUDA
// sources as well.
#pragma once

#include <string>

namespace crowd {

enum class DeviceOutcome {
  done,
  dropped,        ///< this frame was not done as it should be, but the next one may be
  failed,         ///< CUDA failed
  out_of_memory,  ///< the device has no memory left
  unusable,       ///< what the settings ask for cannot be had; the problem says what helps
};

/// Whether later frames would fail as well, so that the stream has to end.
constexpr bool is_fatal(DeviceOutcome outcome) {
  return outcome != DeviceOutcome::done && outcome != DeviceOutcome::dropped;
}

struct DeviceReport {
  DeviceOutcome outcome = DeviceOutcome::done;
  std::string problem;  ///< why it is not done
};

}  // namespace crowd
