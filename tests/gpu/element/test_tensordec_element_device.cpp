// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdtensordec on tensors in device memory, beside itself on the CPU with the same ones in system memory.

#include <cuda_fp16.h>
#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <sstream>

#include "device_boxes.hpp"
#include "device_support.hpp"
#include "tensordec_harness.hpp"

namespace crowd::test {
namespace {

using testing::IsEmpty;
using testing::Not;

constexpr unsigned side = 640;
constexpr int frames = 4;

/// A frame in system memory with these tensors, in device memory if there is a `gpu`.
Ref<GstBuffer> frame_of(const std::vector<TensorParts>& parts, const Gpu* gpu) {
  Ref<GstBuffer> frame = make_frame(side, side);
  auto** tensors = g_new(GstTensor*, parts.size());
  for (std::size_t i = 0; i < parts.size(); i++) {
    tensors[i] = make_tensor(parts[i]);
    if (!gpu)
      continue;
    gst_clear_buffer(&tensors[i]->data);
    tensors[i]->data = upload(*gpu, parts[i].bytes.data(), parts[i].bytes.size()).release();
  }
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(frame.get()), static_cast<guint>(parts.size()), tensors);
  return frame;
}

TensorParts tensor_of(const char* id, std::vector<gsize> dims, const std::vector<float>& values, bool half) {
  TensorParts parts{.id = id, .dims = std::move(dims), .bytes = bytes_of(values)};
  if (!half)
    return parts;
  std::vector<__half> halves;
  for (const float value : values)
    halves.push_back(__float2half(value));
  parts.type = GST_TENSOR_DATA_TYPE_FLOAT16;
  parts.bytes.assign(reinterpret_cast<const char*>(halves.data()), halves.size() * sizeof(__half));
  return parts;
}

/// [1, 84, 8400], 60 people and noise; scores of all magnitudes, of which as float16 many are equal.
std::vector<TensorParts> yolo(unsigned seed, bool half) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  constexpr std::size_t places = 8400, channels = 84, people = 60;
  std::vector<float> values(channels * places);
  for (std::size_t i = 0; i < places; i++) {
    const float score = std::pow(10.F, uniform(-6, 0)), spread = score > .1F ? 8 : 200;
    const std::size_t person = random() % people;
    values[i] = 40 + 60 * float(person % 10) + uniform(-spread, spread);
    values[places + i] = 60 + 100 * float(person / 10) + uniform(-spread, spread);
    values[2 * places + i] = uniform(8, 60);
    values[3 * places + i] = uniform(8, 90);
    values[(4 + random() % 80) * places + i] = score;
  }
  return {tensor_of("yolo-v8-out", {1, channels, places}, values, half)};
}

/// [1, 4420, 4] and [1, 4420, 2].
std::vector<TensorParts> faces(unsigned seed, bool half) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  constexpr std::size_t places = 4420;
  std::vector<float> boxes, scores;
  for (std::size_t i = 0; i < places; i++) {
    const float x = std::round(uniform(0, 9)) / 10 + uniform(-.01F, .01F), y = uniform(0, .9F),
                size = uniform(.02F, .1F);
    boxes.insert(boxes.end(), {x, y, x + size, y + size});
    const float score = uniform(0, 1);
    scores.insert(scores.end(), {1 - score, score});
  }
  return {tensor_of("ssd-mobilenet-v1-variant-1-out-boxes", {1, places, 4}, boxes, half),
          tensor_of("ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", {1, places, 2}, scores, half)};
}

/// All that the objects of a frame say, a line each.
std::string all_objects(GstBuffer* buffer) {
  std::ostringstream all;
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(), &mtd)) {
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat score = 0;
    gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &score);
    all << g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&mtd)) << " " << x << " " << y << " " << w << " " << h
        << " " << std::hexfloat << score << "\n";
  }
  return all.str();
}

struct Input {
  const char* name;
  std::vector<TensorParts> (*make)(unsigned seed, bool half);
  bool half;
};
void PrintTo(const Input& input, std::ostream* out) {
  *out << input.name;
}

