// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For search_slow.py: reads frames from its input, and prints for each the steps of greedy and of map-reduce on the
// CPU. A frame: the number of candidates, uint32; the threshold, float64; boxes, scores and classes as the library
// takes them.

#include <cstdio>

#include "search_steps.hpp"

namespace {

template <typename T>
bool read(T* to, std::size_t count) {
  return std::fread(to, sizeof(T), count, stdin) == count;
}

}  // namespace

int main() {
  using namespace crowd;
  std::uint32_t n = 0;
  double threshold = 0;
  while (read(&n, 1) && read(&threshold, 1)) {
    test::Boxes set;
    set.boxes.resize(n);
    set.scores.resize(n);
    set.classes.resize(n);
    if (!read(set.boxes.data(), n) || !read(set.scores.data(), n) || !read(set.classes.data(), n)) {
      std::fputs("count_steps: a frame is not whole\n", stderr);
      return 1;
    }
    test::SearchSteps steps(n);
    const std::uint64_t greedy = steps.of<Greedy>(set, threshold), map_reduce = steps.of<MapReduce>(set, threshold);
    std::printf("%llu %llu\n", static_cast<unsigned long long>(greedy), static_cast<unsigned long long>(map_reduce));
    std::fflush(stdout);
  }
}
