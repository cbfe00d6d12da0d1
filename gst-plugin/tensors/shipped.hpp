// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where descriptions are found.
#pragma once

#include <set>
#include <string>

namespace crowd::tensors {

/// The path of a description: `name` itself where it has a slash or ends in .modelinfo, else NAME.modelinfo in the
/// first of these folders that has it: $GST_CROWD_LAYOUTS, gst-crowd/layouts in the XDG data folders of the user and of
/// the system, and in the datadir of the build. Empty, with the reason and the names that there are, where there is
/// none.
std::string find_description(const std::string& name, std::string& problem);

/// The names in all of these folders.
std::set<std::string> description_names();

}  // namespace crowd::tensors
