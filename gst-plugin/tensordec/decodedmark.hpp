// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which tensors of a frame have been decoded, so that none is decoded by two elements, and each object found twice.
#pragma once

#include <gst/gst.h>

#include <string>

namespace crowd {

/// `data`: of the tensor, which copies of the tensor share. The name of the element that has decoded it; empty if none
/// has.
std::string decoder_of(GstBuffer* frame, GstBuffer* data);

/// `frame` is writable, `decoder` the name of the element. Copies of the frame are marked as well.
void mark_decoded(GstBuffer* frame, GstBuffer* data, const char* decoder);

}  // namespace crowd
