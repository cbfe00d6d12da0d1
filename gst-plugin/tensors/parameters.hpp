// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The parameters of a layout, as a description gives them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace crowd::tensors {

/// Each reader returns the default where the key is not given, or its value makes no sense: problem() says then what is
/// wrong with the first such.
class Parameters {
 public:
  explicit Parameters(const std::map<std::string, std::string>& texts) : texts_(texts) {}

  bool has(const char* key) const {
    return texts_.contains(key);
  }
  /// yes or no.
  bool flag(const char* key, bool otherwise);
  /// One of the values, the first if there is none given.
  std::string choice(const char* key, std::initializer_list<const char*> values);
  double number(const char* key, double otherwise, double min, double max);
  /// Within min and max, which both are whole.
  std::uint32_t whole(const char* key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max);
  /// From 1 to `max_count` numbers, or just `max_count` if `all`.
  std::vector<double> numbers(const char* key, std::vector<double> otherwise, std::size_t max_count, bool all,
                              double min, double max);

  /// From 1 to `max_count` whole numbers.
  std::vector<double> wholes(const char* key, std::vector<double> otherwise, std::size_t max_count, double min,
                             double max);

  const std::string& problem() const {
    return problem_;
  }

 private:
  void refuse(const char* key, const std::string& wanted);

  const std::map<std::string, std::string>& texts_;
  std::string problem_;
};

}  // namespace crowd::tensors