struct Decoders {
  Decoders(const Gpu& gpu, const std::string& properties)
      : gpu(gpu),
        device("crowdtensordec name=dec backend=cuda class-confidence-threshold=0.05 " + properties, &gpu),
        host("crowdtensordec name=dec backend=cpu class-confidence-threshold=0.05 " + properties) {
    for (Pipe* pipe : {&device, &host})
      pipe->set_caps(info_of("I420", side, side), false);
  }

  struct Frames {
    Ref<GstBuffer> device, host;
  };
  Frames pass(const std::vector<TensorParts>& tensors) {
    Frames passed{device.pass(frame_of(tensors, &gpu)), host.pass(frame_of(tensors, nullptr))};
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    return passed;
  }

  const Gpu& gpu;
  Pipe device, host;
};

class TensordecElementOnDevice : public testing::TestWithParam<Input> {};

TEST_P(TensordecElementOnDevice, leaves_the_boxes_of_the_host) {
  const Gpu gpu;
  const auto [name, make, half] = GetParam();
  SCOPED_TRACE(name);
  Decoders decoders(gpu, "meta-output=boxes");
  for (unsigned seed = 0; seed < frames; seed++) {
    SCOPED_TRACE(seed);
    const auto passed = decoders.pass(make(seed, half));
    ASSERT_TRUE(passed.device && passed.host);
    expect_same_survivors(passed.host.get(), passed.device.get());
  }
  EXPECT_EQ(decoders.device.stat("dec", "device-frames"), unsigned{frames});
  EXPECT_EQ(decoders.device.stat("dec", "survivors"), decoders.host.stat("dec", "survivors"));
  EXPECT_GT(decoders.host.stat("dec", "survivors"), 100u);
  EXPECT_THAT(take_warnings(decoders.device.bus()), IsEmpty());
}

TEST_P(TensordecElementOnDevice, leaves_the_objects_of_the_host) {
  const Gpu gpu;
  const auto [name, make, half] = GetParam();
  SCOPED_TRACE(name);
  Decoders decoders(gpu, "meta-output=analytics");
  for (unsigned seed = 0; seed < frames; seed++) {
    SCOPED_TRACE(seed);
    const auto passed = decoders.pass(make(seed, half));
    ASSERT_TRUE(passed.device && passed.host);
    const std::string expected = all_objects(passed.host.get());
    ASSERT_THAT(expected, Not(IsEmpty()));
    EXPECT_EQ(all_objects(passed.device.get()), expected);
  }
  EXPECT_EQ(decoders.device.stat("dec", "device-frames"), unsigned{frames});
}

// Its rule is one of the CPU. Of float16 it decodes nothing, there as here.
TEST_P(TensordecElementOnDevice, downloads_for_the_stock_rule) {
  const Gpu gpu;
  const auto [name, make, half] = GetParam();
  SCOPED_TRACE(name);
  if (half)
    GTEST_SKIP() << "GStreamer's decoders take float32 alone";
  Decoders decoders(gpu, "meta-output=analytics compatibility=stock max-detections=10000");
  for (unsigned seed = 0; seed < frames; seed++) {
    SCOPED_TRACE(seed);
    const auto passed = decoders.pass(make(seed, half));
    ASSERT_TRUE(passed.device && passed.host);
    const std::string expected = all_objects(passed.host.get());
    ASSERT_THAT(expected, Not(IsEmpty()));
    EXPECT_EQ(all_objects(passed.device.get()), expected);
  }
  EXPECT_EQ(decoders.device.stat("dec", "device-frames"), 0u);
  EXPECT_EQ(decoders.device.stat("dec", "failures"), 0u);
}

INSTANTIATE_TEST_SUITE_P(of, TensordecElementOnDevice,
                         testing::Values(Input{"yolo", yolo, false}, Input{"yolo_half", yolo, true},
                                         Input{"faces", faces, false}, Input{"faces_half", faces, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace crowd::test
