// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms says of frames whose candidates lie on the GPU: with a GPU in place of a real one, whose memory is
// system memory, and which does and counts what the test says.

#include "cluster/stream.hpp"

#include <gmock/gmock.h>

#include "fake_cuda_device.hpp"
#include "support.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);

namespace {

using Outcome = crowd::FrameReport::Outcome;

struct Device {
  CrowdNmsTotals totals{};
  crowd::DeviceNms::Times times{};
  Outcome says = Outcome::done;  ///< of a frame that begins
  CrowdNmsReport report{};       ///< of a frame that the host waits for
  unsigned pending = 0;          ///< frames that were begun
};
Device device;

class FakeDeviceNms final : public crowd::DeviceNms {
 public:
  crowd::FrameReport begin(GstBuffer* buffer, crowd::Frame& frame) override {
    EXPECT_TRUE(frame.on_device);
    if (device.says != Outcome::done)
      return {device.says, "the reason"};
    device.pending++;
    frame.source->adapter->remove(buffer);
    return {};
  }
  crowd::FrameReport finish(GstBuffer*, crowd::Frame& frame) override {
    device.pending--;
    if (frame.awaited)
      frame.result.emplace().report = device.report;
    return {};
  }
  void drop() override {
    device.pending = 0;
  }
  void release() override {}
  CrowdNmsTotals totals() const override {
    return device.totals;
  }
  Times times() const override {
    return device.times;
  }
  void forget_totals() override {
    device.totals = {};
    device.times = {};
  }
};

/// Boxes in system memory that are taken for boxes in device memory.
class BoxesOnDevice final : public crowd::meta::Adapter {
 public:
  bool probe(GstBuffer* buffer) const override {
    return real_->probe(buffer);
  }
  bool read(GstBuffer*, crowd::meta::FrameSize, std::uint32_t, crowd::meta::Candidates&, const char*&) override {
    ADD_FAILURE() << "candidates were read on the host";
    return false;
  }
  std::optional<crowd::meta::DeviceCandidates> on_device(GstBuffer* buffer, crowd::meta::FrameSize) const override {
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
    return crowd::meta::DeviceCandidates{.memory = meta->memory, .capacity = meta->capacity, .info = {}};
  }
  void remove(GstBuffer* buffer) override {
    real_->remove(buffer);
  }
  void release() override {}

 private:
  std::unique_ptr<crowd::meta::Adapter> real_ = crowd::meta::row_named("boxes").make();
};

/// With sessions on the CPU in place of those on the GPU.
crowd::Library library_with_gpu() {
  crowd::Library library;
  library.cuda_workspace_bytes = [](const CrowdNmsParams*, uint32_t, uint32_t) { return size_t{1}; };
  library.session_new = [](CrowdNmsBackend, const CrowdNmsParams* params, uint32_t frames, uint32_t capacity,
                           CrowdNmsSession** session) {
    return crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, params, frames, capacity, session);
  };
  return library;
}

constexpr crowd::meta::KindId boxes{2}, regions{3};

const crowd::meta::AdapterRow rows[] = {
    {
        .id = boxes,
        .nick = "boxes",
        .description = "",
        .writes = true,
        .standard = false,
        .api = crowd::meta::row_named("boxes").api,
        .advertise = nullptr,
        .on_device = nullptr,
        .make = []() -> std::unique_ptr<crowd::meta::Adapter> { return std::make_unique<BoxesOnDevice>(); },
    },
    {
        .id = regions,
        .nick = "roi",
        .description = "",
        .writes = true,
        .standard = true,
        .api = crowd::meta::row_named("roi").api,
        .advertise = nullptr,
        .on_device = nullptr,
        .make = crowd::meta::row_named("roi").make,
    },
};

