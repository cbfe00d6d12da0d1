// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** regions.hpp: regions of interest as detections to draw. */
#pragma once

#include <gst/gst.h>

#include <vector>

#include "overlay/draw/detections.hpp"

namespace crowd::draw {

/** The regions of one buffer; detections.hpp says which are detections and which are kept. */
class Regions {
 public:
  /** `marked_stream`: whether a region of an earlier buffer said whether it is kept. */
  Regions(GstBuffer* buffer, const ShownFrame& frame, bool marked_stream);

  /** The same, with this buffer's. */
  bool marked_stream() const {
    return marked_stream_;
  }

  /** What is not listed, or is not listed as a survivor, and why; null: nothing. */
  const char* problem() const {
    return problem_;
  }

  /** Appends those that are kept and those that are not. Throws std::bad_alloc. */
  void list(std::vector<Detection>& survivors, std::vector<Detection>& candidates) const;

 private:
  void count();
  void find_place(const ShownFrame& frame);

  GstBuffer* buffer_;
  bool marked_stream_;
  bool marks_needed_ = false;  ///< of this buffer: a region without a mark is not kept
  bool left_out_ = false;      ///< their places are not known
  double shift_x_ = 0, shift_y_ = 0;
  unsigned detections_ = 0, marked_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace crowd::draw
