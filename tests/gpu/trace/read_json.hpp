// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <json-glib/json-glib.h>

#include <memory>
#include <string>

namespace crowd::trace {

/// The number at a path in a trace; -1: there is none.
inline gint64 number_at(const std::string& json, const std::string& path) {
  const std::unique_ptr<JsonParser, decltype(&g_object_unref)> parser(json_parser_new(), g_object_unref);
  if (!json_parser_load_from_data(parser.get(), json.c_str(), -1, nullptr))
    return -1;
  const std::unique_ptr<JsonNode, decltype(&json_node_unref)> found(
      json_path_query(("$." + path).c_str(), json_parser_get_root(parser.get()), nullptr), json_node_unref);
  JsonArray* matches = json_node_get_array(found.get());
  return json_array_get_length(matches) == 1 ? json_array_get_int_element(matches, 0) : -1;
}

/// The same in one of its windows.
inline gint64 number_in(const std::string& json, const std::string& path) {
  return number_at(json, "windows." + path);
}

}  // namespace crowd::trace
