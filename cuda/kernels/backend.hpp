// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend, to the functions that have checked a call.
#pragma once

#include <cstddef>

#include "crowd/nms.h"

namespace crowd::cuda {

/// crowd_nms_cuda() of arguments that have passed check_call(), within FloatingPointModes. `gather`: null, or what has
/// passed check_gathered() and is gathered as well if the call's own kernels can. is_gathered says whether they do.
CrowdNmsStatus run_checked(const CrowdNmsParams& params, const CrowdNmsCandidates& candidates,
                           const CrowdNmsSurvivors& survivors, void* workspace, std::size_t bytes, CUstream_st* stream,
                           const CrowdNmsGathered* gather = nullptr, bool* is_gathered = nullptr);

/// Whether crowd_nms_cuda_gather() takes these arguments.
CrowdNmsStatus check_gathered(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors,
                              const CrowdNmsGathered* gathered);

}  // namespace crowd::cuda
