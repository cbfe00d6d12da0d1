// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The rows of engines(), each defined where its engine is.
#pragma once

#include "detect/net/engine.hpp"

namespace crowd::net {

EngineRow onnxruntime_row();
EngineRow opencv_row();

}  // namespace crowd::net
