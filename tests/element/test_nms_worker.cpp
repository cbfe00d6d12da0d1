// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms says of frames whose candidates lie on the GPU: with a GPU in place of a real one, which takes system
// memory for its own and does and counts what the test says.

#include "nms/nmsworker.hpp"

#include <gmock/gmock.h>

#include "support.hpp"

GST_DEBUG_CATEGORY(gst_crowd_nms_debug);

namespace {

struct Device {
  CrowdNmsTotals totals{};
  crowd::DeviceNms::Times times{};
  CrowdNmsStatus says = CROWD_NMS_OK;
  bool full = false;
  bool lost = false;        ///< with its context, which gives no memory either
  CrowdNmsReport report{};  ///< of a frame that the host waits for
};
Device device;

}  // namespace

namespace crowd {

CrowdNmsStatus NmsEngine::prepare(const Config&) {
  return CROWD_NMS_OK;
}
void NmsEngine::close() {}
CrowdNmsStatus NmsEngine::run(const Config&, const meta::Candidates&, std::uint32_t, bool, Result&) {
  ADD_FAILURE() << "candidates were read on the host";
  return CROWD_NMS_OK;
}

struct DeviceNms::State {
  std::string problem = "the reason";
};
DeviceNms::DeviceNms() : state_(std::make_unique<State>()) {}
DeviceNms::~DeviceNms() = default;
CrowdNmsStatus DeviceNms::prepare(const Call&) {
  return CROWD_NMS_OK;
}
void DeviceNms::release() {}
std::optional<bool> DeviceNms::is_alive(const void*) {
  return true;
}
CrowdNmsStatus DeviceNms::enqueue(const Call&, const GstCrowdBoxesMap&, const Destination&, CUstream_st*) {
  return device.says;
}
CrowdNmsStatus DeviceNms::await(HostSurvivors& survivors) {
  survivors.report = device.report;
  return CROWD_NMS_OK;
}
void DeviceNms::forget() {}
CrowdNmsTotals DeviceNms::totals() const {
  return device.totals;
}
DeviceNms::Times DeviceNms::times() const {
  return device.times;
}
void DeviceNms::forget_totals() {
  device.totals = {};
  device.times = {};
}
const std::string& DeviceNms::problem() const {
  return state_->problem;
}
void DeviceNms::set_problem(const char* problem) {
  state_->problem = problem;
}
CrowdNmsStatus DeviceNms::set_no_memory(const char* problem) {
  state_->problem = problem;
  return device.lost ? CROWD_NMS_CUDA_ERROR : CROWD_NMS_OUT_OF_MEMORY;
}

bool is_on_device(const GstMemory*) {
  return true;
}
CUstream_st* stream_of(GstMemory*) {
  return nullptr;
}
GstMemory* new_device_boxes(GstMemory*, guint) {
  return nullptr;
}
MemoryRef DeviceBoxesPool::acquire(guint capacity, GstMemory*) {
  return MemoryRef(device.full || device.lost ? nullptr : gst_crowd_boxes_memory_new(capacity));
}
bool CudaDevice::open(GstElement*, int, std::string&) {
  return true;
}
void CudaDevice::close() {}
bool CudaDevice::owns(GstMemory*) const {
  return true;
}
bool CudaDevice::adopt(GstMemory*, int, std::string&) {
  return true;
}
CudaDevice::Current::Current(const CudaDevice&) : pushed_(false), usable_(true) {}
CudaDevice::Current::~Current() = default;

}  // namespace crowd

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int boxes_row = 0, regions_row = 1;

