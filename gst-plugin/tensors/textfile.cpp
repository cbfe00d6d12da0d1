// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/textfile.hpp"

#include <glib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace crowd::tensors {

std::optional<std::string> read_text(const std::string& path, const char* what, std::size_t max_bytes,
                                     std::string& problem) {
  const std::string name = std::string(what) + " " + shortened(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::is_regular_file(status)) {
    const bool exists = !error && std::filesystem::exists(status);
    problem = name + (exists ? " is not a file" : " cannot be read: " + error.message()) + "; check the path";
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(max_bytes + 1, '\0');
  errno = 0;
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    problem = name + " cannot be read: " + std::strerror(errno ? errno : EIO) + "; check the path and its rights";
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_bytes) {
    problem = name + " is larger than " + std::to_string(max_bytes >> 10) + " KiB, which none is: check the path";
    return std::nullopt;
  }
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr)) {
    problem = name + " is not a text in UTF-8: check the path, or convert it";
    return std::nullopt;
  }
  return text;
}

std::string shortened(const std::string& text) {
  constexpr long max_length = 200;
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr))
    return "(not UTF-8)";
  if (g_utf8_strlen(text.data(), static_cast<gssize>(text.size())) <= max_length)
    return text;
  return text.substr(0, static_cast<std::size_t>(g_utf8_offset_to_pointer(text.data(), max_length) - text.data())) +
         "...";
}

}  // namespace crowd::tensors
