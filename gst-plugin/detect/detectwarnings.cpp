// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectwarnings.hpp"

#include "base/transform.hpp"

namespace crowd {

void DetectWarnings::warn_slow(const std::string& cause) {
  if (!cause.empty())
    slow_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "%s", cause.c_str());
}

void DetectWarnings::warn_vain(const std::string& cause) {
  if (!cause.empty())
    vain_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
               "%s Further frames are only counted, see failures in stats.", cause.c_str());
}

void DetectWarnings::warn_failure(const std::string& failure) {
  if (!failure.empty())
    failure_.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                  "A frame was not searched: %s. Further ones are only counted, see failures in stats.",
                  failure.c_str());
}

void DetectWarnings::warn_overflow(std::size_t found, std::size_t kept) {
  if (found > kept)
    overflow_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                   "%zu of the %zu candidates of a frame are not handed on, the worst-scored ones. Raise "
                   "max-candidates, or hit-threshold (score-threshold of a network) to find fewer. Further ones are "
                   "only counted, see overflow in "
                   "stats.",
                   found - kept, found);
}

void DetectWarnings::warn_replaced() {
  warn_of_replaced(element_, replaced_);
}

}  // namespace crowd