class NmsWorkerOnDevice : public testing::Test {
 protected:
  NmsWorkerOnDevice() {
    GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, nullptr);
    device = {};
    gst_object_ref_sink(element.get());
    gst_element_set_bus(element.get(), bus.get());
    start();
  }
  ~NmsWorkerOnDevice() override {
    worker.stop();
    gst_element_set_bus(element.get(), nullptr);
  }

  void start() {
    ASSERT_TRUE(worker.start({}));
    worker.set_frame_size({640, 480});
  }

  /// A frame whose survivors leave as metadata of that row.
  GstFlowReturn pass(int output_row = boxes_row) {
    const Ref<GstBuffer> buffer = make_frame(640, 480);
    const Candidate box = {1, 2, 3, 4, 1};
    add_boxes(buffer.get(), std::span(&box, 1), {});
    crowd::NmsSettings settings;
    settings.output_row = output_row;
    const GstFlowReturn flow = worker.begin(buffer.get(), settings);
    return flow == GST_FLOW_OK ? worker.finish(buffer.get()) : flow;
  }

  /// The device gets on with what was enqueued.
  static void count(std::uint64_t candidates, std::uint64_t overflow) {
    device.totals.frames++;
    device.totals.candidates += candidates;
    device.totals.overflow += overflow;
  }

  void expect_error(int code, const char* text) {
    const Ref<GstMessage> message = pop_message(bus.get(), GST_MESSAGE_ERROR);
    ASSERT_NE(message, nullptr);
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    EXPECT_TRUE(g_error_matches(error, GST_RESOURCE_ERROR, code)) << error->code;
    EXPECT_THAT(error->message, HasSubstr(text));
    g_error_free(error);
    EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr);
  }

  const Ref<GstBus> bus{gst_bus_new()};
  const Ref<GstElement> element{gst_element_factory_make("identity", nullptr)};
  crowd::NmsWorker worker{GST_BASE_TRANSFORM(element.get())};
};

TEST_F(NmsWorkerOnDevice, overflow_is_said_once_when_the_device_tells_of_it) {
  EXPECT_EQ(pass(), GST_FLOW_OK);
  count(100, 0);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
  count(120, 20);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), ElementsAre(AllOf(HasSubstr("20 of 220"), HasSubstr("max-candidates"))));
  count(120, 20);
  EXPECT_EQ(pass(), GST_FLOW_OK);
  worker.stop();
  EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
}

TEST_F(NmsWorkerOnDevice, overflow_of_the_last_frames_is_said_at_the_end) {
  for (unsigned round = 1; round <= 2; round++) {
    EXPECT_EQ(pass(), GST_FLOW_OK);
    EXPECT_THAT(take_warnings(bus.get()), IsEmpty());
    count(120, 20);
    worker.stop();
    EXPECT_THAT(take_warnings(bus.get()), ElementsAre(HasSubstr("20 of 120"))) << "again after restart " << round;
    start();
  }
}

TEST_F(NmsWorkerOnDevice, overflow_of_a_frame_that_is_awaited_is_said_with_it) {
  device.report.candidates = 120;
  device.report.overflow = 20;
  for (int i = 0; i < 2; i++)
    EXPECT_EQ(pass(regions_row), GST_FLOW_OK);
  EXPECT_THAT(take_warnings(bus.get()), ElementsAre(HasSubstr("20 of 120")));
}

TEST_F(NmsWorkerOnDevice, time_on_the_device_is_told_beside_that_on_the_host) {
  EXPECT_EQ(pass(), GST_FLOW_OK);
  EXPECT_EQ(pass(regions_row), GST_FLOW_OK);
  device.times = {3, 39000};
  const Ref<GstStructure> stats(worker.stats(CROWD_NMS_GREEDY));
  guint64 frames = 0, timed = 0, time = 0, nms_time = 0;
  ASSERT_TRUE(gst_structure_get(stats.get(), "device-frames", G_TYPE_UINT64, &frames, "device-frames-timed",
                                G_TYPE_UINT64, &timed, "device-time", G_TYPE_UINT64, &time, "nms-time", G_TYPE_UINT64,
                                &nms_time, nullptr));
  EXPECT_EQ(frames, 2u);
  EXPECT_EQ(timed, 3u);
  EXPECT_EQ(time, 39000u);
  EXPECT_EQ(nms_time, 0u);
}

TEST_F(NmsWorkerOnDevice, no_memory_for_survivors_is_told_from_a_failure) {
  device.full = true;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR_NO_SPACE_LEFT, "no device memory for survivors");
  device.full = false;
  device.lost = true;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR_FAILED, "no device memory for survivors");
  device.lost = false;
  device.says = CROWD_NMS_OUT_OF_MEMORY;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR_NO_SPACE_LEFT, "max-candidates");
  device.says = CROWD_NMS_CUDA_ERROR;
  EXPECT_EQ(pass(), GST_FLOW_ERROR);
  expect_error(GST_RESOURCE_ERROR_FAILED, "Restart the pipeline");
}

}  // namespace
