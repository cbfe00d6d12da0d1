// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * CPU time of GStreamer's yolov8tensordec and of crowdtensordec for the same frames: a YOLOv8 head of 640x640 and 80
 * classes, [1, 84, 8400]. A markdown table, all in one run, medians.
 *
 *     bench_tensordec [frames]
 *
 * The thread that pushes a frame does all the work. The heads are those of timed_head.hpp.
 */

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "peers.hpp"
#include "timed_head.hpp"

namespace {

using namespace crowd::test;

struct Measured {
  double milliseconds;
  std::size_t objects;
};

Measured measure(const char* element, const std::string& settings, unsigned frames) {
  Peer peer(element + settings, side, side, "yolov8tensordec");
  std::vector<double> times;
  std::size_t objects = 0;
  for (unsigned i = 0; i < frames; i++) {
    Ref<GstBuffer> buffer = peer.frame();
    add_tensors(buffer.get(), head_of(i % 3).tensors());
    const double before = cpu_seconds();
    buffer = peer.pass(std::move(buffer));
    times.push_back(1e3 * (cpu_seconds() - before));
    objects = detected_objects(buffer.get()).size();
  }
  std::ranges::nth_element(times, times.begin() + frames / 2);
  return {times[frames / 2], objects};
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const unsigned frames = argc > 1 ? unsigned(std::atoi(argv[1])) : 9;
  if (const std::string missing = missing_element({"yolov8tensordec", "crowdtensordec"}); !missing.empty()) {
    std::fprintf(stderr, "there is no %s in this GStreamer\n", missing.c_str());
    return 77;
  }
  std::puts(
      "| class threshold | iou-threshold | objects | yolov8tensordec ms | crowdtensordec ms | times | "
      "compatibility=stock ms |");
  std::puts("|---|---|---|---|---|---|---|");
  for (const float threshold : {.75F, .2F, .01F, .001F, .0001F}) {
    for (const float iou : {.45F, 1.F}) {
      const std::string settings = " max-detections=100000 class-confidence-threshold=" + std::to_string(threshold) +
                                   " iou-threshold=" + std::to_string(iou);
      const Measured stock = measure("yolov8tensordec", settings, frames);
      const Measured ours = measure("crowdtensordec meta-output=analytics", settings, frames);
      const Measured same = measure("crowdtensordec meta-output=analytics compatibility=stock", settings, frames);
      std::printf("| %g | %g | %zu | %.2f | %.2f | %.1f | %.2f |\n", double(threshold), double(iou), stock.objects,
                  stock.milliseconds, ours.milliseconds, stock.milliseconds / ours.milliseconds, same.milliseconds);
      std::fflush(stdout);
    }
  }
  return 0;
}
