// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cuda_runtime.h>

namespace crowd::test {

/// Makes the current context unusable, as a fault of the GPU does. Returns what CUDA says of it.
cudaError_t lose_device();

}  // namespace crowd::test
