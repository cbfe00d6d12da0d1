// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The order of work on frames (gpu/device.hpp) where CUDA memories name no stream.

#include <gst/crowd/gstcrowdcuda.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "device_boxes.hpp"

namespace {

using namespace crowd::test;
using namespace std::chrono_literals;

constexpr unsigned candidates = 4096;
constexpr char chain[] =
    "crowdinject seed=7 candidates=4096 ! crowdnms name=nms ! crowdoverlay draw-counts=true draw-summary=true";

// What is launched on the stream behind it waits until it is opened, or for as long as a test may take.
class Gate {
 public:
  explicit Gate(const Gpu& gpu, cudaStream_t stream = nullptr) {
    const Gpu::Current current(gpu);
    EXPECT_EQ(cudaLaunchHostFunc(stream, wait, this), cudaSuccess);
  }
  ~Gate() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return passed_; });
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    std::unique_lock lock(self.mutex_);
    self.changed_.wait_for(lock, 60s, [&self] { return self.open_; });
    self.passed_ = true;
    self.changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, passed_ = false;
};

class FrameStreams : public testing::Test {
 protected:
  FrameStreams() {
    device.set_caps(info, true);
    host.set_caps(info, false);
  }

  Ref<GstBuffer> picture_of(unsigned number) const {
    Ref<GstBuffer> picture = noise(info, number);
    GST_BUFFER_PTS(picture.get()) = number * GST_SECOND / 25;
    return picture;
  }

  /// Takes new frames through both pipes, the one in device memory last.
  Ref<GstBuffer> pass_both(unsigned number, Ref<GstBuffer>& expected) {
    const Ref<GstBuffer> picture = picture_of(number);
    Ref<GstBuffer> frame = gpu.frame_like(picture.get(), info);
    expected = host.pass(Ref<GstBuffer>(gst_buffer_copy_deep(picture.get())));
    return device.pass(std::move(frame));
  }

  /// Takes a frame through that was there before.
  Ref<GstBuffer> pass_again(Ref<GstBuffer> frame) {
    forget_detections(frame.get());
    return device.pass(std::move(frame));
  }

  /// Whether so many frames are clustered before `patience` is over.
  bool clusters(unsigned frames, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (device.stat("nms", "candidates") != std::uint64_t{frames} * candidates) {
      if (std::chrono::steady_clock::now() > end)
        return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 1920, 1080);
  Pipe device{chain, &gpu};
  Pipe host{
      "crowdinject seed=7 candidates=4096 ! crowdnms backend=cpu meta-output=boxes ! "
      "crowdoverlay draw-counts=true draw-summary=true"};
};

// As GStreamer's elements read it: nothing but the order of the default stream makes them wait.
TEST_F(FrameStreams, are_drawn_on_before_they_are_read) {
  for (unsigned i = 0; i < 50; i++) {
    SCOPED_TRACE("frame " + std::to_string(i));
    Ref<GstBuffer> expected;
    const Ref<GstBuffer> got = pass_both(i, expected);
    ASSERT_TRUE(expected && got);
    ASSERT_TRUE(same_picture(expected.get(), got.get(), info));
    expect_same_survivors(expected.get(), got.get());
  }
}

TEST(Survivors, are_found_before_they_are_read) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe device("crowdinject seed=7 candidates=65536 ! crowdnms name=nms", &gpu),
      host("crowdinject seed=7 candidates=65536 ! crowdnms backend=cpu meta-output=boxes");
  device.ask_for_survivors_on_device();
  device.set_caps(info, true);
  host.set_caps(info, false);
  for (unsigned i = 0; i < 10; i++) {
    SCOPED_TRACE("frame " + std::to_string(i));
    const GstClockTime pts = i * GST_SECOND / 25;
    Ref<GstBuffer> picture = noise(info, i);
    GST_BUFFER_PTS(picture.get()) = pts;
    const Ref<GstBuffer> got = device.pass(gpu.frame(info, pts)), expected = host.pass(std::move(picture));
    ASSERT_TRUE(expected && got);
    expect_same_survivors(expected.get(), got.get());
  }
  EXPECT_EQ(device.stat("nms", "frames-on-gpu"), 10u);
}

#if !GST_CHECK_VERSION(1, 24, 0)

