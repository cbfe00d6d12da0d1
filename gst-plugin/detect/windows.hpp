// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * windows.hpp: OpenCV's sliding-window detectors, before any grouping.
 *
 * A finder searches an 8-bit grey image and gives every window its classifier accepts, as OpenCV's own
 * detectMultiScale() with grouping switched off does. The order is fixed (small windows first, then top to bottom, left
 * to right, then by score), although OpenCV's threads hand the windows over in any order: the same image gives the
 * same list on any number of cores.
 *
 * Finders are used from one thread at a time. They throw cv::Exception or std::bad_alloc where OpenCV does, and
 * cv::Exception where min_size would enlarge the image to more than 64 million pixels.
 */
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "base/keepbest.hpp"
#include "detect/search.hpp"

namespace crowd {

/** A window: x1 y1 x2 y2 in pixels of the image searched, half-open; the classifier's margin as score. */
struct Window {
  float x1, y1, x2, y2;
  float score;
  bool operator==(const Window&) const = default;
};

class WindowFinder {
 public:
  virtual ~WindowFinder() = default;
  /** The classifier's own window, which the image is scaled for. */
  virtual cv::Size own_window() const = 0;
  /** Height of the smallest windows of a search, pixels of the image. */
  virtual int min_height(const Search& search) const = 0;
  /** Whether an image of that size holds a window of the sizes searched for. */
  virtual bool holds_window(cv::Size image, const Search& search) const = 0;
  /** Fills `windows` with what `grey` (CV_8UC1, any size) holds: nothing if it holds no window. */
  virtual void find(const cv::Mat& grey, const Search& search, std::vector<Window>& windows) = 0;
};

/** OpenCV's people detector: HOG in windows of 64x128 with the SVM that OpenCV ships in its code. */
std::unique_ptr<WindowFinder> make_people_finder();

/** A Haar or LBP cascade from an XML file; null if OpenCV cannot read a cascade from it. */
std::unique_ptr<WindowFinder> make_cascade_finder(const std::string& path);

}  // namespace crowd
