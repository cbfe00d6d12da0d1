// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/json_value.hpp"

#include <cmath>
#include <new>

#include "inject/scene/json_text.hpp"
#include "inject/scene/number.hpp"

namespace crowd::scene {

namespace {

std::string_view token_of(json::value value) {
  return without_blanks(value.raw_json_token());
}

std::string_view number_token_of(json::value value) {
  const std::string_view token = token_of(value);
  if (!is_json_number(token))
    throw Misfit{"not JSON: " + printable(token) + " is no number"};
  return token;
}

}  // namespace

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

void refuse(simdjson::error_code error) {
  switch (error) {
    case simdjson::MEMALLOC:
      throw std::bad_alloc();
    case simdjson::CAPACITY:
      throw Misfit{"longer than 4 GiB"};
    case simdjson::UTF8_ERROR:
      throw Misfit{"not JSON: not UTF-8"};
    case simdjson::UNCLOSED_STRING:
      throw Misfit{"not JSON: a string without its closing quote"};
    case simdjson::UNESCAPED_CHARS:
      throw Misfit{"not JSON: a control character in a string"};
    case simdjson::STRING_ERROR:
      throw Misfit{"not JSON: a wrong escape in a string"};
    default:
      throw Misfit{"not JSON: a value, comma, colon or bracket is missing, or there is one too many"};
  }
}

void check(json::value value) {
  switch (taken(value.type())) {
    case json::json_type::array:
      for (auto element : taken(value.get_array()))
        check(taken(std::move(element)));
      break;
    case json::json_type::object:
      for (auto field : taken(value.get_object())) {
        taken(field.unescaped_key());
        check(taken(field.value()));
      }
      break;
    case json::json_type::number:
      number_token_of(value);
      break;
    case json::json_type::string:
      taken(value.get_string());
      break;
    case json::json_type::boolean:
      taken(value.get_bool());
      break;
    default:
      if (!taken(value.is_null()))
        throw Misfit{"not JSON: " + printable(token_of(value)) + " is no value"};
  }
}

bool is(json::value value, json::json_type type) {
  return taken(value.type()) == type;
}

double number_in(json::value value, std::string_view part, std::string_view name) {
  if (!is(value, json::json_type::number))
    throw Misfit{std::string(part) + quoted(name) + " is not a number"};
  const auto number = number_from(number_token_of(value));
  if (!number)
    throw Misfit{std::string(part) + quoted(name) + " is larger than a float can hold"};
  return *number;
}

double number_of(json::value value, std::string_view name) {
  return number_in(value, "", name);
}

std::int64_t whole_of(json::value value, std::string_view name, std::int64_t max) {
  const double number = number_of(value, name);
  if (!(number >= 0 && number <= static_cast<double>(max)) || number != std::floor(number))
    throw Misfit{quoted(name) + " is not a whole number from 0 to " + std::to_string(max)};
  return static_cast<std::int64_t>(number);
}

std::string_view text_of(json::value value, std::string_view name) {
  if (!is(value, json::json_type::string))
    throw Misfit{quoted(name) + " is not a string"};
  const std::string_view text = taken(value.get_string());
  if (text.find('\0') != std::string_view::npos)
    throw Misfit{quoted(name) + " has a zero character"};
  return text;
}

json::object object_of(json::value value, std::string_view name) {
  if (!is(value, json::json_type::object))
    throw Misfit{quoted(name) + " is not an object"};
  return taken(value.get_object());
}

}  // namespace crowd::scene
