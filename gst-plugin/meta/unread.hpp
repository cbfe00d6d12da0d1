// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections that no adapter reads, so that crowdnms clusters nothing although its user sees something to cluster.
#pragma once

#include <gst/gst.h>

#include "meta/adapter.hpp"

namespace crowd::meta {

struct Unread {
  const char* problem;  ///< and what helps, in whole sentences; null if there is nothing
  bool sure;            ///< else tensors, which a decoder that leaves no trace may have read and found nothing in
};

/// What a frame without candidates carries that looks like detections. `kind`: that is read; others are left alone on
/// purpose. Tensors are nothing where a decoder has left its mark or a relation meta on the frame.
Unread unread_detections(GstBuffer* buffer, KindId kind);

}  // namespace crowd::meta
