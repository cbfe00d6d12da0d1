// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which tensors of a frame have been decoded, so that none is decoded by two elements, and each object found twice.
#pragma once

#include <gst/gst.h>

#include <string>

namespace crowd {

/// `tensor`: any address that stands for it while the frame has it. The name of the element that has decoded it; empty
/// if none has.
std::string decoder_of(GstBuffer* frame, gconstpointer tensor);

/// The frame is writable. Copies of it have no mark, as their tensors are others.
void mark_decoded(GstBuffer* frame, gconstpointer tensor, GstObject* element);

}  // namespace crowd
