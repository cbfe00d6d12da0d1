// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the properties of all elements have in common.

#include <gmock/gmock.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

using namespace crowd::test;

/// Of all plugins of the project in this build.
std::vector<std::string> all_elements() {
  gst_init(nullptr, nullptr);
  std::vector<std::string> names;
  GList* features = gst_registry_get_feature_list(gst_registry_get(), GST_TYPE_ELEMENT_FACTORY);
  for (const GList* link = features; link; link = link->next) {
    auto* const feature = static_cast<GstPluginFeature*>(link->data);
    GstPlugin* plugin = gst_plugin_feature_get_plugin(feature);
    if (plugin && std::string(gst_plugin_get_package(plugin)) == "gst-crowd")
      names.emplace_back(gst_plugin_feature_get_name(feature));
    gst_clear_object(&plugin);
  }
  gst_plugin_feature_list_free(features);
  return names;
}

bool can_be_controlled(const GParamSpec* spec) {
  return spec->value_type != G_TYPE_STRING && !g_type_is_a(spec->value_type, G_TYPE_BOXED);
}

class properties : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    make();
  }

  void make() {
    element_.reset(gst_element_factory_make(GetParam().c_str(), nullptr));
    ASSERT_NE(element_, nullptr);
    gst_object_ref_sink(element_.get());
  }

  /// The element's own that may change while playing and that a control source has numbers for.
  std::vector<const GParamSpec*> live() const {
    std::vector<const GParamSpec*> found;
    guint n = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_.get()), &n);
    for (guint i = 0; i < n; i++) {
      const bool own = specs[i]->owner_type == G_OBJECT_TYPE(element_.get());
      if (own && specs[i]->flags & GST_PARAM_MUTABLE_PLAYING && can_be_controlled(specs[i]))
        found.push_back(specs[i]);
    }
    g_free(specs);
    return found;
  }

  Ref<GstElement> element_;
};

TEST_P(properties, that_change_while_playing_are_controllable) {
  EXPECT_FALSE(live().empty());
  for (const GParamSpec* spec : live())
    EXPECT_TRUE(spec->flags & GST_PARAM_CONTROLLABLE) << spec->name;
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

/// A value, and what a control source has to say for it: the value itself, but of an enum its place as a fraction.
struct Said {
  double value, said;
};

double max_of(const GParamSpec* spec) {
  if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    return 1;
  if (G_IS_PARAM_SPEC_INT(spec))
    return G_PARAM_SPEC_INT(spec)->maximum;
  if (G_IS_PARAM_SPEC_UINT(spec))
    return G_PARAM_SPEC_UINT(spec)->maximum;
  if (G_IS_PARAM_SPEC_FLOAT(spec))
    return G_PARAM_SPEC_FLOAT(spec)->maximum;
  EXPECT_TRUE(G_IS_PARAM_SPEC_DOUBLE(spec)) << spec->name;
  return G_PARAM_SPEC_DOUBLE(spec)->maximum;
}

/// One that the property does not have.
Said other_than(double now, const GParamSpec* spec) {
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* all = G_PARAM_SPEC_ENUM(spec)->enum_class;
    const guint place = all->values[0].value == now ? 1 : 0;
    return {double(all->values[place].value), (place + 0.5) / (all->n_values - 1)};
  }
  if (!std::isfinite(now))
    return {0.5, 0.5};
  // A size of a pixel, say, would take long to search for.
  const double step = spec->value_type == G_TYPE_FLOAT || spec->value_type == G_TYPE_DOUBLE ? 0.125 : 32;
  const double higher = std::min(now + step, max_of(spec));
  const double value = higher > now ? higher : now - std::min(step, 1.0);
  return {value, value};
}

void follow(GstElement* element, const GParamSpec* spec) {
  const double before = value_of(element, spec->name);
  const auto [wanted, said] = other_than(before, spec);
  ASSERT_NE(before, wanted);
  const Ref<GstHarness> harness(gst_harness_new_with_element(element, "sink", "src"));
  gst_harness_set_src_caps_str(harness.get(), video_caps(64, 48).c_str());
  const Ref<GstBuffer> first(gst_harness_push_and_pull(harness.get(), make_frame(64, 48, 0).release()));
  EXPECT_EQ(value_of(element, spec->name), before);
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, said);
  ASSERT_TRUE(gst_object_add_control_binding(
      GST_OBJECT(element), gst_direct_control_binding_new_absolute(GST_OBJECT(element), spec->name, source)));
  gst_object_unref(source);
  const Ref<GstBuffer> second(gst_harness_push_and_pull(harness.get(), make_frame(64, 48, GST_SECOND).release()));
  EXPECT_FLOAT_EQ(value_of(element, spec->name), wanted);
}

TEST_P(properties, follow_a_control_source) {
  for (const GParamSpec* spec : live()) {
    SCOPED_TRACE(spec->name);
    make();
    follow(element_.get(), spec);
  }
}

TEST_P(properties, stats_are_named_after_the_element_and_count_alike) {
  GstStructure* structure = nullptr;
  g_object_get(element_.get(), "stats", &structure, nullptr);
  const Ref<GstStructure> stats(structure);
  ASSERT_NE(stats, nullptr);
  EXPECT_STREQ(gst_structure_get_name(stats.get()), (GetParam() + "-stats").c_str());
  const bool draws = GetParam() == "crowdoverlay";
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

INSTANTIATE_TEST_SUITE_P(of, properties, testing::ValuesIn(all_elements()),
                         [](const auto& info) { return info.param; });

TEST(Elements, are_found_in_the_registry) {
  EXPECT_THAT(all_elements(), testing::IsSupersetOf({"crowdnms", "crowdinject", "crowdoverlay"}));
}

}  // namespace
