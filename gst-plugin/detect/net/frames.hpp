// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's frames as pictures, and descriptions as encodings of inputs.
#pragma once

#include <gst/video/video.h>

#include "base/shownpart.hpp"
#include "detect/net/crop.hpp"
#include "detect/net/fill.hpp"
#include "detect/net/tiles.hpp"
#include "tensors/description.hpp"

namespace crowd::net {

/// The part of a mapped frame, on the host or on a device, as its colorimetry says. Valid while it is mapped.
Picture picture_of(const GstVideoFrame& frame, const ShownPart& part);

Encoding encoding_of(const tensors::Input& input, int width, int height);

/// Of the batch that a plan makes.
tensors::Dims batch_dims(const tensors::Input& input, const TilePlan& plan);
std::size_t batch_bytes(const tensors::Input& input, const TilePlan& plan);

}  // namespace crowd::net
