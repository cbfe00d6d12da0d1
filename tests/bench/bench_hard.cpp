// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS on the CPU, one thread, of frames made to be slow (hard_boxes.hpp): milliseconds a frame, the least of three.
// To compare two libraries, run it with LD_PRELOAD of another libcrowdnms.so: it prints survivors, which must agree.
//
//   bench_hard [IoU threshold, default 0.3]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "crowd/nms.h"
#include "hard_boxes.hpp"

namespace crowd::test {
namespace {

struct Timed {
  double milliseconds;
  std::uint32_t survivors;
};

Timed run(const CrowdNmsParams& params, const Boxes& set) {
  const std::size_t bytes = crowd_nms_cpu_workspace_bytes(&params, 1, set.size());
  const std::unique_ptr<void, void (*)(void*)> workspace(std::aligned_alloc(64, bytes), std::free);
  std::vector<std::uint32_t> survivors(set.size());
  CrowdNmsReport report{};
  CrowdNmsCandidates candidates{};
  candidates.boxes = set.boxes.data();
  candidates.scores = set.scores.data();
  candidates.classes = set.classes.data();
  candidates.frames = 1;
  candidates.capacity = set.size();
  const CrowdNmsSurvivors outputs{survivors.data(), nullptr, nullptr, &report, set.size(), 0, nullptr, nullptr, {}};
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (crowd_nms_cpu(&params, &candidates, &outputs, workspace.get(), bytes) != CROWD_NMS_OK) {
      std::fprintf(stderr, "bench_hard: %s\n", crowd_nms_last_error());
      std::exit(1);
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return {least, report.survivors};
}

void run_row(const Distribution& from, std::uint32_t n, double threshold) {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  params.overlap_threshold = threshold;
  const Boxes set = from.make(n, 1);
  const Timed greedy = run(params, set);
  params.method = CROWD_NMS_MAP_REDUCE;
  const Timed map_reduce = run(params, set);
  std::printf("| %s | %u | %u | %.1f | %u | %.1f |\n", from.name, n, greedy.survivors, greedy.milliseconds,
              map_reduce.survivors, map_reduce.milliseconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace crowd::test

int main(int argc, char** argv) {
  const double threshold = argc > 1 ? std::strtod(argv[1], nullptr) : 0.3;
  std::printf("IoU > %g, milliseconds a frame\n\n", threshold);
  std::printf("| boxes | n | survivors, greedy | ms | survivors, map-reduce | ms |\n|---|---|---|---|---|---|\n");
  for (const std::uint32_t n : {16384u, 100000u})
    for (const crowd::test::Distribution& from : crowd::test::hard_distributions())
      crowd::test::run_row(from, n, threshold);
  return 0;
}
