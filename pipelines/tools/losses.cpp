// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "losses.hpp"

#include <algorithm>
#include <cstdint>

#include "pipeline.hpp"

namespace crowd {
namespace {

struct Kind {
  const char* factory;
  const char* field;  // of `stats`
  const char* text;   // after the number
};

constexpr Kind kKinds[] = {
    {"crowddetect", "failures", "frames not searched"},
    {"crowddetect", "overflow", "candidates over max-candidates"},
    {"crowdinject", "failures", "frames not numbered"},
    {"crowdinject", "skipped-lines", "lines skipped"},
    {"crowdinject", "overflow", "candidates over max-candidates"},
    {"crowdnms", "failures", "frames not clustered"},
    {"crowdnms", "overflow", "candidates over max-candidates"},
    {"crowdnms", "invalid", "invalid candidates"},
    {"crowdnms", "clipped", "survivors over max-detections"},
    {"crowdoverlay", "failures", "frames not drawn"},
    {"crowdtensordec", "failures", "frames not decoded"},
    {"crowdtensordec", "overflow", "candidates over max-candidates"},
    {"crowdtensordec", "invalid", "invalid candidates"},
    {"crowdtensordec", "clipped", "survivors over max-detections"},
};

std::uint64_t count_of(const GstStructure* stats, const char* field) {
  guint64 count = 0;
  gst_structure_get_uint64(stats, field, &count);
  return count;
}

// crowddetect searches some of the frames only, if it is told to.
std::uint64_t tries_of(const GstStructure* stats) {
  return count_of(stats, gst_structure_has_field(stats, "searched") ? "searched" : "frames");
}

}  // namespace

void Losses::add(const std::string& factory, const std::string& name, const GstStructure* stats) {
  bool ours = false;
  for (const Kind& kind : kKinds) {
    if (factory != kind.factory)
      continue;
    ours = true;
    if (const std::uint64_t count = count_of(stats, kind.field))
      text_ += (text_.empty() ? "" : ", ") + std::to_string(count) + " " + kind.text + " (" + name + ")";
  }
  known_ |= ours;
  const std::uint64_t failures = ours ? count_of(stats, "failures") : 0;
  if (failures > 0 && failures == tries_of(stats))
    failed_.push_back(name);
}

std::string Losses::text() const {
  return text_.empty() ? "nothing" : text_;
}

Losses read_losses(GstBin* pipeline) {
  Losses losses;
  for_each_element(pipeline, [&losses](GstElement* element) {
    const GstElementFactory* factory = gst_element_get_factory(element);
    const GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats");
    if (!factory || !property || property->value_type != GST_TYPE_STRUCTURE || !(property->flags & G_PARAM_READABLE))
      return;
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    if (!stats)
      return;
    losses.add(GST_OBJECT_NAME(factory), GST_OBJECT_NAME(element), stats);
    gst_structure_free(stats);
  });
  return losses;
}

}  // namespace crowd
