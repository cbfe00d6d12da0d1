// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectwarnings.hpp"

#include "base/transform.hpp"

namespace crowd {

void DetectWarnings::tell_stride(const Search& search) {
  if (search.win_stride % hog_cell != 0)
    stride_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 "win-stride %d is no multiple of %d, the cell of HOG, so that windows share no features: on a CPU a "
                 "frame takes some 4 times as long with 4, and 25 times with an odd number. Set win-stride=8; lower "
                 "scale-factor or min-size to find more.",
                 search.win_stride, hog_cell);
}

void DetectWarnings::tell_size_range(const std::string& problem) {
  if (!problem.empty())
    size_range_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     "%s Further frames are only counted, see failures in stats.", problem.c_str());
}

void DetectWarnings::tell_failure(const std::string& failure) {
  if (!failure.empty())
    failure_.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                  "A frame was not searched: %s. Further ones are only counted, see failures in stats.",
                  failure.c_str());
}

void DetectWarnings::tell_overflow(std::size_t found, std::size_t kept) {
  if (found > kept)
    overflow_.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                   "%zu of the %zu candidates of a frame are not handed on, the worst-scored ones. Raise "
                   "max-candidates, or hit-threshold to find fewer. Further ones are only counted, see overflow in "
                   "stats.",
                   found - kept, found);
}

void DetectWarnings::tell_replaced() {
  warn_of_replaced(element_, replaced_);
}

}  // namespace crowd
