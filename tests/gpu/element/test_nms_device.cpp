// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Candidates in device memory: crowdnms leaves there, and counts, what the CPU backend does for the same candidates in
// system memory.

#include "device_boxes.hpp"
#include "rule_cases.hpp"

namespace {

using namespace crowd::test;

constexpr std::uint32_t sizes[] = {0, 1, 2, 63, 64, 65, 500, 1000, 4096};
constexpr const char* boxes[] = {"clustered",       "multi_class",          "odd_scores",
                                 "nan_coordinates", "infinite_coordinates", "zero_and_inverted",
                                 "tied_scores",     "negative_scores"};

struct Rule {
  const char* name;
  const char* properties;
  bool with_extras = false;  ///< candidates have all that rules and methods read
};

constexpr Rule rules[] = {
    {"greedy", "method=greedy"},
    {"map_reduce", "method=map-reduce"},
    {"paper", "method=paper paper-d-max=2048 paper-k=8"},
    {"other_options",
     "metric=ios comparator=greater-equal class-agnostic=true pixel-offset=1 iou-threshold=0.4 score-threshold=0.3"},
    {"few_detections", "max-detections=7"},
    {"few_candidates", "max-candidates=600"},
    {"merged", "merge=weighted cluster-score=mean min-members=2"},
    {"voted", "method=map-reduce merge=vote cluster-score=max max-detections=7"},
    {"few_of_both", "method=map-reduce max-candidates=64 max-detections=1"},
    {"soft_linear", "method=soft-linear score-threshold=0.05"},
    {"soft_gaussian", "method=soft-gaussian sigma=0.3 score-threshold=0.1 max-detections=20"},
    {"matrix_linear", "method=matrix-linear score-threshold=0.05"},
    {"matrix_gaussian", "method=matrix-gaussian sigma=2 score-threshold=0.05"},
    {"class_attrs", "class-attrs=\"1,iou=0.3,score=0.4;2,iou=0.7\""},
    {"class_filter", "class-filter=\"0,2\" class-attrs=\"2,score=0.2\""},
    {"sizes", "min-width=10 min-height=12 max-width=200 max-height=150"},
    {"adaptive", "rule=adaptive iou-threshold=0.4", true},
    {"set", "rule=set iou-threshold=0.4", true},
    {"visible", "rule=visible iou-threshold=0.4", true},
    {"feature", "rule=feature iou-threshold=0.7 min-overlap=0.2 max-distance=1.2", true},
    {"nmw", "method=nmw iou-threshold=0.4"},
    {"nmw_weights", "method=nmw model-weights=2,0.5,0,1 iou-threshold=0.4", true},
    {"nmw_set_weights", "method=nmw rule=set model-weights=2,0.5,0,1 iou-threshold=0.3", true},
    {"nmw_feature_weights",
     "method=nmw rule=feature model-weights=2,0.5,0,1 iou-threshold=0.7 min-overlap=0.2 max-distance=1.2", true},
    {"wbf", "method=wbf models=3 iou-threshold=0.4"},
    {"wbf_weights", "method=wbf model-weights=2,0.5,0,1 iou-threshold=0.4", true},
    {"soft_set", "method=soft-linear rule=set iou-threshold=0.3 score-threshold=0.05", true},
};

class OnDevice : public testing::TestWithParam<Rule> {
 protected:
  const Gpu gpu;
};

TEST_P(OnDevice, survivors_are_those_of_the_cpu) {
  const Rule& rule = GetParam();
  Twins twins(gpu, rule.properties, "backend=cuda meta-output=boxes");
  const std::string words[] = {"person", "face", "car"};
  const Ref<GPtrArray> labels = make_labels(words);
  std::uint64_t seed = 1000, survivors = 0;
  for (const std::uint32_t n : sizes) {
    for (const char* name : boxes) {
      Dice dice(++seed);
      SCOPED_TRACE(std::string(name) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed));
      MetaBoxes candidates =
          candidates_of(distribution(name).make(n, seed), 3840, 2160, dice.pick<std::uint32_t>(sizes));
      if (dice.one_in(2))
        candidates.labels = labels.get();
      if (rule.with_extras) {
        candidates.with_extras = true;
        candidates.extras = draw_extras(candidates.boxes, dice);
      }
      if (dice.one_in(3))  // more than there is room for
        candidates.count = candidates.capacity = n, candidates.count += dice.below(5000);
      const auto out = twins.pass(candidates, n * GST_MSECOND);
      expect_same_survivors(out.host.get(), out.device.get());
      EXPECT_TRUE(rois(out.device.get()).empty());
      EXPECT_EQ(GST_BUFFER_PTS(out.device.get()), n * GST_MSECOND);
      if (const auto read = read_survivors(out.device.get()))
        survivors += read->count;
      twins.expect_same_stats();
      if (HasFatalFailure() || HasNonfatalFailure())
        return;
    }
  }
  EXPECT_GT(survivors, 20u);
  EXPECT_EQ(twins.device.stat("nms", "frames-on-gpu"), std::size(sizes) * std::size(boxes));
  EXPECT_STREQ(gst_structure_get_string(twins.device.stats("nms").get(), "backend"), "cuda");
}

