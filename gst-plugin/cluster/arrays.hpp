// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What rules and methods read of candidates beside boxes, scores and classes.
#pragma once

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesarrays.h>

#include <cstdint>
#include <string>

#include "meta/adapter.hpp"

namespace crowd {

/// Those of GstCrowdBoxesArrays that these params read, or-ed.
guint arrays_read(const CrowdNmsParams& params);

/// Why candidates with these arrays cannot be clustered, with the remedy; empty if they can.
std::string problem_of_arrays(const CrowdNmsParams& params, guint arrays);

/// Candidates whose density or features, if these are read, are or have a NaN.
std::uint32_t count_nan(const CrowdNmsParams& params, const meta::Candidates& candidates);

/// Candidates of a model that has no weight, if models have weights: the library takes them for invalid.
std::uint32_t count_unknown_models(const CrowdNmsParams& params, const meta::Candidates& candidates);

}  // namespace crowd
