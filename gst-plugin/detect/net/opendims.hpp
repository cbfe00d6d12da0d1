// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX files that name a size of picture or of batch though their network takes any, as exporters leave them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crowd::net {

/// The model with a batch, a width and a height of any size: sizes of inputs but for the channels are opened, those of
/// outputs left out. Inputs that have values in the file are constants. Nothing where it is no whole ONNX file, or its
/// weights are in files of their own. What the network does inside is as it was: only a run shows whether it can.
std::optional<std::string> with_open_dims(std::string_view model, bool planar);

}  // namespace crowd::net
