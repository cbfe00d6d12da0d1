// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The floating-point modes of the calling thread, set aside for as long as the library computes.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace crowd {

/// Sets round to nearest, subnormal numbers and no traps for its lifetime, and restores the modes and exception flags
/// that it found.
///
/// The compiler does not know that arithmetic depends on the modes and may move it across the constructor: do the
/// arithmetic in a function that is called, and not inlined.
class FloatingPointModes {
 public:
  FloatingPointModes(const FloatingPointModes&) = delete;
  FloatingPointModes& operator=(const FloatingPointModes&) = delete;

#if defined(__SSE2__)
  FloatingPointModes() : saved_(_mm_getcsr()) {
    _mm_setcsr(all_masked);
  }
  ~FloatingPointModes() {
    _mm_setcsr(saved_);
  }

 private:
  /// MXCSR at reset: every exception masked, to nearest, neither FTZ nor DAZ.
  static constexpr unsigned all_masked = 0x1f80;
  unsigned saved_;
#else
  FloatingPointModes() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointModes() {
    std::fesetenv(&saved_);
  }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace crowd
