// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/failure.hpp"

#include <cstdarg>
#include <cstdio>

namespace crowd {

namespace {

thread_local char last_error[512] = "";

}  // namespace

CrowdNmsStatus fail(CrowdNmsStatus status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace crowd

const char* crowd_nms_last_error(void) {
  return crowd::last_error;
}
