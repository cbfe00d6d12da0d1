// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An object of a frame, as crowdoverlay and others see it that read what a detector or crowdnms left.
#pragma once

namespace crowd::meta {

struct Object {
  float x1, y1, x2, y2;  ///< pixels of what is shown, half-open; may leave the frame
  float score;           ///< a probability, or any number; NaN: none
  int class_id;          ///< negative: none
  unsigned members;      ///< candidates that this one represents; 0: unknown
  const char* label;     ///< name of the class, UTF-8, as long as the buffer's metadata; may be null
};

}  // namespace crowd::meta
