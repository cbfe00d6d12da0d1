// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the library says of a failure, in the words of crowdnms' users.
#pragma once

#include <crowd/nms.h>

#include <string>
#include <string_view>

namespace crowd {

/// The text with the properties of crowdnms, as they are typed, in place of the fields of the C structs.
std::string with_property_names(std::string_view text);

/// Why the library's last call of this thread returned `status`, likewise; `reason` is what it says itself.
std::string library_problem(CrowdNmsStatus status, std::string_view reason = crowd_nms_last_error());

}  // namespace crowd
