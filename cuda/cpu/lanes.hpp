// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// `width` floats at a time, each operation IEEE-rounded as the scalar one is. Everything is in the namespace of the
// instruction set: the linker must not merge code for different ones.
#pragma once

#include <cstdint>

#include "cpu/space.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace crowd::cpu::CROWD_ISA {

namespace {

#define CROWD_INLINE [[gnu::always_inline]] inline

// A register of this instruction set, and what it can do.
#if defined(__AVX2__)

using Register = __m256;
constexpr unsigned register_lanes = 8;

CROWD_INLINE Register load(const float* from) {
  return _mm256_load_ps(from);
}
CROWD_INLINE Register fill(float value) {
  return _mm256_set1_ps(value);
}
CROWD_INLINE Register add(Register a, Register b) {
  return _mm256_add_ps(a, b);
}
CROWD_INLINE Register subtract(Register a, Register b) {
  return _mm256_sub_ps(a, b);
}
CROWD_INLINE Register multiply(Register a, Register b) {
  return _mm256_mul_ps(a, b);
}
CROWD_INLINE Register divide(Register a, Register b) {
  return _mm256_div_ps(a, b);
}
CROWD_INLINE Register minimum(Register a, Register b) {
  return _mm256_min_ps(a, b);
}
CROWD_INLINE Register maximum(Register a, Register b) {
  return _mm256_max_ps(a, b);
}
CROWD_INLINE unsigned greater(Register a, Register b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)));
}
CROWD_INLINE unsigned greater_or_equal(Register a, Register b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)));
}
CROWD_INLINE unsigned same(const std::int32_t* from, std::int32_t value) {
  const __m256i equal =
      _mm256_cmpeq_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)), _mm256_set1_epi32(value));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
}
CROWD_INLINE unsigned larger_than(const std::int32_t* from, std::int32_t value) {
  const __m256i larger =
      _mm256_cmpgt_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)), _mm256_set1_epi32(value));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(larger)));
}
CROWD_INLINE unsigned smaller_than(const std::int32_t* from, std::int32_t value) {
  const __m256i smaller =
      _mm256_cmpgt_epi32(_mm256_set1_epi32(value), _mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(smaller)));
}

#elif defined(__SSE2__)

using Register = __m128;
constexpr unsigned register_lanes = 4;

CROWD_INLINE Register load(const float* from) {
  return _mm_load_ps(from);
}
CROWD_INLINE Register fill(float value) {
  return _mm_set1_ps(value);
}
CROWD_INLINE Register add(Register a, Register b) {
  return _mm_add_ps(a, b);
}
CROWD_INLINE Register subtract(Register a, Register b) {
  return _mm_sub_ps(a, b);
}
CROWD_INLINE Register multiply(Register a, Register b) {
  return _mm_mul_ps(a, b);
}
CROWD_INLINE Register divide(Register a, Register b) {
  return _mm_div_ps(a, b);
}
CROWD_INLINE Register minimum(Register a, Register b) {
  return _mm_min_ps(a, b);
}
CROWD_INLINE Register maximum(Register a, Register b) {
  return _mm_max_ps(a, b);
}
CROWD_INLINE unsigned greater(Register a, Register b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_cmpgt_ps(a, b)));
}
CROWD_INLINE unsigned greater_or_equal(Register a, Register b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_cmpge_ps(a, b)));
}
CROWD_INLINE unsigned same(const std::int32_t* from, std::int32_t value) {
  const __m128i equal = _mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)), _mm_set1_epi32(value));
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(equal)));
}
CROWD_INLINE unsigned larger_than(const std::int32_t* from, std::int32_t value) {
  const __m128i larger = _mm_cmpgt_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)), _mm_set1_epi32(value));
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(larger)));
}
CROWD_INLINE unsigned smaller_than(const std::int32_t* from, std::int32_t value) {
  const __m128i smaller =
      _mm_cmpgt_epi32(_mm_set1_epi32(value), _mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(smaller)));
}

