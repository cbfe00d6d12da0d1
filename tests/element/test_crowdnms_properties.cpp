// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is set on crowdnms, and what it reports: properties, messages, statistics.

#include <crowd/nms.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "nms_harness.hpp"

namespace {

using namespace crowd::test;

TEST(crowdnms_properties, change_while_playing) {
  NmsHarness nms;
  const auto survivors = [&] { return rois(nms.pass(row_of_three).get()).size(); };
  EXPECT_EQ(survivors(), 2u);
  g_object_set(nms.element(), "iou-threshold", .61f, nullptr);
  EXPECT_EQ(survivors(), 3u);
  gst_util_set_object_arg(G_OBJECT(nms.element()), "method", "map-reduce");
  g_object_set(nms.element(), "iou-threshold", .5f, nullptr);
  EXPECT_EQ(survivors(), 1u);
  gst_util_set_object_arg(G_OBJECT(nms.element()), "method", "paper");
  EXPECT_EQ(survivors(), 1u);
  EXPECT_EQ(nms.stat_text("method"), "paper");
  gst_util_set_object_arg(G_OBJECT(nms.element()), "method", "greedy");
  g_object_set(nms.element(), "max-candidates", 1u, nullptr);
  EXPECT_EQ(survivors(), 1u);
  EXPECT_EQ(nms.stat("last-overflow"), 2u);
  g_object_set(nms.element(), "max-candidates", 100000u, "score-threshold", .75f, nullptr);
  EXPECT_EQ(survivors(), 1u);
  EXPECT_EQ(nms.stat("last-below-threshold"), 1u);
  g_object_set(nms.element(), "score-threshold", -INFINITY, "max-detections", 1u, nullptr);
  EXPECT_EQ(survivors(), 1u);
  EXPECT_EQ(nms.stat("last-clipped"), 1u);
  gst_util_set_object_arg(G_OBJECT(nms.element()), "mode", "annotate");
  EXPECT_EQ(survivors(), 3u);
}

using Values = std::map<std::string, int>;

Values values(const char* property) {
  NmsHarness nms;
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(nms.element()), property);
  const GEnumClass* type = G_PARAM_SPEC_ENUM(spec)->enum_class;
  Values all;
  for (guint i = 0; i < type->n_values; i++)
    all[type->values[i].value_nick] = type->values[i].value;
  return all;
}

template <typename Info>
Values values_of(const Info* (*info)(std::uint32_t)) {
  Values all;
  for (std::uint32_t value = 0; const Info* row = info(value); value++)
    all[row->name] = int(value);
  return all;
}

TEST(crowdnms_properties, offer_every_row_of_the_library) {
  EXPECT_EQ(values("method"), values_of(crowd_nms_method_info));
  EXPECT_EQ(values("metric"), values_of(crowd_nms_metric_info));
  EXPECT_EQ(values("rule"), values_of(crowd_nms_rule_info));
  EXPECT_EQ(values("merge"), values_of(crowd_nms_merge_info));
}

TEST(crowdnms_properties, kinds_of_metadata_keep_their_values) {
  // A new kind comes with a value of its own; these stay.
  Values kinds = {{"auto", 0}, {"boxes", 2}, {"roi", 3}};
  if (CROWD_HAVE_ANALYTICS)
    kinds["analytics"] = 4;
  EXPECT_EQ(values("meta-source"), kinds);
  kinds["all"] = 1;
  EXPECT_EQ(values("meta-output"), kinds);
}

TEST(crowdnms_properties, may_change_from_another_thread_at_any_time) {
  NmsHarness nms;
  std::atomic<bool> done = false;
  const auto methods = guint(values("method").size());
  std::thread turner([&] {
    for (guint i = 0; !done; i++) {
      g_object_set(nms.element(), "iou-threshold", float(i % 10) / 10, "max-candidates", 1 + i % 7, "mode", i % 2,
                   "method", i % methods, nullptr);
      (void)nms.stat("frames");
    }
  });
  for (int i = 0; i < 200; i++)
    EXPECT_NE(nms.pass(row_of_three), nullptr);
  done = true;
  turner.join();
}

TEST(crowdnms_properties, thresholds_follow_a_controller) {
  NmsHarness nms;
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, .5);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, .7);
  gst_object_add_control_binding(GST_OBJECT(nms.element()), gst_direct_control_binding_new_absolute(
                                                                GST_OBJECT(nms.element()), "iou-threshold", source));
  gst_object_unref(source);
  const auto survivors = [&](GstClockTime pts) {
    auto buffer = make_frame(640, 480, pts);
    add_boxes(buffer.get(), row_of_three, {});
    return rois(nms.pass(std::move(buffer)).get()).size();
  };
  EXPECT_EQ(survivors(0), 2u);
  EXPECT_EQ(survivors(GST_SECOND), 3u);
}

