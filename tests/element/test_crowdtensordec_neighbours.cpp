// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdtensordec among other elements.

#include <gmock/gmock.h>

#include "tensordec_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(crowdtensordec, is_what_crowdnms_asks_for_where_it_finds_tensors) {
  const Ref<GstHarness> nms(gst_harness_new("crowdnms"));
  ElementBus bus(nms->element);
  gst_harness_set_src_caps_str(nms.get(), video_caps(640, 480).c_str());
  for (int i = 0; i < 60; i++) {
    auto frame = make_frame(640, 480);
    add_tensors(frame.get(), {yolo_tensor(piles, 2)});
    const Ref<GstBuffer> out(gst_harness_push_and_pull(nms.get(), frame.release()));
  }
  EXPECT_THAT(bus.warnings(), ElementsAre(AllOf(HasSubstr("GstTensorMeta"), HasSubstr("Put crowdtensordec"))));
}

TEST(crowdtensordec, is_not_asked_for_where_it_has_found_nothing) {
  TensorDecHarness dec("", 640, 480, "crowdtensordec name=dec meta-output=analytics ! crowdnms name=nms ");
  const Ref<GstElement> nms(gst_bin_get_by_name(GST_BIN(dec.harness()->element), "nms"));
  ElementBus bus(nms.get());
  const auto out = dec.pass({yolo_tensor({})});
  EXPECT_TRUE(gst_buffer_get_tensor_meta(out.get()));
  EXPECT_FALSE(gst_buffer_get_analytics_relation_meta(out.get()));
  for (int i = 0; i < 40; i++)
    dec.pass({yolo_tensor({})});
  EXPECT_EQ(dec.stat("decoded"), 41u);
  gst_harness_push_event(dec.harness(), gst_event_new_eos());
  EXPECT_THAT(bus.warnings(), IsEmpty());
}

#if GST_CHECK_VERSION(1, 27, 0)
constexpr char tensor_caps[] =
    "video/x-raw,format=NV12,width=640,height=480,framerate=25/1,tensors=(structure)[tensorgroups,"
    "yolo-v8-out=(/uniquelist){(GstCaps)[tensor/strided,tensor-id=yolo-v8-out,dims=<(int)1,(int)84,(int)8400>,"
    "dims-order=(string)col-major,type=(string)float32;]}]";

TEST(crowdtensordec, takes_caps_with_tensors) {
  TensorDecHarness dec("meta-output=boxes");
  gst_harness_set_src_caps_str(dec.harness(), tensor_caps);
  EXPECT_THAT(scores_of(survivors_of(dec.pass({yolo_tensor(piles, 2)}).get())), ElementsAre(.9f, .6f));
  EXPECT_EQ(pop_message(dec.bus(), GST_MESSAGE_ERROR), nullptr);
}

TEST(crowdtensordec, leaves_the_tensors_on_the_frame_and_in_its_caps) {
  TensorDecHarness dec("meta-output=boxes");
  gst_harness_set_src_caps_str(dec.harness(), tensor_caps);
  const auto out = dec.pass({yolo_tensor(piles, 2)});
  EXPECT_TRUE(gst_buffer_get_tensor_meta(out.get()));
  const Ref<GstCaps> caps(gst_pad_get_current_caps(dec.harness()->sinkpad));
  const Ref<GstCaps> expected(gst_caps_from_string(tensor_caps));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), expected.get()));
  const Ref<GstHarness> stock(gst_harness_new("yolov8tensordec"));
  gst_harness_set_src_caps_str(stock.get(), tensor_caps);
  const Ref<GstCaps> theirs(gst_pad_get_current_caps(stock.get()->sinkpad));
  EXPECT_TRUE(gst_caps_is_equal(theirs.get(), expected.get())) << "as behind its own decoder";
}

unsigned count_in_tensordecodebin(const char* factory) {
  const Ref<GstHarness> harness(gst_harness_new("tensordecodebin"));
  gst_harness_set_src_caps_str(harness.get(), tensor_caps);
  unsigned n = 0;
  for (GList* child = GST_BIN(harness->element)->children; child; child = child->next)
    n += std::string(GST_OBJECT_NAME(gst_element_get_factory(GST_ELEMENT(child->data)))) == factory;
  return n;
}

TEST(crowdtensordec, is_not_taken_by_tensordecodebin) {
  GstElementFactory* factory = gst_element_factory_find("crowdtensordec");
  ASSERT_TRUE(factory);
  EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), guint{GST_RANK_NONE});
  EXPECT_EQ(count_in_tensordecodebin("yolov8tensordec"), 1u);
  EXPECT_EQ(count_in_tensordecodebin("crowdtensordec"), 0u);
  gst_object_unref(factory);
}
#endif

}  // namespace
