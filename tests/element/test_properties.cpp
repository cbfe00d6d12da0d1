// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the properties of all elements have in common.

#include <gmock/gmock.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <string>

#include "support.hpp"

namespace {

using namespace crowd::test;

/// An element, a property that may change while playing, and a value that is not its default. What a control source has
/// to say for it is the value itself, but of an enum its place as a fraction of all.
struct Follower {
  const char* element;
  const char* property;
  double value;
  double said = value;
};

void PrintTo(const Follower& follower, std::ostream* out) {
  *out << follower.element << "." << follower.property;
}

class properties : public testing::TestWithParam<Follower> {
 protected:
  void SetUp() override {
    element_.reset(gst_element_factory_make(GetParam().element, nullptr));
    ASSERT_NE(element_, nullptr);
    gst_object_ref_sink(element_.get());
  }

  GParamSpec* find(const char* name) const {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(element_.get()), name);
  }

  Ref<GstElement> element_;
};

bool can_be_controlled(const GParamSpec* spec) {
  return spec->value_type != G_TYPE_STRING && !g_type_is_a(spec->value_type, G_TYPE_BOXED);
}

TEST_P(properties, that_change_while_playing_are_controllable) {
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_.get()), &n);
  unsigned live = 0;
  for (guint i = 0; i < n; i++) {
    const bool own = specs[i]->owner_type == G_OBJECT_TYPE(element_.get());
    if (!own || !(specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) || !can_be_controlled(specs[i]))
      continue;
    live++;
    EXPECT_TRUE(specs[i]->flags & GST_PARAM_CONTROLLABLE) << specs[i]->name;
  }
  g_free(specs);
  EXPECT_GT(live, 0u);
}

TEST_P(properties, that_can_be_set_say_when) {
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_.get()), &n);
  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type == G_OBJECT_TYPE(element_.get()) && specs[i]->flags & G_PARAM_WRITABLE) {
      EXPECT_TRUE(specs[i]->flags & (GST_PARAM_MUTABLE_PLAYING | GST_PARAM_MUTABLE_READY)) << specs[i]->name;
    }
  }
  g_free(specs);
}

double value_of(GstElement* element, const char* property) {
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  if (G_VALUE_HOLDS_ENUM(&value))
    return g_value_get_enum(&value);
  if (G_VALUE_HOLDS_BOOLEAN(&value))
    return g_value_get_boolean(&value);
  g_value_init(&number, G_TYPE_DOUBLE);
  EXPECT_TRUE(g_value_transform(&value, &number)) << property;
  return g_value_get_double(&number);
}

TEST_P(properties, follow_a_control_source) {
  const auto& [name, property, wanted, said] = GetParam();
  ASSERT_TRUE(find(property)->flags & GST_PARAM_MUTABLE_PLAYING);
  const double before = value_of(element_.get(), property);
  ASSERT_NE(before, wanted);
  const Ref<GstHarness> harness(gst_harness_new_with_element(element_.get(), "sink", "src"));
  gst_harness_set_src_caps_str(harness.get(), video_caps(64, 48).c_str());
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, before);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, said);
  ASSERT_TRUE(gst_object_add_control_binding(
      GST_OBJECT(element_.get()),
      gst_direct_control_binding_new_absolute(GST_OBJECT(element_.get()), property, source)));
  gst_object_unref(source);
  const Ref<GstBuffer> first(gst_harness_push_and_pull(harness.get(), make_frame(64, 48, 0).release()));
  EXPECT_EQ(value_of(element_.get(), property), before);
  const Ref<GstBuffer> second(gst_harness_push_and_pull(harness.get(), make_frame(64, 48, GST_SECOND).release()));
  EXPECT_FLOAT_EQ(value_of(element_.get(), property), wanted);
}

TEST_P(properties, stats_are_named_after_the_element_and_count_alike) {
  GstStructure* structure = nullptr;
  g_object_get(element_.get(), "stats", &structure, nullptr);
  const Ref<GstStructure> stats(structure);
  ASSERT_NE(stats, nullptr);
  EXPECT_STREQ(gst_structure_get_name(stats.get()), (std::string(GetParam().element) + "-stats").c_str());
  const bool draws = std::string(GetParam().element) == "crowdoverlay";
  for (const char* field : {"frames", "candidates", "failures", draws ? "survivors" : "overflow"})
    EXPECT_TRUE(gst_structure_has_field_typed(stats.get(), field, G_TYPE_UINT64)) << field;
}

TEST_P(properties, stats_count_anew_at_each_start) {
  const Ref<GstHarness> harness(gst_harness_new_with_element(element_.get(), "sink", "src"));
  gst_harness_set_src_caps_str(harness.get(), video_caps(64, 48).c_str());
  const auto frames = [this] {
    GstStructure* structure = nullptr;
    g_object_get(element_.get(), "stats", &structure, nullptr);
    const Ref<GstStructure> stats(structure);
    guint64 count = 99;
    gst_structure_get_uint64(structure, "frames", &count);
    return count;
  };
  const Ref<GstBuffer> frame(gst_harness_push_and_pull(harness.get(), make_frame(64, 48, 0).release()));
  EXPECT_EQ(frames(), 1u);
  gst_element_set_state(element_.get(), GST_STATE_READY);
  EXPECT_EQ(frames(), 1u);
  gst_element_set_state(element_.get(), GST_STATE_PLAYING);
  EXPECT_EQ(frames(), 0u);
}

std::string name_of(const testing::TestParamInfo<Follower>& info) {
  std::string name = std::string(info.param.element) + "_" + info.param.property;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    of, properties,
    testing::Values(Follower{"crowdnms", "iou-threshold", 0.75}, Follower{"crowdnms", "comparator", 1, 1},
                    Follower{"crowdnms", "max-detections", 7}, Follower{"crowdnms", "class-agnostic", 1},
                    Follower{"crowdinject", "candidates", 12}, Follower{"crowdoverlay", "thickness", 3}),
    name_of);

#if CROWD_HAVE_TENSORS
INSTANTIATE_TEST_SUITE_P(of_tensors, properties,
                         testing::Values(Follower{"crowdtensordec", "iou-threshold", 0.75},
                                         Follower{"crowdtensordec", "class-confidence-threshold", 0.25},
                                         Follower{"crowdtensordec", "max-detections", 7}),
                         name_of);
#endif

#if CROWD_HAVE_DETECT
INSTANTIATE_TEST_SUITE_P(of_opencv, properties,
                         testing::Values(Follower{"crowddetect", "hit-threshold", 2.5},
                                         Follower{"crowddetect", "min-size", 40}, Follower{"crowddetect", "fit", 0},
                                         Follower{"crowddetect", "interval", 3}),
                         name_of);
#endif

}  // namespace
