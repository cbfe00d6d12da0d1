// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writes what OpenCV's people detector finds on the CPU in frames of a film, for test_hog_cuda.
// usage: expect_hog RESULT FILM [FRAMES [EVERY]]

#include <cstdio>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>
#include <opencv2/videoio.hpp>
#include <string>

#include "detect/windows.hpp"
#include "hog_expected.hpp"

namespace crowd::test {
namespace {

struct Wanted {
  const char* name;
  cv::Size size;  ///< none: the film's
  Search search;
};

// The first frame is searched in all of these ways, others in the first.
const Wanted ways[] = {
    {"defaults", {}, {}},
    {"all windows", {}, {.hit_threshold = -10}},
    {"own size, threshold 0", {}, {.hit_threshold = 0, .min_size = 128, .body = false}},
    {"stride 4, padding 16", {}, {.win_stride = 4, .padding = 16, .min_size = 128}},
    {"stride 12", {}, {.win_stride = 12, .hit_threshold = 0.2}},
    {"area zoom", {}, {.scale_factor = 1.01, .hit_threshold = 0, .min_size = 173}},
    {"half, largest 400", {}, {.hit_threshold = -1, .min_size = 256, .max_size = 400}},
    {"1080p", {1920, 1080}, {}},
    {"1080p, all windows", {1920, 1080}, {.hit_threshold = -10}},
};

ExpectedFrame search_frame(const cv::Mat& grey, const Wanted& way, int number) {
  cv::Mat picture = grey;
  if (way.size.area())
    cv::resize(grey, picture, way.size, 0, 0, cv::INTER_CUBIC);
  std::vector<Window> windows;
  make_people_finder()->find(picture, way.search, windows);
  ExpectedFrame frame{
      "frame " + std::to_string(number) + ", " + way.name, picture.cols, picture.rows, way.search, {}, {}};
  frame.luma.assign(picture.datastart, picture.dataend);
  for (const Window& w : windows)
    frame.windows.push_back({w.x1, w.y1, w.x2, w.y2, w.score});
  std::printf("%s: %zu windows\n", frame.name.c_str(), windows.size());
  return frame;
}

int run(const char* result, const char* film, int frames, int every) {
  cv::VideoCapture capture(film);
  Expected all{cv::HOGDescriptor::getDefaultPeopleDetector(), {}};
  cv::Mat picture, grey;
  for (int number = 0; number < frames * every; number++) {
    if (!capture.read(picture)) {
      std::fprintf(stderr, "expect_hog: no frame %d in %s\n", number, film);
      return 1;
    }
    if (number % every)
      continue;
    cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
    for (const Wanted& way : ways)
      if (number == 0 || &way == ways)
        all.frames.push_back(search_frame(grey, way, number));
  }
  write_expected(result, all);
  return 0;
}

}  // namespace
}  // namespace crowd::test

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fprintf(stderr, "usage: expect_hog RESULT FILM [FRAMES [EVERY]]\n");
    return 2;
  }
  return crowd::test::run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 3, argc > 4 ? std::atoi(argv[4]) : 100);
}