TEST_F(FrameStreams, a_frame_does_not_wait_for_others_on_the_default_stream) {
  Ref<GstBuffer> expected, frame;
  for (unsigned i = 0; i < 5; i++)
    frame = pass_both(i, expected);
  ASSERT_TRUE(clusters(5, 20s));
  {
    const Gate gate(gpu);
    frame = pass_again(std::move(frame));
    EXPECT_TRUE(clusters(6, 20s));
  }
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
}

TEST_F(FrameStreams, a_new_frame_waits_for_what_the_default_stream_does_to_it) {
  Ref<GstBuffer> expected;
  for (unsigned i = 0; i < 4; i++)
    (void)pass_both(i, expected);
  ASSERT_TRUE(clusters(4, 20s));
  const Ref<GstBuffer> picture = picture_of(4);
  const Ref<GstBuffer> frame = gpu.frame_like(picture.get(), info);
  expected = host.pass(Ref<GstBuffer>(gst_buffer_copy_deep(picture.get())));
  Ref<GstBuffer> copy;
  {
    const Gate gate(gpu);
    // As of a buffer that has two owners: another memory, copied into on the default stream.
    copy.reset(gst_buffer_copy_deep(frame.get()));
    copy = device.pass(std::move(copy));
    EXPECT_FALSE(clusters(5, 200ms));
  }
  EXPECT_TRUE(clusters(5, 20s));
  ASSERT_TRUE(copy);
  EXPECT_TRUE(same_picture(expected.get(), copy.get(), info));
}

TEST_F(FrameStreams, take_turns_in_an_element) {
  Pipe first("crowdinject", &gpu), second("crowdinject", &gpu);
  for (Pipe* pipe : {&first, &second}) {
    pipe->ask_for_candidates_on_device();
    pipe->set_caps(info, true);
  }
  std::set<cudaStream_t> streams;
  for (unsigned i = 0; i < 20; i++) {
    SCOPED_TRACE("frame " + std::to_string(i));
    const Ref<GstBuffer> picture = picture_of(i);
    Ref<GstBuffer> frame = (i % 3 ? first : second).pass(gpu.frame_like(picture.get(), info));
    ASSERT_TRUE(frame);
    streams.insert(given_stream(frame.get()));
    frame = pass_again(std::move(frame));
    const Ref<GstBuffer> expected = host.pass(Ref<GstBuffer>(gst_buffer_copy_deep(picture.get())));
    ASSERT_TRUE(frame && expected);
    ASSERT_TRUE(same_picture(expected.get(), frame.get(), info));
    expect_same_survivors(expected.get(), frame.get());
  }
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(streams.count(nullptr), 0u);
  EXPECT_TRUE(clusters(20, 20s));
}

// A frame of two buffers, as behind a tee: a copy is drawn on, then the original, while neither has happened.
TEST(SharedFrames, are_copied_before_they_are_drawn_on) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 1920, 1080);
  const MetaBoxes boxes = candidates_of(crowd::test::crowd(500, 20, 1920, 1080, 3), 1920, 1080);
  const std::string thin = "crowdoverlay show=candidates candidate-thickness=1",
                    thick = "crowdoverlay show=candidates candidate-thickness=5";
  Pipe giver("crowdinject", &gpu), first(thin, &gpu), second(thick, &gpu), host_first(thin), host_second(thick);
  giver.ask_for_candidates_on_device();
  for (Pipe* pipe : {&giver, &first, &second})
    pipe->set_caps(info, true);
  for (Pipe* pipe : {&host_first, &host_second})
    pipe->set_caps(info, false);
  for (unsigned i = 0; i < 8; i++) {
    SCOPED_TRACE("frame " + std::to_string(i));
    const Ref<GstBuffer> picture = noise(info, i);
    Ref<GstBuffer> frame = giver.pass(gpu.frame_like(picture.get(), info));
    ASSERT_TRUE(frame);
    EXPECT_NE(given_stream(frame.get()), nullptr);
    forget_detections(frame.get());
    attach(frame.get(), boxes);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    Ref<GstBuffer> copy(gst_buffer_copy(frame.get()));
    // Those before load kernels and make room.
    std::optional<Gate> gate;
    if (i >= 5)
      gate.emplace(gpu);
    copy = first.pass(std::move(copy));
    frame = second.pass(std::move(frame));
    std::this_thread::sleep_for(20ms);
    gate.reset();
    ASSERT_TRUE(copy && frame);
    EXPECT_NE(gst_buffer_peek_memory(copy.get(), 0), gst_buffer_peek_memory(frame.get(), 0));
    EXPECT_EQ(given_stream(copy.get()), given_stream(frame.get()));
    const auto drawn = [&](Pipe& host) {
      Ref<GstBuffer> expected(gst_buffer_copy_deep(picture.get()));
      attach(expected.get(), boxes);
      return host.pass(std::move(expected));
    };
    EXPECT_TRUE(same_picture(drawn(host_first).get(), copy.get(), info)) << "the copy";
    EXPECT_TRUE(same_picture(drawn(host_second).get(), frame.get(), info)) << "the original";
  }
}