INSTANTIATE_TEST_SUITE_P(Rule, OnDevice, testing::ValuesIn(rules),
                         [](const auto& info) { return std::string(info.param.name); });

MetaBoxes people(std::uint32_t n, std::uint64_t seed) {
  return candidates_of(crowd::test::crowd(n, 40, 1920, 1080, seed), 1920, 1080, 100);
}

TEST(NmsDevice, candidates_without_what_the_rule_reads_are_dropped) {
  const Gpu gpu;
  Twins twins(gpu, "rule=feature", "backend=cuda meta-output=boxes");
  for (int i = 0; i < 2; i++) {
    const auto out = twins.pass(people(100, 7));
    for (GstBuffer* buffer : {out.host.get(), out.device.get()}) {
      EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(buffer), nullptr);
      EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(buffer), nullptr);
    }
  }
  twins.expect_same_stats();
  EXPECT_EQ(twins.device.stat("nms", "failures"), 2u);
}

TEST(NmsDevice, candidates_without_the_models_that_are_weighed_are_dropped) {
  const Gpu gpu;
  Twins twins(gpu, "method=wbf model-weights=1,2", "backend=cuda meta-output=boxes");
  const auto out = twins.pass(people(100, 8));
  for (GstBuffer* buffer : {out.host.get(), out.device.get()})
    EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(buffer), nullptr);
  twins.expect_same_stats();
  EXPECT_EQ(twins.device.stat("nms", "failures"), 1u);
}

TEST(NmsDevice, models_have_other_weights_while_it_plays) {
  const Gpu gpu;
  Twins twins(gpu, "method=nmw", "backend=cuda meta-output=boxes");
  Dice dice(9);
  MetaBoxes candidates = people(600, 9);
  candidates.with_extras = true;
  candidates.extras = draw_extras(candidates.boxes, dice);
  for (const char* weights : {"1,2,3,4", "4,3,2,1", "", "1"}) {
    SCOPED_TRACE(weights);
    for (GstElement* pipe : {twins.host.element(), twins.device.element()}) {
      const Ref<GstElement> nms(gst_bin_get_by_name(GST_BIN(pipe), "nms"));
      g_object_set(nms.get(), "model-weights", weights, nullptr);
    }
    const auto out = twins.pass(candidates);
    expect_same_survivors(out.host.get(), out.device.get());
    twins.expect_same_stats();
  }
}

