// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend, to the functions that have checked a call.
#pragma once

#include <cstddef>

#include "crowd/nms.h"

namespace crowd::cpu {

/// crowd_nms_cpu() of arguments that have passed check_call(), within FloatingPointModes.
CrowdNmsStatus run_checked(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                           const CrowdNmsSurvivors& survivors, void* workspace, std::size_t bytes);

}  // namespace crowd::cpu
