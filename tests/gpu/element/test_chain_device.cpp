// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdinject ! crowdnms ! crowdoverlay on frames in device memory: boxes stay there on the whole way.

#include "device_boxes.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::test;

constexpr char inject[] = "crowdinject name=inject seed=7 candidates=4096 ";
constexpr char overlay[] = "crowdoverlay name=overlay draw-counts=true draw-summary=true";

class ChainOf : public testing::TestWithParam<const char*> {};

TEST_P(ChainOf, draws_what_it_draws_on_system_frames) {
  const Gpu gpu;
  Pipe device(std::string(inject) + "! crowdnms name=nms ! " + overlay, &gpu);
  Pipe host(std::string(inject) + "! crowdnms name=nms backend=cpu meta-output=boxes ! " + overlay);
  for (const unsigned width : {1280u, 1920u, 769u, 16384u}) {
    const GstVideoInfo info = info_of(GetParam(), width, width == 16384 ? 16 : width * 9 / 16);
    device.set_caps(info, true);
    host.set_caps(info, false);
    for (unsigned i = 0; i < 25; i++) {
      SCOPED_TRACE("width " + std::to_string(width) + ", frame " + std::to_string(i));
      Ref<GstBuffer> expected = noise(info, i);
      GST_BUFFER_PTS(expected.get()) = i * GST_SECOND / 25;
      Ref<GstBuffer> buffer = gpu.frame_like(expected.get(), info);
      buffer = device.pass(std::move(buffer));
      expected = host.pass(std::move(expected));
      ASSERT_TRUE(buffer && expected);
      EXPECT_EQ(gpu.synchronise(), cudaSuccess);
      EXPECT_TRUE(is_cuda_memory(gst_buffer_peek_memory(buffer.get(), 0)));
      expect_same_survivors(expected.get(), buffer.get());
      EXPECT_TRUE(rois(buffer.get()).empty());
      ASSERT_TRUE(same_picture(expected.get(), buffer.get(), info));
      EXPECT_EQ(read_survivors(buffer.get()).value().candidates, 4096u);
    }
  }
  EXPECT_EQ(device.stat("nms", "frames-on-gpu"), 100u);
  for (const char* counter : {"frames", "candidates", "survivors", "suppressed", "invalid", "failures"})
    EXPECT_EQ(device.stat("nms", counter), host.stat("nms", counter)) << counter;
  EXPECT_EQ(device.stat("overlay", "failures"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Format, ChainOf, testing::Values("NV12", "RGBA"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Chain, candidates_come_in_device_memory_where_they_are_read_there) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  // What reads: crowdoverlay, not the harness.
  for (const bool read : {true, false}) {
    Pipe pipe(std::string(inject) + (read ? "! crowdoverlay show=candidates" : ""), &gpu);
    pipe.set_caps(info, true);
    const Ref<GstBuffer> out = pipe.pass(gpu.frame(info));
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(out.get());
    ASSERT_NE(meta, nullptr);
    EXPECT_EQ(is_cuda_memory(meta->memory), read);
  }
}

// Candidates of three models, three of each object, with features behind the models in the memory.
std::string lines_of_models() {
  std::string lines;
  for (int frame = 0; frame < 5; frame++) {
    lines += R"({"objects": [)";
    for (int i = 0; i < 60 + 30 * frame; i++) {
      const int x = i / 3 * 25 % 600 + i % 3 * 2, y = i / 72 * 60 + frame;
      lines += std::string(i ? "," : "") + R"({"box": [)" + std::to_string(x) + "," + std::to_string(y) + "," +
               std::to_string(x + 20) + "," + std::to_string(y + 50) + R"(], "score": 0.)" +
               std::to_string(10 + i * 7 % 89) + R"(, "model": )" + std::to_string(i % 4) + R"(, "feature": [)" +
               std::to_string(i / 3) + ", 1]}";
    }
    lines += "]}\n";
  }
  return lines;
}

TEST(Chain, models_of_a_file_are_weighed_on_the_device) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const TemporaryFile file(lines_of_models());
  for (const char* properties :
       {"method=wbf model-weights=1,3,0.5", "method=nmw rule=feature iou-threshold=0.9 model-weights=1,3,0.5"}) {
    const std::string chain = "crowdinject location=" + file.path + " ! crowdnms name=nms " + properties;
    Pipe device(chain + " meta-output=boxes", &gpu), host(chain + " backend=cpu meta-output=boxes");
    device.set_caps(info, true);
    host.set_caps(info, false);
    for (unsigned i = 0; i < 5; i++) {
      SCOPED_TRACE(testing::Message() << properties << ", frame " << i);
      const Ref<GstBuffer> expected = host.pass(noise(info, i)), got = device.pass(gpu.frame(info));
      EXPECT_EQ(gpu.synchronise(), cudaSuccess);
      expect_same_survivors(expected.get(), got.get());
    }
    for (const char* counter : {"candidates", "survivors", "suppressed", "invalid", "failures"})
      EXPECT_EQ(device.stat("nms", counter), host.stat("nms", counter)) << counter;
    EXPECT_EQ(device.stat("nms", "device-frames"), 5u);
    EXPECT_GT(host.stat("nms", "invalid"), 0u) << "of the fourth model";
    EXPECT_EQ(host.stat("nms", "failures"), 0u);
  }
}

// Where elements find the context of the frames by themselves.
TEST(Chain, follows_the_context_of_the_frames) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe device(std::string(inject) + "! crowdnms name=nms ! " + overlay),
      host(std::string(inject) + "! crowdnms meta-output=boxes ! " + overlay);
  device.set_caps(info, true);
  host.set_caps(info, false);
  for (unsigned i = 0; i < 10; i++) {
    Ref<GstBuffer> expected = noise(info, i);
    Ref<GstBuffer> buffer = gpu.frame_like(expected.get(), info);
    buffer = device.pass(std::move(buffer));
    expected = host.pass(std::move(expected));
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    expect_same_survivors(expected.get(), buffer.get());
    ASSERT_TRUE(same_picture(expected.get(), buffer.get(), info)) << "frame " << i;
  }
}

TEST(Chain, takes_no_more_memory_after_two_thousand_frames) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe device(std::string(inject) + "! crowdnms name=nms ! " + overlay, &gpu);
  device.set_caps(info, true);
  std::vector<Ref<GstBuffer>> frames;
  for (unsigned i = 0; i < 8; i++)
    frames.push_back(gpu.frame(info));
  std::size_t early = 0;
  for (unsigned i = 0; i < 2000; i++) {
    Ref<GstBuffer>& frame = frames[i % frames.size()];
    forget_detections(frame.get());
    frame = device.pass(std::move(frame));
    ASSERT_NE(frame, nullptr);
    if (i == 199)
      early = gpu.free_bytes();
  }
  EXPECT_EQ(gpu.free_bytes(), early);
  EXPECT_EQ(device.stat("nms", "frames-on-gpu"), 2000u);
  EXPECT_EQ(device.stat("nms", "candidates"), 2000u * 4096u);
}

// Frames stop and start as an application would, and the context goes with the last of them.
TEST(Chain, gives_all_memory_back) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const auto play = [&] {
    Pipe device(std::string(inject) + "! crowdnms name=nms ! " + overlay, &gpu);
    device.set_caps(info, true);
    for (unsigned i = 0; i < 20; i++)
      EXPECT_NE(device.pass(gpu.frame(info)), nullptr);
  };
  play();
  const std::size_t before = gpu.free_bytes();
  for (int i = 0; i < 10; i++)
    play();
  EXPECT_EQ(gpu.free_bytes(), before);
}

}  // namespace
