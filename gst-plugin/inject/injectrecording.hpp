// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The recording that crowdinject is set to inject.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "inject/gstcrowdinjectsettings.hpp"
#include "inject/scene/source.hpp"

namespace crowd::inject {

/// Reads settings.location. What does not fit is posted as `element`: a warning, or an error where there is nothing to
/// return. Throws std::bad_alloc.
std::optional<scene::Source> open_recording(GstElement* element, const Settings& settings, guint64& skipped_lines);

/// Names of classes for a GstCrowdBoxesMeta (transfer full): the settings', else `own`; null if there are none.
GPtrArray* new_labels(const Settings& settings, const std::vector<std::string>& own);

}  // namespace crowd::inject
