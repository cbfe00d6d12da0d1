// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates in device memory in a stream: output-delay, events, other caps, stops and starts.

#include "device_boxes.hpp"
#include "tables.hpp"

namespace {

using namespace crowd::test;

const GstVideoInfo frame_info = info_of("NV12", 640, 480);
constexpr GstClockTime frame_time = GST_SECOND / 25;

MetaBoxes people(std::uint32_t n, std::uint64_t seed) {
  return candidates_of(crowd::test::crowd(n, 20, 640, 480, seed), 640, 480, 11);
}

Ref<GstBuffer> frame(const Gpu& gpu, unsigned number, bool candidates_on_device) {
  Ref<GstBuffer> buffer = gpu.frame(frame_info, number * frame_time);
  const MetaBoxes candidates = people(100 + 331 * number % 2000, 40 + number);
  if (candidates_on_device)
    attach_on_device(buffer.get(), candidates);
  else
    attach(buffer.get(), candidates);
  return buffer;
}

struct Delay {
  const char* name;
  const char* properties;
  bool candidates_on_device;
};

constexpr Delay delays[] = {
    {"device_regions", "meta-output=roi", true},
    {"device_boxes", "meta-output=boxes", true},
    {"device_both", "meta-output=all post-messages=true", true},
    {"host_regions", "meta-output=roi", false},
    {"host_boxes_on_gpu", "meta-output=boxes backend=cuda", false},
};

class OutputDelay : public testing::TestWithParam<Delay> {
 protected:
  OutputDelay()
      : straight("crowdnms name=nms " + std::string(GetParam().properties), &gpu),
        delayed("crowdnms name=nms output-delay=1 " + std::string(GetParam().properties), &gpu) {
    straight.set_caps(frame_info, true);
    delayed.set_caps(frame_info, true);
  }

  Ref<GstBuffer> make(unsigned number) const {
    return frame(gpu, number, GetParam().candidates_on_device);
  }

  /// What the pipe without delay makes of frame `number`, compared with a frame of the other.
  void expect_frame(unsigned number, GstBuffer* got) {
    SCOPED_TRACE("frame " + std::to_string(number));
    ASSERT_NE(got, nullptr);
    const Ref<GstBuffer> expected = straight.pass(make(number));
    ASSERT_NE(expected, nullptr);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    EXPECT_EQ(GST_BUFFER_PTS(got), number * frame_time);
    EXPECT_EQ(all_regions(expected.get()), all_regions(got));
    const bool boxes = gst_buffer_get_crowd_survivors_meta(expected.get()) != nullptr;
    EXPECT_TRUE(boxes || !rois(got).empty());
    EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(got) != nullptr, boxes);
    if (boxes)
      expect_same_survivors(expected.get(), got, GetParam().candidates_on_device);
  }

  void expect_nothing() {
    EXPECT_EQ(delayed.pull(), nullptr);
  }

  const Gpu gpu;
  Pipe straight, delayed;
};

TEST_P(OutputDelay, gives_the_same_frames_one_later) {
  for (unsigned i = 0; i < 12; i++) {
    EXPECT_EQ(delayed.push(make(i)), GST_FLOW_OK);
    if (i == 0)
      expect_nothing();
    else
      expect_frame(i - 1, delayed.pull().get());
  }
  EXPECT_TRUE(delayed.send(gst_event_new_eos()));
  expect_frame(11, delayed.pull().get());
  expect_nothing();
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  for (const char* counter : {"frames", "candidates", "survivors", "suppressed", "failures"})
    EXPECT_EQ(delayed.stat("nms", counter), straight.stat("nms", counter)) << counter;
}

