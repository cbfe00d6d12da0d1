// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The GPU has no memory left for a frame that needs more than the ones before: one error that says so, and a clean
// stop; with memory again the element plays again. Each test is run in a process of its own.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "device_boxes.hpp"
#if defined(CROWD_SOURCES)
#include "../../element/real_models.hpp"
#endif

namespace {

using namespace crowd::test;
using testing::HasSubstr;

/// All memory that is left of the device, while it lives.
class Hog {
 public:
  explicit Hog(const Gpu& gpu) : gpu_(gpu) {
    const Gpu::Current current(gpu_);
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= 4096; bytes /= 2) {
      void* block = nullptr;
      while (cudaMalloc(&block, bytes) == cudaSuccess)
        blocks_.push_back(block);
      (void)cudaGetLastError();
    }
  }
  ~Hog() {
    const Gpu::Current current(gpu_);
    for (void* block : blocks_)
      EXPECT_EQ(cudaFree(block), cudaSuccess);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  const Gpu& gpu_;
  std::vector<void*> blocks_;
};

MetaBoxes people(std::uint32_t n) {
  return candidates_of(uniform(n, 3840, 2160, 1), 640, 480);
}

/// Returns the text.
std::string expect_said_once(const Pipe& pipe) {
  const std::string text = expect_one_resource_error(pipe.bus(), GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  EXPECT_THAT(text, testing::AllOf(HasSubstr("GPU has no memory left"), HasSubstr("max-candidates")));
  EXPECT_EQ(gst_element_set_state(pipe.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(pop_message(pipe.bus(), GST_MESSAGE_ERROR), nullptr);
  return text;
}

TEST(DeviceFull, crowdnms) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  for (const char* output : {"boxes", "roi"}) {
    SCOPED_TRACE(output);
    Pipe pipe("crowdnms name=nms max-candidates=500000 meta-output=" + std::string(output), &gpu);
    pipe.set_caps(info, true);
    const auto frame_of = [&](std::uint32_t n) {
      Ref<GstBuffer> buffer = gpu.frame(info);
      attach_on_device(buffer.get(), people(n));
      return buffer;
    };
    EXPECT_NE(pipe.pass(frame_of(500)), nullptr);
    Ref<GstBuffer> large = frame_of(400000);
    {
      const Hog hog(gpu);
      EXPECT_EQ(pipe.push(std::move(large)), GST_FLOW_ERROR);
    }
    expect_said_once(pipe);
    Pipe again("crowdnms name=nms max-candidates=500000 meta-output=boxes", &gpu);
    again.set_caps(info, true);
    const Ref<GstBuffer> out = again.pass(frame_of(400000));
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    const auto survivors = read_survivors(out.get());
    ASSERT_TRUE(survivors);
    EXPECT_GT(survivors->count, 0u);
  }
}

TEST(DeviceFull, crowdinject) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe pipe("crowdinject name=inject candidates=500 ! crowdnms", &gpu);
  pipe.set_caps(info, true);
  EXPECT_NE(pipe.pass(gpu.frame(info)), nullptr);
  const Ref<GstElement> inject(gst_bin_get_by_name(GST_BIN(pipe.element()), "inject"));
  g_object_set(inject.get(), "candidates", 400000, nullptr);
  Ref<GstBuffer> buffer = gpu.frame(info);
  {
    const Hog hog(gpu);
    EXPECT_EQ(pipe.push(std::move(buffer)), GST_FLOW_ERROR);
  }
  EXPECT_THAT(expect_said_once(pipe), HasSubstr("no device memory for candidates"));
}

TEST(DeviceFull, crowdoverlay) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe pipe("crowdoverlay name=overlay show=both", &gpu);
  pipe.set_caps(info, true);
  const auto frame_of = [&](std::uint32_t n) {
    Ref<GstBuffer> buffer = gpu.frame(info);
    attach(buffer.get(), people(n));
    return buffer;
  };
  EXPECT_NE(pipe.pass(frame_of(500)), nullptr);
  Ref<GstBuffer> large = frame_of(400000);
  {
    const Hog hog(gpu);
    EXPECT_EQ(pipe.push(std::move(large)), GST_FLOW_ERROR);
  }
  expect_said_once(pipe);
}

TEST(DeviceFull, crowddetect) {
  const Gpu gpu;
  const GstVideoInfo small = info_of("NV12", 320, 240), large = info_of("NV12", 1920, 1080);
  Pipe pipe("crowddetect", &gpu);
  pipe.set_caps(small, true);
  EXPECT_NE(pipe.pass(gpu.frame(small)), nullptr);
  pipe.set_caps(large, true);
  Ref<GstBuffer> buffer = gpu.frame(large);
  {
    const Hog hog(gpu);
    EXPECT_EQ(pipe.push(std::move(buffer)), GST_FLOW_ERROR);
  }
  expect_said_once(pipe);
  Pipe again("crowddetect name=detect", &gpu);
  again.set_caps(large, true);
  EXPECT_NE(again.pass(gpu.frame(large)), nullptr);
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  EXPECT_EQ(again.stat("detect", "failures"), 0u);
}

#if defined(CROWD_SOURCES)
TEST(DeviceFull, network) {
  const std::string model = printed_by("convert-model person-net");
  if (model.empty())
    GTEST_SKIP() << "person-net cannot be fetched";
  const Gpu gpu;
  const GstVideoInfo frames = info_of("NV12", 1920, 1080);
  const std::string network = "crowddetect name=detect detector=person-net model=" + model;
  Pipe pipe(network, &gpu);
  pipe.set_caps(frames, true);
  if (const Ref<GstMessage> message = pop_message(pipe.bus(), GST_MESSAGE_ERROR))
    GTEST_SKIP() << message_text(message.get());
  EXPECT_NE(pipe.pass(gpu.frame(frames)), nullptr);
  const Ref<GstElement> detect(gst_bin_get_by_name(GST_BIN(pipe.element()), "detect"));
  g_object_set(detect.get(), "tiles", "8x8", nullptr);
  Ref<GstBuffer> buffer = gpu.frame(frames);
  {
    const Hog hog(gpu);
    EXPECT_EQ(pipe.push(std::move(buffer)), GST_FLOW_ERROR);
  }
  expect_said_once(pipe);
  Pipe again(network + " tiles=8x8", &gpu);
  again.set_caps(frames, true);
  EXPECT_NE(again.pass(gpu.frame(frames)), nullptr);
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  EXPECT_EQ(again.stat("detect", "failures"), 0u);
}
#endif

}  // namespace
