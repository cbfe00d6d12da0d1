// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * What drawing costs the host: 200 labelled boxes on a frame of 3840x2160.
 *
 *     bench_overlay [google benchmark's options]
 *
 * `paint` is the painting alone, `compose` what comes before it, `element` a buffer's way through crowdoverlay. The
 * element is the one that GST_PLUGIN_PATH leads to. CPU time counts.
 */

#include <benchmark/benchmark.h>
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <random>
#include <vector>

#include "base/mappedframe.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay/draw/frame.hpp"

namespace {

using namespace crowd::draw;

constexpr int width = 3840, height = 2160;
constexpr unsigned people = 200;

/// People as far away as a camera over a square sees them.
std::vector<Detection> crowd_of(unsigned n) {
  std::mt19937 random(1);
  const auto pick = [&random](int low, int high) {
    return static_cast<float>(std::uniform_int_distribution(low, high)(random));
  };
  std::vector<Detection> all;
  for (unsigned i = 0; i < n; i++) {
    const float x = pick(0, width - 160), y = pick(60, height - 400), w = pick(40, 150);
    all.push_back({x, y, x + w, y + 2.5F * w, pick(30, 100) / 100, 0, 7, "person"});
  }
  return all;
}

GstVideoInfo info_of(const char* format) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height);
  return info;
}

void compose(benchmark::State& state) {
  const auto boxes = crowd_of(people);
  Composer composer;
  for (auto _ : state)
    benchmark::DoNotOptimize(composer.build(width, height, {}, {}, boxes, {}).data());
}
BENCHMARK(compose)->Unit(benchmark::kMicrosecond);

void paint_format(benchmark::State& state, const char* format, const Style& style = {}) {
  const GstVideoInfo info = info_of(format);
  const auto boxes = crowd_of(people);
  Composer composer;
  const auto primitives = composer.build(width, height, style, {}, boxes, {});
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 16, info.size);
  {
    const crowd::MappedFrame frame(buffer, info, GST_MAP_READWRITE);
    for (auto _ : state)
      paint(canvas_of(*frame), primitives);
  }
  gst_buffer_unref(buffer);
}
void paint_outlines(benchmark::State& state, const char* format) {
  paint_format(state, format, {.labels = false, .scores = false, .counts = false});
}
BENCHMARK_CAPTURE(paint_outlines, NV12, "NV12")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_outlines, BGRA, "BGRA")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, NV12, "NV12")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, BGRA, "BGRA")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, I420, "I420")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, BGRx, "BGRx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, RGB, "RGB")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(paint_format, YUY2, "YUY2")->Unit(benchmark::kMillisecond);

GstBuffer* buffer_with_regions(const GstVideoInfo& info) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 16, info.size);
  for (const Detection& d : crowd_of(people)) {
    GstVideoRegionOfInterestMeta* region = gst_buffer_add_video_region_of_interest_meta(
        buffer, d.label, static_cast<guint>(d.x1), static_cast<guint>(d.y1), static_cast<guint>(d.x2 - d.x1),
        static_cast<guint>(d.y2 - d.y1));
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, static_cast<double>(d.score), "label_id",
                                  G_TYPE_INT, d.class_id, nullptr));
  }
  return buffer;
}

void element(benchmark::State& state, const char* format) {
  GstHarness* harness = gst_harness_new("crowdoverlay");
  if (!harness->element) {
    state.SkipWithError("crowdoverlay is not found: GST_PLUGIN_PATH");
    return;
  }
  GstVideoInfo info = info_of(format);
  gst_harness_set_src_caps(harness, gst_video_info_to_caps(&info));
  GstBuffer* buffer = buffer_with_regions(info);
  for (auto _ : state)
    buffer = gst_harness_push_and_pull(harness, buffer);
  gst_buffer_unref(buffer);
  gst_harness_teardown(harness);
}
BENCHMARK_CAPTURE(element, NV12, "NV12")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(element, BGRA, "BGRA")->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