TEST_P(OutputDelay, what_comes_after_a_frame_stays_after_it) {
  unsigned number = 0;
  const auto hold_one = [&] {
    EXPECT_EQ(delayed.push(make(number)), GST_FLOW_OK);
    expect_nothing();
  };
  hold_one();
  EXPECT_TRUE(delayed.send(gst_event_new_gap(frame_time, frame_time)));
  expect_frame(number++, delayed.pull().get());
  hold_one();
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(delayed.send(gst_event_new_segment(&segment)));
  expect_frame(number++, delayed.pull().get());
  hold_one();
  gst_harness_set_src_caps_str(delayed.harness(),
                               "video/x-raw(memory:CUDAMemory),format=NV12,width=640,height=480,"
                               "framerate=50/1");
  expect_frame(number++, delayed.pull().get());
  expect_nothing();
}

TEST_P(OutputDelay, a_flush_drops_what_is_held) {
  EXPECT_EQ(delayed.push(make(0)), GST_FLOW_OK);
  EXPECT_TRUE(delayed.send(gst_event_new_flush_start()));
  EXPECT_TRUE(delayed.send(gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(delayed.send(gst_event_new_segment(&segment)));
  expect_nothing();
  for (unsigned i = 5; i < 9; i++) {
    EXPECT_EQ(delayed.push(make(i)), GST_FLOW_OK);
    if (i == 5)
      expect_nothing();
    else
      expect_frame(i - 1, delayed.pull().get());
  }
}

TEST_P(OutputDelay, adds_a_frame_of_latency) {
  gst_harness_set_upstream_latency(straight.harness(), 7 * GST_MSECOND);
  gst_harness_set_upstream_latency(delayed.harness(), 7 * GST_MSECOND);
  EXPECT_EQ(delayed.push(make(0)), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_query_latency(delayed.harness()), gst_harness_query_latency(straight.harness()) + frame_time);
}

// The leaks tracer looks on.
TEST_P(OutputDelay, stops_with_a_frame_held) {
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(delayed.push(make(0)), GST_FLOW_OK);
    expect_nothing();
    gst_element_set_state(delayed.element(), GST_STATE_READY);
    gst_element_set_state(delayed.element(), GST_STATE_PLAYING);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    EXPECT_TRUE(delayed.send(gst_event_new_stream_start("again")));
    GstCaps* caps = gst_caps_from_string(caps_of(frame_info, true).c_str());
    EXPECT_TRUE(delayed.send(gst_event_new_caps(caps)));
    gst_caps_unref(caps);
    EXPECT_TRUE(delayed.send(gst_event_new_segment(&segment)));
  }
  EXPECT_EQ(delayed.push(make(0)), GST_FLOW_OK);
}

INSTANTIATE_TEST_SUITE_P(Of, OutputDelay, testing::ValuesIn(delays),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NmsDeviceStream, frames_change_their_size) {
  const Gpu gpu;
  Twins twins(gpu, "meta-output=roi", "", "");
  constexpr unsigned frame_sizes[][2] = {{640, 480}, {1, 1}, {16384, 16}, {1920, 1080}, {2, 2}, {640, 480}};
  for (const auto& [width, height] : frame_sizes) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    twins.set_caps(info_of("NV12", width, height));
    for (const std::uint32_t n : {1u, 64u, 800u}) {
      const auto w = static_cast<float>(width), h = static_cast<float>(height);
      // Not of the frame's size: a scaler came between.
      for (const float scale : {1.f, 2.f, .5f}) {
        MetaBoxes candidates = candidates_of(crowd::test::crowd(n, 10, w * scale, h * scale, 60 + n),
                                             static_cast<unsigned>(w * scale), static_cast<unsigned>(h * scale));
        const auto out = twins.pass(candidates);
        EXPECT_EQ(all_regions(out.host.get()), all_regions(out.device.get())) << "n=" << n << " seed=" << 60 + n;
        EXPECT_FALSE(rois(out.device.get()).empty());
      }
    }
  }
  twins.expect_same_stats();
}

