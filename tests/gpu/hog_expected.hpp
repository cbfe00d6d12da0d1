// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A file of what OpenCV's people detector finds on the CPU, written where OpenCV is and read where a GPU is.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "detect/search.hpp"

namespace crowd::test {

struct ExpectedWindow {
  float x1, y1, x2, y2, score;
};

struct ExpectedFrame {
  std::string name;
  std::int32_t width = 0, height = 0;
  Search search;
  std::vector<std::uint8_t> luma;
  std::vector<ExpectedWindow> windows;
};

struct Expected {
  std::vector<float> detector;
  std::vector<ExpectedFrame> frames;
};

/// Reads from and writes to a file of this machine's byte order.
class ExpectedFile {
 public:
  ExpectedFile(const std::string& path, std::ios::openmode mode) : file_(path, mode | std::ios::binary) {
    file_.exceptions(std::ios::failbit | std::ios::badbit);
  }

  void exchange(Expected& all, bool writes) {
    list(all.detector, writes);
    auto frames = static_cast<std::uint32_t>(all.frames.size());
    plain(frames, writes);
    all.frames.resize(frames);
    for (ExpectedFrame& frame : all.frames) {
      list(frame.name, writes);
      plain(frame.width, writes);
      plain(frame.height, writes);
      plain(frame.search, writes);
      list(frame.luma, writes);
      list(frame.windows, writes);
    }
  }

 private:
  template <typename T>
  void plain(T& value, bool writes) {
    bytes(&value, sizeof value, writes);
  }
  template <typename List>
  void list(List& values, bool writes) {
    auto count = static_cast<std::uint32_t>(values.size());
    plain(count, writes);
    values.resize(count);
    bytes(values.data(), count * sizeof(typename List::value_type), writes);
  }
  void bytes(void* data, std::size_t count, bool writes) {
    if (writes)
      file_.write(static_cast<const char*>(data), static_cast<std::streamsize>(count));
    else
      file_.read(static_cast<char*>(data), static_cast<std::streamsize>(count));
  }

  std::fstream file_;
};

inline Expected read_expected(const std::string& path) {
  Expected all;
  ExpectedFile(path, std::ios::in).exchange(all, false);
  return all;
}

inline void write_expected(const std::string& path, Expected all) {
  ExpectedFile(path, std::ios::out).exchange(all, true);
}

}  // namespace crowd::test
