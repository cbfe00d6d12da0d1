// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How elements agree, by the ALLOCATION query, that boxes stay in device memory: gstcrowdboxesmeta.h has the words.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <initializer_list>

namespace crowd::meta {

inline constexpr char candidates_on_device[] = "candidates-on-device";
inline constexpr char survivors_on_device[] = "survivors-on-device";

/// Puts GstCrowdBoxesMeta into the answer to an ALLOCATION query, with these fields set to TRUE, in place of what an
/// element further downstream said.
void advertise_boxes(GstQuery* query, std::initializer_list<const char*> fields);

/// What downstream reads in device memory, asked where it may have changed. For one thread, but for reconfigure().
class DownstreamCaps {
 public:
  /// Whether the peer of `pad`, an always-in-place element's source pad, whose base class does not ask, wants `field`.
  /// The same field each time.
  bool wants(GstPad* pad, const char* field);

  /// What downstream reads may be different from here on. Any thread.
  void reconfigure() {
    asked_ = false;
  }

 private:
  std::atomic<bool> asked_ = false;
  bool wanted_ = false;
};

}  // namespace crowd::meta
