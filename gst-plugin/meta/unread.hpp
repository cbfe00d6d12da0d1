// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detections that no adapter reads, so that crowdnms clusters nothing although its user sees something to cluster.
#pragma once

#include <gst/gst.h>

#include "meta/adapter.hpp"

namespace crowd::meta {

/// What a frame without candidates carries that looks like detections, and what helps, in whole sentences; null if that
/// is nothing. `wanted`: the kind that is read; others are left alone on purpose.
const char* unread_detections(GstBuffer* buffer, KindId wanted);

}  // namespace crowd::meta
