// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "support.hpp"

#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gst/crowd/gstcrowdboxesmeta.h"

namespace crowd::test {

namespace {

std::optional<double> get_number(const GstStructure* structure, const char* field) {
  if (!structure)
    return std::nullopt;
  double value;
  if (gst_structure_get_double(structure, field, &value))
    return value;
  const GValue* single = gst_structure_get_value(structure, field);
  return single && G_VALUE_HOLDS_FLOAT(single) ? std::optional(double(g_value_get_float(single))) : std::nullopt;
}

std::optional<int> get_int(const GstStructure* structure, const char* field) {
  int value;
  return structure && gst_structure_get_int(structure, field, &value) ? std::optional(value) : std::nullopt;
}

Roi to_roi(GstVideoRegionOfInterestMeta* meta) {
  Roi roi{};
  const char* type = g_quark_to_string(meta->roi_type);
  roi.type = type ? type : "";
  roi.id = meta->id;
  roi.parent_id = meta->parent_id;
  roi.x = meta->x;
  roi.y = meta->y;
  roi.w = meta->w;
  roi.h = meta->h;
  const GstStructure* detection = gst_video_region_of_interest_meta_get_param(meta, "detection");
  roi.confidence = get_number(detection, "confidence");
  roi.label_id = get_int(detection, "label_id");
  roi.x_min = get_number(detection, "x_min");
  roi.y_min = get_number(detection, "y_min");
  roi.x_max = get_number(detection, "x_max");
  roi.y_max = get_number(detection, "y_max");
  if (const GstStructure* nms = gst_video_region_of_interest_meta_get_param(meta, "nms")) {
    gboolean kept = FALSE;
    roi.has_nms = true;
    EXPECT_TRUE(gst_structure_get(nms, "cluster-id", G_TYPE_INT, &roi.cluster_id, "members", G_TYPE_UINT, &roi.members,
                                  "score", G_TYPE_DOUBLE, &roi.score, "suppressed", G_TYPE_UINT, &roi.suppressed,
                                  "kept", G_TYPE_BOOLEAN, &kept, nullptr));
    roi.kept = kept;
  }
  return roi;
}

}  // namespace

Ref<GstBuffer> make_frame(unsigned width, unsigned height, GstClockTime pts, std::uint8_t fill) {
  const gsize size = gsize{width} * height * 3 / 2;
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_memset(buffer.get(), 0, fill, size);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 25;
  return buffer;
}

std::string video_caps(unsigned width, unsigned height, const std::string& feature) {
  return "video/x-raw" + (feature.empty() ? feature : "(" + feature + ")") +
         ",format=NV12,width=" + std::to_string(width) + ",height=" + std::to_string(height) + ",framerate=25/1";
}

Ref<GPtrArray> make_labels(std::span<const std::string> names) {
  GPtrArray* labels = g_ptr_array_new_with_free_func(g_free);
  for (const std::string& name : names)
    g_ptr_array_add(labels, g_strdup(name.c_str()));
  return Ref<GPtrArray>(labels);
}

void add_boxes(GstBuffer* buffer, std::span<const Candidate> candidates, const BoxesOptions& options) {
  const auto n = static_cast<unsigned>(candidates.size());
  const unsigned capacity = options.capacity.value_or(n);
  ASSERT_GE(capacity, n);
  GstMemory* memory = gst_crowd_boxes_memory_new(capacity);
  ASSERT_NE(memory, nullptr);
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory, capacity, GST_MAP_WRITE));
  for (unsigned i = 0; i < n; i++) {
    const Candidate& c = candidates[i];
    map.boxes[i] = {c.x1, c.y1, c.x2, c.y2};
    map.scores[i] = c.score;
    map.classes[i] = c.class_id;
  }
  *map.count = options.count.value_or(n);
  gst_crowd_boxes_unmap(&map);
  GstCrowdBoxesMeta* meta = gst_buffer_add_crowd_boxes_meta(buffer, memory, capacity, options.frame_width,
                                                            options.frame_height, options.labels);
  if (options.placement)
    meta->placement = *options.placement;
  meta->confidence_slope = options.confidence_slope;
  meta->confidence_offset = options.confidence_offset;
}

std::vector<Roi> rois(GstBuffer* buffer) {
  std::vector<Roi> found;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    found.push_back(to_roi(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)));
  return found;
}

unsigned count_metas(GstBuffer* buffer, GType api) {
  return gst_buffer_get_n_meta(buffer, api);
}

Ref<GstMessage> pop_message(GstBus* bus, GstMessageType type) {
  return Ref<GstMessage>(gst_bus_pop_filtered(bus, type));
}

