// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Files of a test that no other test writes, and no other run of it at the same time.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace crowd::test {

/// One for each running test and ending.
inline std::string temporary_path(const std::string& ending = "") {
  std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  // Tests with parameters have slashes in their names.
  std::replace(test.begin(), test.end(), '/', '-');
  return testing::TempDir() + "crowd-" + std::to_string(getpid()) + '-' + test + ending;
}

/// A file that is gone after the test. Those of one test have endings of their own.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text = "", const std::string& ending = "") : path(temporary_path(ending)) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::remove(path.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string text() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string path;
};

}  // namespace crowd::test