// In the last bit: 3 / 10 as a float is more than 0.3, and 7 / 10 less than 0.7.
TEST(crowdnms_properties, thresholds_are_doubles) {
  const auto survivors = [](const std::string& properties, float width, float score) {
    NmsHarness nms(properties);
    const std::vector<Candidate> both = {{0, 0, 10, 1, .9f}, {0, 0, width, 1, score}};
    return rois(nms.pass(both).get()).size();
  };
  EXPECT_EQ(survivors("iou-threshold=0.3", 3, .8f), 1u);
  EXPECT_EQ(survivors("iou-threshold=0.7", 7, .8f), 2u);
  EXPECT_EQ(survivors("iou-threshold=0.7 comparator=greater-equal", 7, .8f), 2u);
  EXPECT_EQ(survivors("score-threshold=0.3", 1, .3f), 2u);
  EXPECT_EQ(survivors("score-threshold=0.7", 1, .7f), 1u);
  EXPECT_EQ(survivors("score-threshold=0.69999998807907104", 1, .7f), 2u);
  EXPECT_EQ(survivors("score-threshold=1e300", 1, .7f), 0u);
  EXPECT_EQ(survivors("score-threshold=-1e300", 1, -INFINITY), 1u);
  NmsHarness nms("iou-threshold=0.3 score-threshold=0.7");
  gdouble iou = 0, score = 0;
  g_object_get(nms.element(), "iou-threshold", &iou, "score-threshold", &score, nullptr);
  EXPECT_EQ(iou, .3);
  EXPECT_EQ(score, .7);
}

TEST(crowdnms_properties, read_like_a_manual) {
  expect_documented_properties("crowdnms");
}

TEST(crowdnms_properties, say_when_they_may_change) {
  NmsHarness nms;
  const auto flags = [&](const char* name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(nms.element()), name)->flags;
  };
  for (const char* threshold : {"iou-threshold", "score-threshold"})
    EXPECT_EQ(flags(threshold) & (GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING),
              GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
  EXPECT_TRUE(flags("cuda-device-id") & GST_PARAM_MUTABLE_READY);
  EXPECT_FALSE(flags("stats") & G_PARAM_WRITABLE);
}

TEST(crowdnms_properties, come_back_as_they_were_set) {
  NmsHarness nms;
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(nms.element()), &n);
  unsigned checked = 0;
  for (guint i = 0; i < n; i++) {
    GParamSpec* spec = specs[i];
    if (spec->owner_type != G_OBJECT_TYPE(nms.element()) || !(spec->flags & G_PARAM_WRITABLE))
      continue;
    GValue want = G_VALUE_INIT, got = G_VALUE_INIT;
    g_value_init(&want, spec->value_type);
    g_value_init(&got, spec->value_type);
    g_param_value_set_default(spec, &want);
    g_object_get_property(G_OBJECT(nms.element()), spec->name, &got);
    EXPECT_EQ(g_param_values_cmp(spec, &want, &got), 0) << spec->name << ": not its default";
    if (G_IS_PARAM_SPEC_ENUM(spec)) {
      const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
      g_value_set_enum(&want, values->values[values->n_values - 1].value);
    } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
      g_value_set_double(&want, .1);
    } else if (G_IS_PARAM_SPEC_FLOAT(spec)) {
      g_value_set_float(&want, .1f);
    } else if (G_IS_PARAM_SPEC_UINT(spec)) {
      g_value_set_uint(&want, 1);
    } else if (G_IS_PARAM_SPEC_STRING(spec)) {
      g_value_set_static_string(&want, "person");
    } else if (G_IS_PARAM_SPEC_INT(spec)) {
      g_value_set_int(&want, 3);
    } else {
      g_value_set_boolean(&want, TRUE);
    }
    g_object_set_property(G_OBJECT(nms.element()), spec->name, &want);
    g_object_get_property(G_OBJECT(nms.element()), spec->name, &got);
    EXPECT_EQ(g_param_values_cmp(spec, &want, &got), 0) << spec->name << ": not what was set";
    g_value_unset(&want);
    g_value_unset(&got);
    checked++;
  }
  g_free(specs);
  EXPECT_GE(checked, 17u);
}