std::string message_text(GstMessage* message) {
  GError* error = nullptr;
  char* debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  std::string text = std::string(error->message) + "\n" + (debug ? debug : "");
  g_error_free(error);
  g_free(debug);
  return text;
}

std::vector<std::string> take_warnings(GstBus* bus) {
  std::vector<std::string> texts;
  while (const Ref<GstMessage> message = pop_message(bus, GST_MESSAGE_WARNING))
    texts.push_back(message_text(message.get()));
  return texts;
}

ElementBus::ElementBus(GstElement* element) : element_(GST_ELEMENT(gst_object_ref(element))) {
  gst_element_set_bus(element, bus_.get());
}

// Messages on the bus refer to the element, and the element to the bus.
ElementBus::~ElementBus() {
  gst_element_set_bus(element_.get(), nullptr);
}

std::vector<std::string> ElementBus::warnings() {
  return take_warnings(bus_.get());
}

void expect_documented_properties(const char* element_name) {
  const Ref<GstElement> element(gst_element_factory_make(element_name, nullptr));
  ASSERT_NE(element, nullptr) << element_name;
  gst_object_ref_sink(element.get());
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &n);
  unsigned own = 0;
  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type != G_OBJECT_TYPE(element.get()))
      continue;
    own++;
    const char* nick = g_param_spec_get_nick(specs[i]);
    const char* blurb = g_param_spec_get_blurb(specs[i]);
    EXPECT_TRUE(nick && std::strcmp(nick, specs[i]->name) != 0) << specs[i]->name << " has no nick";
    EXPECT_TRUE(blurb && std::strlen(blurb) > std::strlen(nick)) << specs[i]->name << " has no blurb";
  }
  EXPECT_GT(own, 0u);
  g_free(specs);
}

void expect_remedy(const char* element_name, const char* caps, const char* remedy) {
  const Ref<GstHarness> harness(gst_harness_new(element_name));
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(harness->element, bus.get());
  gst_harness_set_src_caps_str(harness.get(), caps);
  const auto message = pop_message(bus.get(), GST_MESSAGE_ERROR);
  const std::string text = message ? message_text(message.get()) : "";
  if (*remedy)
    EXPECT_NE(text.find(remedy), std::string::npos) << caps << ": " << text;
  else
    EXPECT_EQ(text, "") << caps;
  EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr) << caps;
  gst_element_set_bus(harness->element, nullptr);
}

std::string start_error(const std::string& description) {
  const Ref<GstElement> element(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(description.c_str(), nullptr))));
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << description;
  gst_element_set_state(element.get(), GST_STATE_NULL);
  const Ref<GstMessage> message = pop_message(bus.get(), GST_MESSAGE_ERROR);
  EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr) << description << " says it twice";
  gst_element_set_bus(element.get(), nullptr);
  return message ? message_text(message.get()) : "no error";
}

void expect_refused(GstElement* element, const char* property, double value) {
  static int warnings_count;
  warnings_count = 0;
  gdouble before = 0, after = 0;
  g_object_get(element, property, &before, nullptr);
  // A warning in GLib 2.74, a critical one in 2.84, which G_DEBUG makes fatal.
  const GLogLevelFlags fatal = g_log_set_always_fatal(G_LOG_LEVEL_ERROR);
  const GLogFunc handler =
      g_log_set_default_handler([](const char*, GLogLevelFlags, const char*, gpointer) { warnings_count++; }, nullptr);
  g_object_set(element, property, value, nullptr);
  g_log_set_default_handler(handler, nullptr);
  g_log_set_always_fatal(fatal);
  g_object_get(element, property, &after, nullptr);
  EXPECT_EQ(before, after) << property << " " << value;
  EXPECT_EQ(warnings_count, 1) << property << " " << value;
}

LogCounter::LogCounter(const char* category, GstDebugLevel level) : category_(category), level_(level) {
  gst_debug_set_threshold_for_name(category, level);
  gst_debug_set_active(TRUE);
  gst_debug_add_log_function(log, this, nullptr);
}

LogCounter::~LogCounter() {
  gst_debug_remove_log_function_by_data(this);
  gst_debug_unset_threshold_for_name(category_.c_str());
}

void LogCounter::log(GstDebugCategory* category, GstDebugLevel level, const char*, const char*, int, GObject*,
                     GstDebugMessage* message, gpointer self) {
  auto* counter = static_cast<LogCounter*>(self);
  if (level != counter->level_ || counter->category_ != gst_debug_category_get_name(category))
    return;
  g_atomic_int_inc(&counter->count_);
  counter->last_ = gst_debug_message_get(message);
}

}  // namespace crowd::test
