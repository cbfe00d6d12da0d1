// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/sizerange.hpp"

#include <algorithm>

namespace crowd {

namespace {

std::string min_size_text(int min, const Search& search) {
  return search.min_size > 0 ? "min-size " + std::to_string(min) : "min-size 0, which means " + std::to_string(min);
}

// The largest min-size that the frame has room for.
int room_for_height(const WindowFinder& finder, cv::Size frame) {
  const cv::Size own = finder.own_window();
  return std::max(1, std::min(frame.height, static_cast<int>(1.0 * frame.width * own.height / own.width)));
}

}  // namespace

std::string size_range_problem(const WindowFinder& finder, cv::Size frame, const Search& search) {
  if (finder.holds_window(frame, search))
    return {};
  const int min = finder.min_height(search);
  if (search.max_size > 0 && min > search.max_size)
    return "Nothing can be found: max-size " + std::to_string(search.max_size) + " is less than " +
           min_size_text(min, search) + ". Set min-size to at most max-size, or max-size to 0.";
  return "Nothing can be found: frames of " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
         " hold no window of " + min_size_text(min, search) + ". Set min-size to at most " +
         std::to_string(room_for_height(finder, frame)) + ", or use larger frames.";
}

}  // namespace crowd
