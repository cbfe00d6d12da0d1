// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The parts that work on device memory. Each is an interface in a header that every build has, and a source file with
// Interface::make() that only builds with CUDA and gst/cuda have.
#pragma once

#include <memory>
#include <utility>

#ifndef CROWD_HAVE_GST_CUDA
#error "crowd_device_dep of gpu/meson.build says whether this build has gst/cuda: add it to the dependencies"
#endif

namespace crowd {

/// Whether this build knows device memories.
inline constexpr bool built_with_gst_cuda = CROWD_HAVE_GST_CUDA;

/// A new part; null in a build that knows no device memories.
template <typename Interface, typename... Arguments>
std::unique_ptr<Interface> make_device_part([[maybe_unused]] Arguments&&... arguments) {
  if constexpr (built_with_gst_cuda)
    return Interface::make(std::forward<Arguments>(arguments)...);
  else
    return nullptr;
}

}  // namespace crowd
