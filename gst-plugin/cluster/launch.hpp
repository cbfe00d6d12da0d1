// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernels of a frame.
#pragma once

#include <crowd/nms.h>

#include <array>
#include <cstddef>

namespace crowd {

/// All parameters of the kernels of a frame.
struct LaunchKey {
  CrowdNmsParams params;
  CrowdNmsCandidates candidates;
  CrowdNmsSurvivors survivors;
  std::array<CrowdNmsGathered, 2> gathered;  ///< of each that has no counts, nothing is gathered

  bool operator==(const LaunchKey& other) const;
};

/// Launches what `key` says, kernel by kernel.
CrowdNmsStatus launch_kernels(const LaunchKey& key, void* workspace, std::size_t workspace_bytes, CUstream_st* stream);

}  // namespace crowd