#else

using Register = float;
constexpr unsigned register_lanes = 1;

CROWD_INLINE Register load(const float* from) {
  return *from;
}
CROWD_INLINE Register fill(float value) {
  return value;
}
CROWD_INLINE Register add(Register a, Register b) {
  return a + b;
}
CROWD_INLINE Register subtract(Register a, Register b) {
  return a - b;
}
CROWD_INLINE Register multiply(Register a, Register b) {
  return a * b;
}
CROWD_INLINE Register divide(Register a, Register b) {
  return a / b;
}
CROWD_INLINE Register minimum(Register a, Register b) {
  return a < b ? a : b;
}
CROWD_INLINE Register maximum(Register a, Register b) {
  return a > b ? a : b;
}
CROWD_INLINE unsigned greater(Register a, Register b) {
  return a > b;
}
CROWD_INLINE unsigned greater_or_equal(Register a, Register b) {
  return a >= b;
}
CROWD_INLINE unsigned same(const std::int32_t* from, std::int32_t value) {
  return *from == value;
}
CROWD_INLINE unsigned larger_than(const std::int32_t* from, std::int32_t value) {
  return *from > value;
}
CROWD_INLINE unsigned smaller_than(const std::int32_t* from, std::int32_t value) {
  return *from < value;
}

#endif

constexpr unsigned registers = width / register_lanes;

struct Lanes {
  Register r[registers];
};

template <typename Operation>
CROWD_INLINE Lanes each(Operation operation) {
  Lanes lanes;
  for (unsigned i = 0; i < registers; ++i)
    lanes.r[i] = operation(i);
  return lanes;
}

template <typename Test>
CROWD_INLINE unsigned bits(Test test) {
  unsigned bits = 0;
  for (unsigned i = 0; i < registers; ++i)
    bits |= test(i) << i * register_lanes;
  return bits;
}

CROWD_INLINE Lanes lanes(const float* from) {
  return each([&](unsigned i) { return load(from + i * register_lanes); });
}
CROWD_INLINE Lanes all(float value) {
  return each([&](unsigned) { return fill(value); });
}
CROWD_INLINE Lanes operator+(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return add(a.r[i], b.r[i]); });
}
CROWD_INLINE Lanes operator-(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return subtract(a.r[i], b.r[i]); });
}
CROWD_INLINE Lanes operator*(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return multiply(a.r[i], b.r[i]); });
}
CROWD_INLINE Lanes operator/(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return divide(a.r[i], b.r[i]); });
}
// Of equal operands the first, as in overlap.hpp. None is NaN.
CROWD_INLINE Lanes smaller(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return minimum(b.r[i], a.r[i]); });
}
CROWD_INLINE Lanes larger(const Lanes& a, const Lanes& b) {
  return each([&](unsigned i) { return maximum(b.r[i], a.r[i]); });
}
// Bit i is for lane i. NaN is neither.
CROWD_INLINE unsigned above(const Lanes& a, const Lanes& b) {
  return bits([&](unsigned i) { return greater(a.r[i], b.r[i]); });
}
CROWD_INLINE unsigned at_least(const Lanes& a, const Lanes& b) {
  return bits([&](unsigned i) { return greater_or_equal(a.r[i], b.r[i]); });
}
CROWD_INLINE unsigned equal(const std::int32_t* from, std::int32_t value) {
  return bits([&](unsigned i) { return same(from + i * register_lanes, value); });
}
// The lanes whose range from low to high has the value in it.
CROWD_INLINE unsigned enclosing(const std::int32_t* low, const std::int32_t* high, std::int32_t value) {
  const unsigned outside = bits([&](unsigned i) {
    return larger_than(low + i * register_lanes, value) | smaller_than(high + i * register_lanes, value);
  });
  return ~outside;
}

}  // namespace

}  // namespace crowd::cpu::CROWD_ISA
