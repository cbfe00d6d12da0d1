// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "callers.hpp"

namespace crowd::trace {
namespace {

constexpr std::string_view decoder_library = "nvcuvid";

}  // namespace

std::string caller_named(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const std::string_view name = file.substr(0, file.find(".so"));
  if (name.starts_with("libgstcrowd") || name == "libcrowdnms")
    return "ours";
  if (name == "libnvcuvid")
    return std::string(decoder_library);
  constexpr std::string_view plugin = "libgst";
  const bool is_library = name.ends_with("-1.0");
  return name.starts_with(plugin) && !is_library ? std::string(name.substr(plugin.size())) : std::string();
}

const Place* caller_of(std::span<const Place* const> stack) {
  const Place* decoder = nullptr;
  for (const Place* place : stack) {
    if (place->caller == decoder_library)
      decoder = decoder ? decoder : place;
    else if (!place->caller.empty())
      return place;
  }
  return decoder;
}

}  // namespace crowd::trace
