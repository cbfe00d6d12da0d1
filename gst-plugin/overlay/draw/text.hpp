// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * text.hpp: what labels and the summary say, for the painters on the host and on a device, in C++17.
 *
 * A Text takes ASCII: `void put(char)`, which takes no more than `longest_text` in all, and `bool empty() const`.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/confidence.hpp"
#include "base/host_device.hpp"
#include "overlay/draw/utf8.hpp"

namespace crowd::draw {

/** Of a label, characters; metadata may hold any text. What follows the class's name is shorter than 40. */
constexpr std::size_t longest_text = 256;

/** Which parts a label has. */
struct LabelParts {
  bool labels, scores, counts;
};

/** Calls `take` with each character of a UTF-8 text, as far as it is shown. */
template <typename Take>
void for_each_character(const char* utf8, const Take& take) {
  for (std::size_t taken = 0; *utf8 && taken < longest_text; taken++)
    take(next_character(utf8));
}

template <typename Text>
CROWD_HD void put_words(Text& text, const char* ascii) {
  for (; *ascii; ascii++)
    text.put(*ascii);
}

template <typename Text>
CROWD_HD void put_number(Text& text, std::uint32_t number) {
  std::uint64_t reversed = 0;  // four bits a digit
  int digits = 0;
  do {
    reversed = reversed << 4 | number % 10;
    number /= 10;
    digits++;
  } while (number > 0);
  for (; digits > 0; digits--, reversed >>= 4)
    text.put(static_cast<char>('0' + (reversed & 15)));
}

CROWD_HD inline bool is_finite(float value) {
  constexpr float max = 3.402823466e+38F;
  return value >= -max && value <= max;
}

/** A finite score with two decimals, the nearest ones, halves to even; at most a million either way. */
template <typename Text>
CROWD_HD void put_score(Text& text, float score) {
  constexpr float max = 1e6F;
  const float shown = score < -max ? -max : score > max ? max : score;
  std::uint32_t bits;
  std::memcpy(&bits, &shown, sizeof bits);
  if (bits >> 31)
    text.put('-');
  // The product is exact: 24 bits times 7.
  const auto hundredths = static_cast<std::uint32_t>(std::rint(std::fabs(static_cast<double>(shown)) * 100));
  put_number(text, hundredths / 100);
  text.put('.');
  text.put(static_cast<char>('0' + hundredths / 10 % 10));
  text.put(static_cast<char>('0' + hundredths % 10));
}

/** A probability, from 0 to 1, in whole percent, halves up. */
template <typename Text>
CROWD_HD void put_percent(Text& text, float probability) {
  // Exact where a half is possible: those floats are multiples of 2^-40.
  constexpr int bits = 40;
  const auto parts = static_cast<std::uint64_t>(static_cast<double>(probability) * (std::uint64_t{1} << bits));
  put_number(text, static_cast<std::uint32_t>((parts * 100 + (std::uint64_t{1} << (bits - 1))) >> bits));
  put_words(text, " %");
}

/** What is shown of a score: its confidence, or itself where it has no calibration. */
CROWD_HD inline float shown_score(float score, Calibration calibration) {
  return calibration.slope == 0 ? score : confidence_of(score, calibration);
}

/**
 * What follows the class's name, if any, in a label. `confidence`: in percent from 0 to 1; what lies outside is the
 * score of a detector that knows no probabilities, and is shown as it is; none if not finite. `members`: none if 0.
 */
template <typename Text>
CROWD_HD void put_numbers(Text& text, const LabelParts& parts, float confidence, std::uint32_t members) {
  if (parts.scores && is_finite(confidence)) {
    if (!text.empty())
      text.put(' ');
    if (confidence >= 0 && confidence <= 1)
      put_percent(text, confidence);
    else
      put_score(text, confidence);
  }
  if (parts.counts && members > 0) {
    if (!text.empty())
      text.put(' ');
    text.put('x');
    put_number(text, members);
  }
}

/** `survivors`: null if it is not known. */
template <typename Text>
CROWD_HD void put_summary(Text& text, std::uint32_t candidates, const std::uint32_t* survivors) {
  put_number(text, candidates);
  put_words(text, " candidates");
  if (!survivors)
    return;
  put_words(text, ", ");
  put_number(text, *survivors);
  put_words(text, " kept");
}

}  // namespace crowd::draw
