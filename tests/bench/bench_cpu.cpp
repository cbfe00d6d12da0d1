// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Greedy NMS on the CPU, one thread, beside OpenCV's cv::dnn::NMSBoxes on the same boxes in the same run. Checks that
// both keep the same boxes in the same order before it times; ends with an error where they do not.
//
//   bench_cpu [IoU threshold, default 0.5]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "boxes.hpp"
#include "crowd/nms.h"

#if defined(CROWD_HAVE_OPENCV)
#include <opencv2/core/utility.hpp>
#include <opencv2/dnn.hpp>
#endif

namespace crowd::test {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

// Median over runs of the mean over one round of all sets: at least five runs, and a fifth of a second.
double median_time(std::size_t sets, const std::function<void(std::size_t)>& call) {
  const auto round = [&](int repeats) {
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) {
      for (std::size_t s = 0; s < sets; ++s)
        call(s);
    }
    return microseconds(Clock::now() - start) / repeats / static_cast<double>(sets);
  };
  const double first = round(1);
  const int repeats = std::clamp(static_cast<int>(200 / (first * static_cast<double>(sets))), 1, 1000);
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 5 || microseconds(Clock::now() - start) < 2e5)
    times.push_back(round(repeats));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// crowd_nms_cpu() with everything allocated beforehand.
class Ours {
 public:
  static CrowdNmsCandidates candidates_of(const Boxes& set) {
    CrowdNmsCandidates candidates{};
    candidates.boxes = set.boxes.data();
    candidates.scores = set.scores.data();
    candidates.frames = 1;
    candidates.capacity = set.size();
    return candidates;
  }

  Ours(const CrowdNmsParams& params, const Boxes& set, bool representatives)
      : params_(params),
        candidates_{candidates_of(set)},
        survivors_(set.size()),
        representatives_(set.size()),
        members_(set.size()),
        bytes_(crowd_nms_cpu_workspace_bytes(&params, 1, set.size())),
        workspace_(std::aligned_alloc(64, bytes_), std::free),
        outputs_{survivors_.data(),
                 representatives ? members_.data() : nullptr,
                 representatives ? representatives_.data() : nullptr,
                 &report_,
                 set.size(),
                 0,
                 nullptr,
                 nullptr,
                 {}} {}

  Ours(const Ours&) = delete;  // outputs_ points here

  void run() {
    if (crowd_nms_cpu(&params_, &candidates_, &outputs_, workspace_.get(), bytes_) != CROWD_NMS_OK) {
      std::fprintf(stderr, "bench_cpu: %s\n", crowd_nms_last_error());
      std::exit(1);
    }
  }

  std::vector<int> survivors() const {
    return {survivors_.begin(), survivors_.begin() + report_.survivors};
  }

 private:
  CrowdNmsParams params_;
  CrowdNmsCandidates candidates_;
  std::vector<std::uint32_t> survivors_, representatives_, members_;
  CrowdNmsReport report_{};
  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> workspace_;
  CrowdNmsSurvivors outputs_;
};

#if defined(CROWD_HAVE_OPENCV)
class OpenCv {
 public:
  OpenCv(float threshold, const Boxes& set) : threshold_(threshold), scores_(set.scores) {
    for (const CrowdNmsBox& box : set.boxes)
      boxes_.emplace_back(box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1);
  }

  void run() {
    cv::dnn::NMSBoxes(boxes_, scores_, 0.0f, threshold_, kept_);
  }
  const std::vector<int>& survivors() const {
    return kept_;
  }

 private:
  float threshold_;
  std::vector<cv::Rect2d> boxes_;
  std::vector<float> scores_;
  std::vector<int> kept_;
};
#endif

struct Row {
  const char* name;
  std::uint32_t n;
  Boxes (*make)(std::uint32_t n, std::uint64_t seed);
};

Boxes crowd_row(std::uint32_t n, std::uint64_t seed) {
  return crowd(n, 147, 4646, 1800, seed);
}

Boxes uniform_row(std::uint32_t n, std::uint64_t seed) {
  return uniform(n, 3840, 2160, seed);
}

void run_row(const Row& row, double threshold) {
  CrowdNmsParams params;
  crowd_nms_params_init(&params);
  params.overlap_threshold = threshold;
  std::vector<Boxes> sets;
  for (std::uint64_t seed = 1; seed <= (row.n > 5000 ? 1 : 4); ++seed)
    sets.push_back(row.make(row.n, seed * 1000 + row.n));

  std::deque<Ours> plain, full;
  for (const Boxes& set : sets) {
    plain.emplace_back(params, set, false);
    full.emplace_back(params, set, true);
  }
  std::size_t survivors = 0;
  for (Ours& ours : plain) {
    ours.run();
    survivors += ours.survivors().size();
  }
  const double time = median_time(sets.size(), [&](std::size_t s) { plain[s].run(); });
  const double full_time = median_time(sets.size(), [&](std::size_t s) { full[s].run(); });
  std::printf("%-8s %6u %10.1f %12.2f %12.2f", row.name, row.n,
              static_cast<double>(survivors) / static_cast<double>(sets.size()), time, full_time);
#if defined(CROWD_HAVE_OPENCV)
  std::vector<OpenCv> theirs;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    theirs.emplace_back(static_cast<float>(threshold), sets[s]);
    theirs[s].run();
    if (theirs[s].survivors() != plain[s].survivors()) {
      std::fprintf(stderr, "\nbench_cpu: the survivors differ: %s n=%u set %zu: ours %zu, OpenCV's %zu\n", row.name,
                   row.n, s, plain[s].survivors().size(), theirs[s].survivors().size());
      std::exit(1);
    }
  }
  const double their_time = median_time(sets.size(), [&](std::size_t s) { theirs[s].run(); });
  std::printf(" %14.2f %7.1fx", their_time, their_time / time);
#endif
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace crowd::test

int main(int argc, char** argv) {
  using namespace crowd::test;
  const double threshold = argc > 1 ? std::strtod(argv[1], nullptr) : 0.5;
#if defined(CROWD_HAVE_OPENCV)
  cv::setNumThreads(1);
  std::printf("greedy, IoU > %g, microseconds a frame, medians; OpenCV %s\n", threshold, CV_VERSION);
  std::printf("%-8s %6s %10s %12s %12s %14s %8s\n", "set", "n", "survivors", "ours", "+ representatives",
              "OpenCV NMSBoxes", "ratio");
#else
  std::printf("greedy, IoU > %g, microseconds a frame, medians; built without OpenCV\n", threshold);
  std::printf("%-8s %6s %10s %12s %12s\n", "set", "n", "survivors", "ours", "+ representatives");
#endif
  for (const std::uint32_t n : {10u, 100u, 1000u, 4096u, 16384u})
    run_row({"crowd", n, crowd_row}, threshold);
  for (const std::uint32_t n : {10u, 100u, 1000u, 4096u, 16384u})
    run_row({"uniform", n, uniform_row}, threshold);
  return 0;
}
