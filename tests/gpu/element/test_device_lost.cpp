// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The GPU fails while elements play: one error that says so, and a clean stop. No context of a process outlives that,
// so each test takes a process of its own: --gtest_filter=DeviceLost.NAME.

#include <gmock/gmock.h>

#if defined(CROWD_SOURCES)
#include "../../element/real_models.hpp"
#endif
#include "device_boxes.hpp"
#include "trap.hpp"

namespace {

using namespace crowd::test;
using testing::HasSubstr;

const GstVideoInfo info = info_of("NV12", 640, 480);

class DeviceLost : public testing::Test {
 protected:
  void SetUp() override {
    static bool lost = false;
    if (std::exchange(lost, true))
      GTEST_SKIP() << "the device is lost: run each of these tests by itself";
  }

  Ref<GstBuffer> frame(bool on_device = true) const {
    Ref<GstBuffer> buffer = gpu.frame(info);
    const MetaBoxes candidates = candidates_of(crowd::test::crowd(900, 20, 640, 480, 1), 640, 480);
    if (on_device)
      attach_on_device(buffer.get(), candidates);
    else
      attach(buffer.get(), candidates);
    return buffer;
  }

  /// Frames go through, the device is lost, and then the element says so once.
  void expect_error(const std::string& description, int frames = 3) {
    Pipe pipe(description, &gpu);
    pipe.ask_for_survivors_on_device();
    pipe.set_caps(info, true);
    for (int i = 0; i < frames; i++) {
      EXPECT_EQ(pipe.push(frame()), GST_FLOW_OK);
      while (pipe.pull()) {
      }
    }
    std::vector<Ref<GstBuffer>> more;
    for (int i = 0; i < 3; i++)
      more.push_back(frame());
    {
      const Gpu::Current current(gpu);
      EXPECT_NE(lose_device(), cudaSuccess);
    }
    for (Ref<GstBuffer>& buffer : more) {
      const GstFlowReturn flow = pipe.push(std::move(buffer));
      EXPECT_EQ(flow, GST_FLOW_ERROR);
      if (flow == GST_FLOW_ERROR)
        break;
    }
    const std::string text = expect_one_resource_error(pipe.bus(), GST_RESOURCE_ERROR_FAILED);
    EXPECT_THAT(text, testing::AllOf(HasSubstr("GPU failed"), HasSubstr("Restart the pipeline")));
    EXPECT_EQ(gst_element_set_state(pipe.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    while (const Ref<GstMessage> message = pop_message(pipe.bus(), GST_MESSAGE_ERROR))
      ADD_FAILURE() << message_text(message.get());
  }

  const Gpu gpu;
};

TEST_F(DeviceLost, survivors_stay) {
  expect_error("crowdnms");
}

TEST_F(DeviceLost, survivors_go_to_the_host) {
  expect_error("crowdnms meta-output=all");
}

TEST_F(DeviceLost, one_is_held_back) {
  expect_error("crowdnms meta-output=roi output-delay=1");
}

TEST_F(DeviceLost, crowdoverlay) {
  expect_error("crowdoverlay show=both");
}

TEST_F(DeviceLost, crowddetect) {
  expect_error("crowddetect");
}

// There is no memory of an earlier frame to write to.
TEST_F(DeviceLost, crowddetect_at_its_first_frame) {
  expect_error("crowddetect", 0);
}

#if defined(CROWD_SOURCES)
TEST_F(DeviceLost, network) {
  const std::string model = printed_by("convert-model person-net");
  if (model.empty())
    GTEST_SKIP() << "person-net cannot be fetched";
  const std::string network = "crowddetect detector=person-net model=" + model;
  {
    Pipe pipe(network, &gpu);
    pipe.set_caps(info, true);
    if (const Ref<GstMessage> message = pop_message(pipe.bus(), GST_MESSAGE_ERROR))
      GTEST_SKIP() << message_text(message.get());
  }
  expect_error(network);
}
#endif

TEST_F(DeviceLost, chain) {
  expect_error("crowdinject ! crowdnms ! crowdoverlay");
}

// With candidates on the host backend=auto goes on without the GPU.
TEST_F(DeviceLost, candidates_come_from_the_host) {
  Pipe pipe("crowdnms name=nms", &gpu);
  pipe.set_caps(info, true);
  EXPECT_NE(pipe.pass(frame(false)), nullptr);
  EXPECT_EQ(pipe.stat("nms", "frames-on-gpu"), 1u);
  std::vector<Ref<GstBuffer>> more;
  for (int i = 0; i < 3; i++)
    more.push_back(frame(false));
  {
    const Gpu::Current current(gpu);
    EXPECT_NE(lose_device(), cudaSuccess);
  }
  for (Ref<GstBuffer>& buffer : more) {
    const Ref<GstBuffer> out = pipe.pass(std::move(buffer));
    EXPECT_FALSE(rois(out.get()).empty());
  }
  EXPECT_EQ(pipe.stat("nms", "frames-on-gpu"), 1u);
  const Ref<GstMessage> warning = pop_message(pipe.bus(), GST_MESSAGE_WARNING);
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(message_text(warning.get()), HasSubstr("on the CPU"));
  EXPECT_EQ(pop_message(pipe.bus(), GST_MESSAGE_WARNING), nullptr);
  EXPECT_EQ(gst_element_set_state(pipe.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
}

}  // namespace
