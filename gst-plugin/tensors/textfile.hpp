// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Text files of others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace crowd::tensors {

/// What a file of UTF-8 without null characters holds, of at most so many bytes. Nothing, with the reason and remedy,
/// where it cannot be read or is none; `what` names its kind, as in "the description".
std::optional<std::string> read_text(const std::string& path, const char* what, std::size_t max_bytes,
                                     std::string& problem);

/// For messages: not longer than a line.
std::string shortened(const std::string& text);

}  // namespace crowd::tensors
