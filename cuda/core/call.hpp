// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The arguments of a call: what can be checked and worked out without reading the arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "crowd/nms.h"

namespace crowd {

/// The value of an enumeration that comes from a caller and may be none of its enumerators; loading that as an
/// enumeration would be undefined.
template <typename Enumeration>
unsigned raw(const Enumeration& value) {
  static_assert(sizeof value == sizeof(unsigned));
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// What later versions give a meaning to.
template <typename T, std::size_t size>
bool all_zero(const T (&reserved)[size]) {
  return std::all_of(std::begin(reserved), std::end(reserved), [](const T& value) { return value == T{}; });
}
constexpr char reserved_is_set[] =
    "reserved fields of %s are not 0: set structs to 0 before filling them in, or use a library as new as the header";

/// Checks everything about a call that can be checked without reading the arrays. The functions that applications call
/// do it, once; those below rely on it.
CrowdNmsStatus check_call(const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                          const CrowdNmsSurvivors* survivors);

/// The part of check_call() that is not about the params.
CrowdNmsStatus check_arrays(const CrowdNmsCandidates* candidates, const CrowdNmsSurvivors* survivors);

/// CROWD_NMS_UNSUPPORTED where the backend lacks the method.
CrowdNmsStatus check_backend(const CrowdNmsMethodInfo& method, CrowdNmsBackend backend);

/// Checks that a batch of this size is within what any call holds.
CrowdNmsStatus check_total(std::uint32_t frames, std::uint32_t capacity);

/// Whether frames * capacity is within CROWD_NMS_MAX_TOTAL, and the capacity where there are no frames.
constexpr bool total_fits(std::uint32_t frames, std::uint32_t capacity) {
  return static_cast<std::uint64_t>(frames ? frames : 1) * capacity <= CROWD_NMS_MAX_TOTAL;
}

constexpr std::uint32_t paper_d_max_limit = 65536;

/// The side of the paper's matrix B: params.paper_d_max, or the capacity rounded up to a multiple of paper_k.
/// 64 bits, because rounding up may leave 32.
constexpr std::uint64_t paper_side(const CrowdNmsParams& params, std::uint32_t capacity) {
  if (params.paper_d_max)
    return params.paper_d_max;
  const std::uint64_t k = params.paper_k;
  return capacity ? (capacity + k - 1) / k * k : k;
}

}  // namespace crowd
