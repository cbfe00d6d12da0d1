// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "device_support.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string missing = testing::GTEST_FLAG(list_tests) ? "" : crowd::test::missing_gpu();
  if (missing.empty())
    return crowd::test::run_all_tests(argc, argv);
  const char* required = std::getenv("CROWD_REQUIRE_GPU");
  std::printf("skipped: %s\n", missing.c_str());
  return required && std::string(required) == "1" ? 1 : 77;
}