const crowd::StreamParts parts = {
    .rows = rows,
    .library = library_with_gpu(),
    .make_device = [] { return std::make_unique<crowd::test::FakeCudaDevice>(); },
    .make_device_nms = [](crowd::CudaDevice&, const crowd::Metadata&) { return std::make_unique<FakeDeviceNms>(); },
};

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NmsStreamOnDevice : public testing::Test {
 protected:
  NmsStreamOnDevice() {
    GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, nullptr);
    device = {};
    gst_object_ref_sink(element.get());
    gst_element_set_bus(element.get(), bus.get());
    start();
  }
  ~NmsStreamOnDevice() override {
    stream.stop();
    gst_element_set_bus(element.get(), nullptr);
  }

  void start() {
    ASSERT_TRUE(stream.start({}));
    stream.set_frame_size({640, 480});
  }

  static Ref<GstBuffer> frame() {
    Ref<GstBuffer> buffer = make_frame(640, 480);
    const Candidate box = {1, 2, 3, 4, 1};
    add_boxes(buffer.get(), std::span(&box, 1), {});
    return buffer;
  }

  /// A frame whose survivors leave as metadata of that kind.
  GstFlowReturn pass(crowd::meta::KindId output = boxes) {
    const Ref<GstBuffer> buffer = frame();
    crowd::NmsSettings settings;
    settings.output = output;
    const GstFlowReturn flow = stream.begin(buffer.get(), settings);
    return flow == GST_FLOW_OK ? stream.finish(buffer.get()) : flow;
  }

  /// The device gets on with what was enqueued.
  static void count(std::uint64_t candidates, std::uint64_t overflow) {
    device.totals.frames++;
    device.totals.candidates += candidates;
    device.totals.overflow += overflow;
  }

  void expect_error(GQuark domain, int code, const char* text) {
    const Ref<GstMessage> message = pop_message(bus.get(), GST_MESSAGE_ERROR);
    ASSERT_NE(message, nullptr);
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    EXPECT_TRUE(g_error_matches(error, domain, code)) << error->code;
    EXPECT_THAT(error->message, HasSubstr(text));
    g_error_free(error);
    EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr);
  }

  const Ref<GstBus> bus{gst_bus_new()};
  const Ref<GstElement> element{gst_element_factory_make("identity", nullptr)};
  crowd::NmsStream stream{GST_BASE_TRANSFORM(element.get()), parts};
};

TEST_F(NmsStreamOnDevice, overflow_is_said_once_when_the_device_tells_of_it) {
  EXPECT_EQ(pass(), GST_FLOW_OK);
  count(100, 0);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
  count(120, 20);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), ElementsAre(AllOf(HasSubstr("20 of 220"), HasSubstr("max-candidates"))));
  count(120, 20);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  stream.stop();
  EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
}

TEST_F(NmsStreamOnDevice, overflow_of_the_last_frames_is_said_at_the_end) {
  for (unsigned round = 1; round <= 2; round++) {
    EXPECT_EQ(pass(), GST_FLOW_OK);
    EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
    count(120, 20);
    stream.stop();
    EXPECT_THAT(take_warnings(bus.get()), ElementsAre(HasSubstr("20 of 120"))) << "again after restart " << round;
    start();
  }
}

TEST_F(NmsStreamOnDevice, overflow_of_a_frame_that_is_awaited_is_said_with_it) {
  device.report.candidates = 120;
  device.report.overflow = 20;
  for (int i = 0; i < 2; i++)
    EXPECT_EQ(pass(regions), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), ElementsAre(HasSubstr("20 of 120")));
}

TEST_F(NmsStreamOnDevice, time_on_the_device_is_told_beside_that_on_the_host) {
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_EQ(pass(regions), GST_FLOW_OK);
  device.times = {3, 39000};
  const Ref<GstStructure> stats(stream.stats(CROWD_NMS_GREEDY));
  guint64 frames = 0, timed = 0, time = 0, nms_time = 0;
  ASSERT_TRUE(gst_structure_get(stats.get(), "device-frames", G_TYPE_UINT64, &frames, "device-frames-timed",
                                G_TYPE_UINT64, &timed, "device-time", G_TYPE_UINT64, &time, "nms-time", G_TYPE_UINT64,
                                &nms_time, nullptr));
  EXPECT_EQ(frames, 2u);
  EXPECT_EQ(timed, 3u);
  EXPECT_EQ(time, 39000u);
  EXPECT_EQ(nms_time, 0u);
}

TEST_F(NmsStreamOnDevice, no_memory_is_told_from_a_failure) {
  device.says = Outcome::gpu_out_of_memory;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "the reason). Lower max-candidates");
  device.says = Outcome::gpu_failed;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "the reason). Restart the pipeline");
  device.says = Outcome::refused;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "with these properties: the reason");
}

TEST_F(NmsStreamOnDevice, a_frame_that_cannot_be_read_goes_on_and_is_counted) {
  device.says = Outcome::broken;
  EXPECT_EQ(pass(regions), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), ElementsAre(HasSubstr("the reason")));
  device.says = Outcome::done;
  EXPECT_EQ(pass(regions), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
  const Ref<GstStructure> stats(stream.stats(CROWD_NMS_GREEDY));
  guint64 failures = 0, on_device = 0;
  ASSERT_TRUE(gst_structure_get(stats.get(), "failures", G_TYPE_UINT64, &failures, "device-frames", G_TYPE_UINT64,
                                &on_device, nullptr));
  EXPECT_EQ(failures, 1u);
  EXPECT_EQ(on_device, 1u);
}

TEST_F(NmsStreamOnDevice, frames_that_are_dropped_are_not_waited_for) {
  for (int round = 0; round < 2; round++) {
    const Ref<GstBuffer> buffer = frame();
    EXPECT_EQ(stream.begin(buffer.get(), {}), GST_FLOW_OK);
    EXPECT_EQ(device.pending, 1u);
    stream.drop();
    EXPECT_EQ(device.pending, 0u);
  }
}

}  // namespace