TEST(NmsDevice, regions_leave_unless_downstream_reads_survivors_on_the_device) {
  const Gpu gpu;
  for (const char* properties : {"", "meta-output=roi", "max-detections=5", "method=map-reduce meta-output=roi"}) {
    SCOPED_TRACE(properties);
    Twins twins(gpu, properties, "", "");
    twins.set_caps(info_of("NV12", 1280, 720));
    for (const std::uint32_t n : sizes) {
      const auto out = twins.pass(people(n, 200 + n));
      EXPECT_EQ(all_regions(out.host.get()), all_regions(out.device.get())) << "n=" << n << " seed=" << 200 + n;
      EXPECT_EQ(rois(out.device.get()).empty(), n == 0);
      EXPECT_EQ(count_metas(out.device.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
    }
    twins.expect_same_stats();
    EXPECT_EQ(twins.device.stat("nms", "frames-on-gpu"), std::size(sizes));
  }
}

TEST(NmsDevice, writes_both_with_meta_output_all) {
  const Gpu gpu;
  Twins twins(gpu, "meta-output=all", "", "");
  for (const std::uint32_t n : sizes) {
    const auto out = twins.pass(people(n, 300 + n));
    SCOPED_TRACE("n=" + std::to_string(n) + " seed=" + std::to_string(300 + n));
    EXPECT_EQ(all_regions(out.host.get()), all_regions(out.device.get()));
    expect_same_survivors(out.host.get(), out.device.get());
  }
  twins.expect_same_stats();
}

TEST(NmsDevice, leaves_survivors_on_the_device_for_those_who_ask) {
  const Gpu gpu;
  Twins twins(gpu, "");
  twins.device.ask_for_survivors_on_device();
  for (const std::uint32_t n : sizes) {
    const auto out = twins.pass(people(n, 400 + n));
    SCOPED_TRACE("n=" + std::to_string(n) + " seed=" + std::to_string(400 + n));
    expect_same_survivors(out.host.get(), out.device.get());
    EXPECT_TRUE(rois(out.device.get()).empty());
  }
  twins.expect_same_stats();
}

TEST(NmsDevice, asks_again_when_downstream_changes) {
  const Gpu gpu;
  Twins twins(gpu, "");
  auto out = twins.pass(people(500, 1));
  EXPECT_FALSE(rois(out.device.get()).empty());
  twins.device.ask_for_survivors_on_device();
  ASSERT_TRUE(gst_harness_push_upstream_event(twins.device.harness(), gst_event_new_reconfigure()));
  out = twins.pass(people(500, 2));
  expect_same_survivors(out.host.get(), out.device.get());
  EXPECT_TRUE(rois(out.device.get()).empty());
  twins.expect_same_stats();
}

TEST(NmsDevice, regions_are_asked_for_although_survivors_may_stay) {
  const Gpu gpu;
  Twins twins(gpu, "meta-output=roi", "", "");
  twins.device.ask_for_survivors_on_device();
  const auto out = twins.pass(people(700, 5));
  EXPECT_FALSE(rois(out.device.get()).empty());
  EXPECT_EQ(all_regions(out.host.get()), all_regions(out.device.get()));
  EXPECT_EQ(count_metas(out.device.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
}

TEST(NmsDevice, a_frame_without_candidates_goes_through) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  const GstVideoInfo info = info_of("NV12", 64, 48);
  EXPECT_NE(twins.device.pass(gpu.frame(info)), nullptr);
  EXPECT_NE(twins.host.pass(noise(info, 1)), nullptr);
  twins.pass(people(64, 7));
  EXPECT_NE(twins.device.pass(gpu.frame(info)), nullptr);
  EXPECT_NE(twins.host.pass(noise(info, 1)), nullptr);
  twins.expect_same_stats();
}

TEST(NmsDevice, downloads_what_the_cpu_has_to_see) {
  const Gpu gpu;
  for (const char* properties : {"mode=annotate", "mode=annotate meta-output=all", "mode=annotate method=map-reduce"}) {
    SCOPED_TRACE(properties);
    Twins twins(gpu, properties, "", "");
    for (const std::uint32_t n : sizes) {
      SCOPED_TRACE("n=" + std::to_string(n) + " seed=" + std::to_string(500 + n));
      const auto out = twins.pass(people(n, 500 + n));
      EXPECT_EQ(all_regions(out.host.get()), all_regions(out.device.get()));
      EXPECT_EQ(rois(out.device.get()).size(), n);
      const GstCrowdBoxesMeta* left = gst_buffer_get_crowd_boxes_meta(out.device.get());
      ASSERT_NE(left, nullptr);
      EXPECT_TRUE(is_cuda_memory(left->memory));
      EXPECT_TRUE(same(read(gst_buffer_get_crowd_boxes_meta(out.host.get())), read(left)));
    }
    twins.expect_same_stats();
  }
}

TEST(NmsDevice, the_cpu_backend_downloads) {
  const Gpu gpu;
  Twins twins(gpu, "", "backend=cpu meta-output=boxes");
  for (const std::uint32_t n : sizes) {
    SCOPED_TRACE("n=" + std::to_string(n) + " seed=" + std::to_string(600 + n));
    const auto out = twins.pass(people(n, 600 + n));
    expect_same_survivors(out.host.get(), out.device.get(), false);
  }
  twins.expect_same_stats();
  EXPECT_EQ(twins.device.stat("nms", "frames-on-gpu"), 0u);
}

TEST(NmsDevice, system_and_device_candidates_take_turns) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  const GstVideoInfo info = info_of("NV12", 64, 48);
  for (std::uint32_t i = 0; i < 20; i++) {
    SCOPED_TRACE("frame " + std::to_string(i));
    const MetaBoxes candidates = people(300 + 77 * i, 700 + i);
    if (i % 3 == 1) {
      Ref<GstBuffer> device = gpu.frame(info), host = noise(info, 1);
      attach(device.get(), candidates);
      attach(host.get(), candidates);
      device = twins.device.pass(std::move(device));
      host = twins.host.pass(std::move(host));
      expect_same_survivors(host.get(), device.get(), false);
    } else {
      const auto out = twins.pass(candidates);
      expect_same_survivors(out.host.get(), out.device.get());
    }
    twins.expect_same_stats();
  }
}

// What the device counts lags behind it and is whole in the end.
TEST(NmsDevice, stats_add_up_while_they_are_read) {
  const Gpu gpu;
  Twins twins(gpu, "score-threshold=0.2", "meta-output=boxes");
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < 200; i++) {
    auto frames = twins.frames(people(i * 9, 800 + i));
    twins.device.pass(std::move(frames.device));
    twins.host.pass(std::move(frames.host));
    const std::uint64_t now = twins.device.stat("nms", "candidates");
    EXPECT_GE(now, last);
    EXPECT_LE(now, twins.host.stat("nms", "candidates"));
    EXPECT_EQ(twins.device.stat("nms", "frames"), i + 1);
    last = now;
  }
  EXPECT_TRUE(twins.device.send(gst_event_new_eos()));
  EXPECT_TRUE(twins.host.send(gst_event_new_eos()));
  twins.expect_same_stats();
  gst_element_set_state(twins.device.element(), GST_STATE_NULL);
  for (const char* counter : {"candidates", "survivors", "suppressed", "below-threshold", "frames"})
    EXPECT_EQ(twins.device.stat("nms", counter), twins.host.stat("nms", counter)) << counter << " after the stop";
}

// The 9th, 25th, 41st and 57th frame are timed, one after another on one stream: together shorter than the whole run.
TEST(NmsDevice, tells_how_long_the_device_worked) {
  const Gpu gpu;
  for (const char* output : {"meta-output=boxes", "meta-output=roi"}) {
    SCOPED_TRACE(output);
    Twins twins(gpu, "", output);
    const gint64 start = g_get_monotonic_time();
    for (std::uint32_t i = 0; i < 60; i++)
      twins.pass(people(2000, 850 + i));
    twins.expect_same_stats();
    // What the device has passed is added with the next frame.
    twins.pass(people(2000, 850));
    const auto wall = static_cast<std::uint64_t>(g_get_monotonic_time() - start) * 1000;
    const std::uint64_t time = twins.device.stat("nms", "device-time");
    EXPECT_EQ(twins.device.stat("nms", "device-frames"), 61u);
    EXPECT_EQ(twins.device.stat("nms", "device-frames-timed"), 4u);
    EXPECT_GT(time, 4 * 1000u) << "a microsecond a frame";
    EXPECT_LT(time, wall);
    EXPECT_EQ(twins.device.stat("nms", "nms-time"), 0u);
    EXPECT_EQ(twins.host.stat("nms", "device-frames"), 0u);
    EXPECT_EQ(twins.host.stat("nms", "device-frames-timed"), 0u);
    gst_element_set_state(twins.device.element(), GST_STATE_NULL);
    EXPECT_EQ(twins.device.stat("nms", "device-time"), time) << "after the stop";
    gst_element_set_state(twins.device.element(), GST_STATE_PLAYING);
    EXPECT_EQ(twins.device.stat("nms", "device-time"), 0u) << "after the restart";
  }
}

TEST(NmsDevice, starts_counting_anew) {
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes");
  twins.pass(people(500, 1));
  gst_element_set_state(twins.device.element(), GST_STATE_NULL);
  gst_element_set_state(twins.device.element(), GST_STATE_PLAYING);
  EXPECT_EQ(twins.device.stat("nms", "candidates"), 0u);
  EXPECT_EQ(twins.device.stat("nms", "frames"), 0u);
}

TEST(NmsDevice, messages_tell_of_their_frame) {
  const Gpu gpu;
  for (const char* output : {"meta-output=boxes", "meta-output=roi"}) {
    SCOPED_TRACE(output);
    Twins twins(gpu, "post-messages=true max-detections=20", output);
    for (const std::uint32_t n : {500u, 0u, 64u, 3000u}) {
      twins.pass(people(n, 900 + n), n * GST_MSECOND);
      const Ref<GstMessage> device = pop_message(twins.device.bus(), GST_MESSAGE_ELEMENT);
      const Ref<GstMessage> host = pop_message(twins.host.bus(), GST_MESSAGE_ELEMENT);
      ASSERT_TRUE(device && host);
      const GstStructure* told = gst_message_get_structure(device.get());
      const GstStructure* expected = gst_message_get_structure(host.get());
      for (const char* field : {"timestamp", "stream-time", "duration", "candidates", "survivors", "suppressed",
                                "invalid", "below-threshold", "overflow", "clipped", "method"}) {
        const GValue* value = gst_structure_get_value(told, field);
        const GValue* wanted = gst_structure_get_value(expected, field);
        ASSERT_TRUE(value && wanted) << field;
        EXPECT_EQ(gst_value_compare(value, wanted), GST_VALUE_EQUAL) << field << " n=" << n << " seed=" << 900 + n;
      }
      EXPECT_STREQ(gst_structure_get_string(told, "backend"), "cuda");
    }
    twins.expect_same_stats();
  }
}

}  // namespace
