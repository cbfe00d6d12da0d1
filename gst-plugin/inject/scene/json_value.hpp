// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * Values of a JSON text as they come, each taken once and in order. What is not JSON, or not what is asked for, throws
 * a Misfit; no memory throws std::bad_alloc.
 */

#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace crowd::scene {

namespace json = simdjson::ondemand;

/** What is wrong with a line. Not to leave the parser. */
struct Misfit {
  std::string reason;
};

/** Throws std::bad_alloc, or a Misfit that says what is wrong. */
[[noreturn]] void refuse(simdjson::error_code error);

template <typename Value>
Value taken(simdjson::simdjson_result<Value>&& result) {
  Value value;
  if (const auto error = std::move(result).get(value))
    refuse(error);
  return value;
}

std::string quoted(std::string_view name);

bool is(json::value value, json::json_type type);

/**
 * Whether all of a value is JSON, for what is not looked at otherwise: on-demand parsing does not check what it skips.
 * Recurses as deep as the value is nested.
 */
void check(json::value value);

/** Any finite number that a float can hold. `part` is what the number is of that which has the name. */
double number_in(json::value value, std::string_view part, std::string_view name);
double number_of(json::value value, std::string_view name);

/** A whole number from 0. */
std::int64_t whole_of(json::value value, std::string_view name, std::int64_t max);

/** Without zero characters; valid until the parser takes the next text. */
std::string_view text_of(json::value value, std::string_view name);

json::object object_of(json::value value, std::string_view name);

/** Calls take(name, value) for the members of these names, each of which may be there once, and checks the others. */
template <std::size_t n, typename Take>
void for_members(json::object object, const std::array<std::string_view, n>& names, Take take) {
  std::array<bool, n> seen{};
  for (auto field : object) {
    const std::string_view key = taken(field.unescaped_key());
    const json::value value = taken(field.value());
    const auto name = std::ranges::find(names, key);
    if (name == names.end())
      check(value);
    else if (std::exchange(seen[static_cast<std::size_t>(name - names.begin())], true))
      throw Misfit{quoted(*name) + " is there twice"};
    else
      take(*name, value);
  }
}

}  // namespace crowd::scene