TEST(NmsDeviceStream, boxes_stay_on_frames_of_other_sizes) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  constexpr unsigned frame_sizes[][2] = {{640, 480}, {1, 1}, {16384, 16}, {1920, 1080}};
  for (const auto& [width, height] : frame_sizes) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    twins.set_caps(info_of("NV12", width, height));
    const auto out = twins.pass(candidates_of(
        crowd::test::crowd(900, 10, static_cast<float>(width), static_cast<float>(height), 3), width, height));
    expect_same_survivors(out.host.get(), out.device.get());
  }
}

// Many frames are on their way, and memories of survivors are used again.
TEST(NmsDeviceStream, no_thread_waits_and_nothing_is_mixed_up) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  for (unsigned round = 0; round < 5; round++) {
    std::vector<Twins::Frames> frames, out;
    for (unsigned i = 0; i < 100; i++)
      frames.push_back(twins.frames(people(50 + 37 * i, 1000 * round + i)));
    for (auto& both : frames)
      out.push_back({twins.device.pass(std::move(both.device)), nullptr});
    for (unsigned i = 0; i < frames.size(); i++)
      out[i].host = twins.host.pass(std::move(frames[i].host));
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    for (unsigned i = 0; i < out.size(); i++) {
      SCOPED_TRACE("seed=" + std::to_string(1000 * round + i));
      expect_same_survivors(out[i].host.get(), out[i].device.get());
    }
  }
  twins.expect_same_stats();
}

// As behind a funnel: from GStreamer 1.24 on frames of one context may be ordered on several streams.
TEST(NmsDeviceStream, frames_of_two_streams_take_turns) {
  const Gpu gpu;
  const std::unique_ptr<Gpu> other = gpu.other_stream();
  Pipe device("crowdnms name=nms meta-output=boxes", &gpu);
  Pipe host("crowdnms name=nms backend=cpu meta-output=boxes");
  device.set_caps(frame_info, true);
  host.set_caps(frame_info, false);
  for (unsigned round = 0; round < 20; round++) {
    std::vector<Ref<GstBuffer>> frames;
    for (unsigned i = 0; i < 20; i++) {
      frames.push_back((i % 2 ? *other : gpu).frame(frame_info));
      attach_on_device(frames.back().get(), people(4000, 20 * round + i));
    }
    for (Ref<GstBuffer>& buffer : frames)
      buffer = device.pass(std::move(buffer));
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    for (unsigned i = 0; i < frames.size(); i++) {
      SCOPED_TRACE("seed=" + std::to_string(20 * round + i));
      Ref<GstBuffer> expected = noise(frame_info, 1);
      attach(expected.get(), people(4000, 20 * round + i));
      expected = host.pass(std::move(expected));
      expect_same_survivors(expected.get(), frames[i].get());
    }
  }
  EXPECT_EQ(device.stat("nms", "survivors"), host.stat("nms", "survivors"));
}

TEST(NmsDeviceStream, properties_change_while_it_plays) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  constexpr unsigned max_candidates[] = {16384, 100, 50000, 64, 16384};
  const std::vector<CrowdNmsMethod> methods = quick_methods_of(CROWD_NMS_BACKEND_CUDA);
  constexpr unsigned changes = std::size(max_candidates);
  for (unsigned i = 0; i < changes * methods.size(); i++) {
    for (const Pipe* pipe : {&twins.device, &twins.host}) {
      const Ref<GstElement> nms(gst_bin_get_by_name(GST_BIN(pipe->element()), "nms"));
      g_object_set(nms.get(), "max-candidates", max_candidates[i % changes], "iou-threshold", 0.3 + 0.1 * (i % changes),
                   "method", methods[i % methods.size()], nullptr);
    }
    for (const std::uint32_t n : {65u, 3000u}) {
      const auto out = twins.pass(people(n, i));
      SCOPED_TRACE("n=" + std::to_string(n) + " seed=" + std::to_string(i));
      expect_same_survivors(out.host.get(), out.device.get());
    }
  }
  twins.expect_same_stats();
}

}  // namespace