TEST(crowdnms_messages, are_off_by_default_and_tell_about_each_frame) {
  NmsHarness nms("max-candidates=4");
  nms.pass(row_of_three);
  EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_ELEMENT), nullptr);
  g_object_set(nms.element(), "post-messages", TRUE, nullptr);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND;
  segment.time = 5 * GST_SECOND;
  gst_harness_push_event(nms.harness(), gst_event_new_segment(&segment));
  auto buffer = make_frame(640, 480, 3 * GST_SECOND);
  std::vector<Candidate> candidates = row_of_three;
  candidates.push_back({9, 9, 9, 9, 1});
  candidates.push_back({200, 200, 300, 300, 1});
  add_boxes(buffer.get(), candidates, {});
  nms.pass(std::move(buffer));
  const auto message = pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(GST_MESSAGE_SRC(message.get()), GST_OBJECT(nms.element()));
  const GstStructure* s = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(s), "crowdnms");
  guint64 timestamp, stream_time, running_time, duration, nms_time;
  guint n, survivors, suppressed, invalid, below, overflow, clipped;
  ASSERT_TRUE(gst_structure_get(s, "timestamp", G_TYPE_UINT64, &timestamp, "stream-time", G_TYPE_UINT64, &stream_time,
                                "running-time", G_TYPE_UINT64, &running_time, "duration", G_TYPE_UINT64, &duration,
                                "nms-time", G_TYPE_UINT64, &nms_time, "candidates", G_TYPE_UINT, &n, "survivors",
                                G_TYPE_UINT, &survivors, "suppressed", G_TYPE_UINT, &suppressed, "invalid", G_TYPE_UINT,
                                &invalid, "below-threshold", G_TYPE_UINT, &below, "overflow", G_TYPE_UINT, &overflow,
                                "clipped", G_TYPE_UINT, &clipped, nullptr));
  EXPECT_EQ(timestamp, 3 * GST_SECOND);
  EXPECT_EQ(running_time, 2 * GST_SECOND);
  EXPECT_EQ(stream_time, 7 * GST_SECOND);
  EXPECT_EQ(duration, GST_SECOND / 25);
  EXPECT_GT(nms_time, 0u);
  gboolean on_device = TRUE;
  EXPECT_TRUE(gst_structure_get_boolean(s, "on-device", &on_device));
  EXPECT_FALSE(on_device);
  EXPECT_LT(nms_time, GST_SECOND);
  EXPECT_EQ(n, 5u);
  EXPECT_EQ(survivors, 2u);
  EXPECT_EQ(suppressed, 1u);
  EXPECT_EQ(invalid, 1u);
  EXPECT_EQ(below, 0u);
  EXPECT_EQ(overflow, 1u);
  EXPECT_EQ(clipped, 0u);
  EXPECT_STREQ(gst_structure_get_string(s, "backend"), "cpu");
  EXPECT_STREQ(gst_structure_get_string(s, "method"), "greedy");
}

TEST(crowdnms_messages, report_frames_without_candidates_too) {
  NmsHarness nms("post-messages=true");
  nms.pass(row_of_three);
  pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
  nms.pass(make_frame(640, 480));
  const auto message = pop_message(nms.bus(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  guint n = 9;
  gst_structure_get_uint(gst_message_get_structure(message.get()), "candidates", &n);
  EXPECT_EQ(n, 0u);
}

TEST(crowdnms_stats, add_up_and_begin_anew_at_the_start) {
  NmsHarness nms("score-threshold=0.75 max-detections=1");
  std::vector<Candidate> candidates = row_of_three;  // the last is below the threshold
  candidates.push_back({300, 9, 340, 49, .8f});      // clipped
  candidates.push_back({9, 9, 9, 9, 1});             // invalid
  for (int i = 0; i < 3; i++)
    nms.pass(candidates);
  nms.pass(std::vector<Candidate>{{1, 2, 3, 4, 1}});
  EXPECT_EQ(nms.stat("frames"), 4u);
  EXPECT_EQ(nms.stat("candidates"), 16u);
  EXPECT_EQ(nms.stat("survivors"), 7u);
  EXPECT_EQ(nms.stat("suppressed"), 3u);
  EXPECT_EQ(nms.stat("invalid"), 3u);
  EXPECT_EQ(nms.stat("below-threshold"), 3u);
  EXPECT_EQ(nms.stat("clipped"), 3u);
  EXPECT_EQ(nms.stat("last-candidates"), 1u);
  EXPECT_EQ(nms.stat("last-survivors"), 1u);
  EXPECT_GE(nms.stat("nms-time"), nms.stat("last-nms-time"));
  EXPECT_EQ(nms.stat_text("backend"), "cpu");
  gst_element_set_state(nms.element(), GST_STATE_READY);
  EXPECT_EQ(nms.stat("frames"), 4u) << "still readable after the end";
  gst_element_set_state(nms.element(), GST_STATE_PLAYING);
  EXPECT_EQ(nms.stat("frames"), 0u);
}

}  // namespace
