// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detectwarnings.hpp: what crowddetect warns of while it goes on. */
#pragma once

#include <cstddef>
#include <string>

#include "base/runwarning.hpp"

namespace crowd {

/** Each is posted once from start to stop; further ones are counted in stats, by the element. */
class DetectWarnings {
 public:
  /** Posts as `element`, which outlives it. */
  explicit DetectWarnings(gpointer element) : element_(element) {}

  /** What Detector::slow_because() says, unless that is nothing. */
  void warn_slow(const std::string& cause);
  /** What Detector::vain_because() says, unless that is nothing. */
  void warn_vain(const std::string& problem);
  /** Why a frame was not searched, and what helps; nothing if it was. */
  void warn_failure(const std::string& failure);
  /** `kept` candidates of `found` ones are handed on. */
  void warn_overflow(std::size_t found, std::size_t kept);
  /** Frames already carried candidates. */
  void warn_replaced();

 private:
  gpointer element_;
  RunWarning slow_, vain_, failure_, overflow_, replaced_;
};

}  // namespace crowd
