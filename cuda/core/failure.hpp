// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include "crowd/nms.h"

namespace crowd {

/// Stores the reason for crowd_nms_last_error() of this thread and returns `status`. Truncates at 511 bytes.
[[gnu::format(printf, 2, 3)]] CrowdNmsStatus fail(CrowdNmsStatus status, const char* format, ...);

}  // namespace crowd
