// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an element reports of a user's frames and settings while it goes on: one warning on the bus, where applications
// see it, and not one a frame. Header only, for every plugin.
#pragma once

#include <gst/gst.h>

#include <cstdarg>
#include <utility>

namespace crowd {

/// Posted once from start to stop. For one thread at a time, which does not hold the element's object lock.
class RunWarning {
 public:
  /// Whether it is still to be posted, for callers that have to look for the cause.
  bool is_due() const {
    return !posted_;
  }

  /// The text is whole sentences, with what helps; `domain` and `code` as of GST_ELEMENT_WARNING().
  void post(gpointer element, GQuark domain, int code, const char* format, ...) G_GNUC_PRINTF(5, 6) {
    if (std::exchange(posted_, true))
      return;
    va_list arguments;
    va_start(arguments, format);
    gchar* text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    gst_element_message_full(GST_ELEMENT(element), GST_MESSAGE_WARNING, domain, code, text, nullptr, __FILE__,
                             GST_FUNCTION, __LINE__);
  }

  /// From here on it is due again.
  void rearm() {
    posted_ = false;
  }

 private:
  bool posted_ = false;
};

}  // namespace crowd