TEST_F(FrameStreams, an_application_that_asks_gets_the_default_stream) {
  Ref<GstBuffer> expected, frame;
  for (unsigned i = 0; i < 4; i++)
    frame = pass_both(i, expected);
  ASSERT_TRUE(clusters(4, 20s));
  EXPECT_EQ(gst_crowd_cuda_stream(gst_buffer_peek_memory(frame.get(), 0)), nullptr);
  // On another stream than before, for which memories are made anew.
  frame = pass_again(std::move(frame));
  ASSERT_TRUE(clusters(5, 20s));
  {
    const Gate gate(gpu);
    frame = pass_again(std::move(frame));
    EXPECT_FALSE(clusters(6, 200ms));
  }
  EXPECT_TRUE(clusters(6, 20s));
}

bool default_stream_waits(const Gpu& gpu) {
  const Gpu::Current current(gpu);
  cudaEvent_t reached = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&reached, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(reached, nullptr), cudaSuccess);
  std::this_thread::sleep_for(100ms);
  const cudaError_t state = cudaEventQuery(reached);
  (void)cudaGetLastError();
  EXPECT_EQ(cudaEventDestroy(reached), cudaSuccess);
  return state == cudaErrorNotReady;
}

Ref<GstBuffer> with_candidates(const Gpu& gpu) {
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Ref<GstBuffer> frame = gpu.frame(info);
  attach(frame.get(), candidates_of(crowd::test::crowd(1000, 20, 640, 480, 3), 640, 480));
  return frame;
}

// Lets frames through, and then one more of which the stream is closed before the last pipe.
void expect_default_stream_to_follow(const Gpu& gpu, Ref<GstBuffer> frame, Pipe* before, Pipe& last) {
  for (Pipe* pipe : {before, &last})
    if (pipe)
      pipe->set_caps(info_of("NV12", 640, 480), true);
  const auto pass_before = [&] {
    if (!before)
      return;
    forget_detections(frame.get());
    frame = before->pass(std::move(frame));
  };
  // An upload has four blocks of memory, which are made as they are needed.
  for (int i = 0; i < 5; i++) {
    pass_before();
    frame = last.pass(std::move(frame));
  }
  ASSERT_TRUE(frame);
  const cudaStream_t stream = given_stream(frame.get());
  ASSERT_NE(stream, nullptr);
  pass_before();
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  {
    const Gate gate(gpu, stream);
    frame = last.pass(std::move(frame));
    EXPECT_TRUE(default_stream_waits(gpu));
  }
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
}

TEST(DefaultStream, follows_crowdnms) {
  const Gpu gpu;
  Pipe inject("crowdinject seed=7", &gpu), nms("crowdnms", &gpu);
  inject.ask_for_candidates_on_device();
  nms.ask_for_survivors_on_device();
  expect_default_stream_to_follow(gpu, gpu.frame(info_of("NV12", 640, 480)), &inject, nms);
}

TEST(DefaultStream, follows_crowdinject) {
  const Gpu gpu;
  Pipe inject("crowdinject seed=7", &gpu);
  inject.ask_for_candidates_on_device();
  expect_default_stream_to_follow(gpu, gpu.frame(info_of("NV12", 640, 480)), nullptr, inject);
}

TEST(DefaultStream, follows_crowdoverlay) {
  const Gpu gpu;
  Pipe overlay("crowdoverlay show=candidates", &gpu);
  expect_default_stream_to_follow(gpu, with_candidates(gpu), nullptr, overlay);
}

TEST(DefaultStream, follows_crowddetect) {
  if (!gst_registry_check_feature_version(gst_registry_get(), "crowddetect", 0, 0, 0))
    GTEST_SKIP() << "a build without OpenCV";
  const Gpu gpu;
  Pipe detect("crowddetect", &gpu);
  expect_default_stream_to_follow(gpu, gpu.frame(info_of("NV12", 640, 480)), nullptr, detect);
}

#endif

}  // namespace
