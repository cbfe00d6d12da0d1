// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

namespace crowd {

/** What the elements of gst-crowd in a pipeline could not do, by their own account. */
class Losses {
 public:
  /** Adds what `stats` tells of an element that `factory` made; does nothing if that is none of ours. */
  void add(const std::string& factory, const std::string& name, const GstStructure* stats);

  /** Whether there were elements to ask. */
  bool known() const {
    return known_;
  }

  /** `12 frames not searched (crowddetect0), 6 frames not drawn (crowdoverlay0)`, or `nothing`. */
  std::string text() const;

  /** Names of the elements that failed on every frame they got, and got one. */
  const std::vector<std::string>& failed() const {
    return failed_;
  }

 private:
  bool known_ = false;
  std::string text_;
  std::vector<std::string> failed_;
};

/** Of all elements of the pipeline, from source to sink. */
Losses read_losses(GstBin* pipeline);

}  // namespace crowd
