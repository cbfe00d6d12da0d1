// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gtest/gtest.h>

#include <string>

#include "../environment.hpp"
#include "device_support.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string missing = testing::GTEST_FLAG(list_tests) ? "" : crowd::test::missing_gpu();
  if (missing.empty())
    return crowd::test::run_all_tests(argc, argv);
  return crowd::test::skipped(missing.c_str());
}
