// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * crowdtensordec on tensors in device memory, for the frames of bench_tensordec, as a markdown table: CPU time of the
 * thread that pushes a frame, and time from the first push until the device is done, a frame, of frames back to back.
 * Tensors are uploaded before the clock starts; survivors stay on the device, or are downloaded as objects.
 *
 *     bench_tensordec_device [frames]
 */

#include <glib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device_support.hpp"
#include "peers.hpp"
#include "timed_head.hpp"

namespace {

using namespace crowd::test;

Ref<GstBuffer> frame_of(const Peer& maker, const Gpu& gpu, const YoloHead& head) {
  Ref<GstBuffer> frame = maker.frame();
  add_tensors(frame.get(), head.tensors());
  GstTensor* tensor = gst_buffer_get_tensor_meta(frame.get())->tensors[0];
  gst_clear_buffer(&tensor->data);
  tensor->data = upload(gpu, head.values.data(), head.values.size() * sizeof(float)).release();
  return frame;
}

struct Times {
  double cpu_ms, device_us;
};

Times pass(Pipe& pipe, const Gpu& gpu, std::vector<Ref<GstBuffer>> frames) {
  const double n = double(frames.size());
  gpu.synchronise();
  const gint64 start = g_get_monotonic_time();
  const double cpu = cpu_seconds();
  for (Ref<GstBuffer>& frame : frames)
    frame = pipe.pass(std::move(frame));
  const double cpu_ms = 1e3 * (cpu_seconds() - cpu) / n;
  gpu.synchronise();
  return {cpu_ms, double(g_get_monotonic_time() - start) / n};
}

void measure(const Gpu& gpu, const char* output, float threshold, unsigned count) {
  const Peer maker("identity", side, side);
  Pipe pipe(
      "crowdtensordec name=dec backend=cuda max-detections=100000 iou-threshold=0.45 class-confidence-threshold=" +
          std::to_string(threshold) + " meta-output=" + output,
      &gpu);
  pipe.set_caps(info_of("I420", side, side), false);
  Times times{};
  // The first round makes graphs and memory.
  for (int round = 0; round < 2; round++) {
    std::vector<Ref<GstBuffer>> frames;
    for (unsigned i = 0; i < count; i++)
      frames.push_back(frame_of(maker, gpu, head_of(i % 3)));
    times = pass(pipe, gpu, std::move(frames));
  }
  const auto survivors = pipe.stat("dec", "survivors") / (2 * count);
  if (pipe.stat("dec", "device-frames") != 2 * count)
    std::puts("not all frames were decoded on the device");
  std::printf("| %g | %s | %u | %.3f | %.0f |\n", double(threshold), output, unsigned(survivors), times.cpu_ms,
              times.device_us);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const unsigned frames = argc > 1 ? unsigned(std::max(1, std::atoi(argv[1]))) : 32;
  if (const std::string missing = missing_gpu(); !missing.empty()) {
    std::fprintf(stderr, "%s\n", missing.c_str());
    return 77;
  }
  const Gpu gpu;
  std::puts("| class threshold | meta-output | survivors | CPU ms | us until the device is done |");
  std::puts("|---|---|---|---|---|");
  for (const float threshold : {.75F, .2F, .01F, .001F, .0001F})
    for (const char* output : {"boxes", "analytics"})
      measure(gpu, output, threshold, frames);
  return 0;
}
