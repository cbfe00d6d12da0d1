// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the environment tells tests that need a GPU.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace crowd::test {

inline bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && std::string(value) == "1";
}

/// How thorough: CROWD_GPU_TEST=quick is for compute-sanitizer, which slows kernels down a hundredfold.
inline bool quick() {
  const char* value = std::getenv("CROWD_GPU_TEST");
  return value && std::string(value) == "quick";
}

/// Says why the tests are skipped; the exit status: that of a skip, or of a failure where CROWD_REQUIRE_GPU=1.
inline int skipped(const char* why) {
  std::printf("skipped: %s\n", why);
  return is_set("CROWD_REQUIRE_GPU") ? 1 : 77;
}

}  // namespace crowd::test
