// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether a decoder of another project has decoded a frame's tensors: it leaves no mark, but objects.
#pragma once

#include <gst/gst.h>

#include <span>

#include "tensors/decoder.hpp"

namespace crowd {

/// Whether the best-scored object of the frame's relation meta is one of these boxes, in pixels of the frame: of the
/// same score to the bit, and with edges that differ by rounding alone.
bool is_found_before(GstBuffer* frame, std::span<const tensors::RawBox> boxes);

}  // namespace crowd
