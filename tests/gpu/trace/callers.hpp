// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace crowd::trace {

/// A place in a program that calls others.
struct Place {
  std::string caller;  ///< "ours", the name of a GStreamer plugin, "nvcuvid", or "": none
  std::string where;   ///< file+0xoffset
};

/// The caller that the code of a shared object is counted to. GStreamer's libraries, the driver's and the toolkit's are
/// none: they work for their own callers.
std::string caller_named(std::string_view path);

/// Who calls, given the stack from the inside out. A pad pushes from inside its chain function, so the first counts.
/// The decoder's library counts only in threads of its own. Null: none known.
const Place* caller_of(std::span<const Place* const> stack);

}  // namespace crowd::trace
