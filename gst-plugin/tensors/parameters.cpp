// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tensors/numbers.hpp"

namespace crowd::tensors {

namespace {

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string range_of(double min, double max) {
  return "from " + text_of(min) + " to " + text_of(max);
}

}  // namespace

void Parameters::refuse(const char* key, const std::string& wanted) {
  if (problem_.empty())
    problem_ = std::string(key) + "=" + texts_.at(key) + " in [crowd] of the description should be " + wanted;
}

bool Parameters::flag(const char* key, bool otherwise) {
  return choice(key, {otherwise ? "yes" : "no", otherwise ? "no" : "yes"}) == "yes";
}

std::string Parameters::choice(const char* key, std::initializer_list<const char*> values) {
  const auto text = texts_.find(key);
  if (text == texts_.end())
    return *values.begin();
  const auto found = std::ranges::find(values, trimmed(text->second));
  if (found != values.end())
    return *found;
  std::string wanted;
  for (const char* value : values)
    wanted += (wanted.empty() ? "" : " or ") + std::string(value);
  refuse(key, wanted);
  return *values.begin();
}

double Parameters::number(const char* key, double otherwise, double min, double max) {
  return numbers(key, {otherwise}, 1, true, min, max)[0];
}

std::uint32_t Parameters::whole(const char* key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) {
  if (!has(key))
    return otherwise;
  const auto value = number_of<std::uint32_t>(trimmed(texts_.at(key)));
  if (value && *value >= min && *value <= max)
    return *value;
  refuse(key, "a whole number " + range_of(min, max));
  return otherwise;
}

std::vector<double> Parameters::numbers(const char* key, std::vector<double> otherwise, std::size_t max_count, bool all,
                                        double min, double max) {
  if (!has(key))
    return otherwise;
  auto values = numbers_of<double>(texts_.at(key));
  if (values && values->size() <= max_count && (!all || values->size() == max_count) &&
      std::ranges::all_of(*values, [=](double value) { return value >= min && value <= max; }))
    return *std::move(values);
  const std::string how_many =
      max_count == 1 ? "a number " : (all ? "" : "up to ") + std::to_string(max_count) + " numbers ";
  refuse(key, how_many + range_of(min, max) + (max_count == 1 ? "" : ", separated by commas"));
  return otherwise;
}

std::vector<double> Parameters::wholes(const char* key, std::vector<double> otherwise, std::size_t max_count,
                                       double min, double max) {
  if (!has(key))
    return otherwise;
  auto values = numbers_of<double>(texts_.at(key));
  if (values && values->size() <= max_count && std::ranges::all_of(*values, [=](double value) {
        return value >= min && value <= max && value == std::floor(value);
      }))
    return *std::move(values);
  refuse(key, "up to " + std::to_string(max_count) + " whole numbers " + range_of(min, max) + ", separated by commas");
  return otherwise;
}

}  // namespace crowd::tensors
