// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cpu/sort.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cpu/tuning.hpp"

namespace crowd::cpu {

namespace {

template <std::uint32_t digit_bits>
class RadixSort {
 public:
  template <std::uint32_t passes>
  static std::uint64_t* run(std::uint64_t* items, std::uint64_t* spare, std::uint32_t count) {
    std::array<Histogram, passes> histograms{};
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t pass = 0; pass < passes; ++pass)
        ++histograms[pass][digit(items[i], pass)];
    }
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      if (distribute(items, spare, count, pass, histograms[pass]))
        std::swap(items, spare);
    }
    return items;
  }

 private:
  static constexpr std::uint32_t digits = 1u << digit_bits;
  using Histogram = std::array<std::uint32_t, digits>;

  static std::uint32_t digit(std::uint64_t item, std::uint32_t pass) {
    return static_cast<std::uint32_t>(item >> (32 + pass * digit_bits)) & (digits - 1);
  }

  // Moves the items by one digit. False, and nothing moved, where all have the same.
  static bool distribute(const std::uint64_t* from, std::uint64_t* to, std::uint32_t count, std::uint32_t pass,
                         Histogram& histogram) {
    if (histogram[digit(from[0], pass)] == count)
      return false;
    std::uint32_t sum = 0;
    for (std::uint32_t& entry : histogram)
      sum += std::exchange(entry, sum);
    for (std::uint32_t i = 0; i < count; ++i)
      to[histogram[digit(from[i], pass)]++] = from[i];
    return true;
  }
};

}  // namespace

std::uint64_t* sort(std::uint64_t* items, std::uint64_t* spare, std::uint32_t count, std::uint32_t bits) {
  if (count < tuning::bytes_min) {
    std::sort(items, items + count);
    return items;
  }
  if (count < tuning::elevens_min) {
    using Bytes = RadixSort<8>;
    return bits <= 8    ? Bytes::run<1>(items, spare, count)
           : bits <= 16 ? Bytes::run<2>(items, spare, count)
                        : Bytes::run<4>(items, spare, count);
  }
  using Elevens = RadixSort<11>;
  return bits <= 11   ? Elevens::run<1>(items, spare, count)
         : bits <= 22 ? Elevens::run<2>(items, spare, count)
                      : Elevens::run<3>(items, spare, count);
}

}  // namespace crowd::cpu
