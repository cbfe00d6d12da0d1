// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace crowd::scene {

namespace {

// Of the exponent's digits, without "e"; as large as matters where it does not fit.
std::int64_t exponent_from(std::string_view text) {
  constexpr std::int64_t large = std::int64_t{1} << 60;
  if (text.starts_with('+'))
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return text.starts_with('-') ? -large : large;
  return std::clamp(value, -large, large);
}

// Of a number that no double holds: whether it is below 1, without its sign.
bool is_small(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, e);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos)
    return true;
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto at = static_cast<std::int64_t>(first);
  const std::int64_t places = at < point ? point - at : point - at + 1;
  return places + (e < text.size() ? exponent_from(text.substr(e + 1)) : 0) <= 0;
}

}  // namespace

float to_float(double value) {
  constexpr double max = std::numeric_limits<float>::max();
  if (std::abs(value) > max && std::isfinite(value))
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(std::copysign(1.0, value)));
  return static_cast<float>(value);
}

std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument)
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if (!is_small(text))
      return std::nullopt;
    return text.starts_with('-') ? -0.0 : 0.0;
  }
  if (std::isfinite(value) && std::isinf(to_float(value)))
    return std::nullopt;
  return value;
}

}  // namespace crowd::scene
