// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A copy on the device as kernels make it, which CUDA does not look into: memory may be of any context of the device.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace crowd::test {

/// `count` floats.
cudaError_t copy_by_kernel(void* to, const void* from, std::size_t count, cudaStream_t stream);

}  // namespace crowd::test
