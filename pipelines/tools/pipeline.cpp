// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace crowd {
namespace {

bool made_by(GstElement* element, const char* factory) {
  GstElementFactory* own = gst_element_get_factory(element);
  return own && std::string_view(GST_OBJECT_NAME(own)) == factory;
}

/** An int property that is a limit where it is positive. */
std::optional<std::uint64_t> positive_property(GstElement* element, const char* name) {
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  if (!property || property->value_type != G_TYPE_INT)
    return std::nullopt;
  gint value = 0;
  g_object_get(element, name, &value, nullptr);
  if (value <= 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

/** The first element of an iterator (transfer full, both) for which `wanted` is true, or null. */
template <typename Predicate>
GstElement* first_of(GstIterator* elements, Predicate wanted) {
  GstElement* found = nullptr;
  GValue item = G_VALUE_INIT;
  while (!found && gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
    auto* element = GST_ELEMENT(g_value_get_object(&item));
    if (wanted(element))
      found = GST_ELEMENT(gst_object_ref(element));
    g_value_reset(&item);
  }
  g_value_unset(&item);
  gst_iterator_free(elements);
  return found;
}

/** Lets as many buffers through as are left, then ends the stream. */
GstPadProbeReturn count_down(GstPad* pad, GstPadProbeInfo* info, gpointer left) {
  auto& count = *static_cast<std::uint64_t*>(left);
  if (count > 0) {
    count--;
    return GST_PAD_PROBE_OK;
  }
  gst_pad_send_event(pad, gst_event_new_eos());
  gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_EOS;
  return GST_PAD_PROBE_HANDLED;
}

/** What a message's debug text tells, with a blank before it. It begins with a line that says where in the source the
 *  message was posted. */
std::string detail_of(const gchar* debug) {
  const char* detail = debug ? std::strchr(debug, '\n') : nullptr;
  return detail ? std::string(" ") + (detail + 1) : "";
}

void delete_count(gpointer count) {
  delete static_cast<std::uint64_t*>(count);
}

}  // namespace

void find_plugins() {
  GstRegistry* registry = gst_registry_get();
  if (gst_registry_check_feature_version(registry, "crowdnms", 0, 0, 0))
    return;
  gst_registry_scan_path(registry, CROWD_PLUGINS_DIR);
  gst_preset_set_app_dir(CROWD_PRESETS_DIR);
}

GstElement* parse_pipeline(const char* program, const std::vector<std::string>& words) {
  std::vector<const gchar*> arguments;
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  arguments.push_back(nullptr);

  g_autoptr(GError) error = nullptr;
  GstElement* parsed = gst_parse_launchv_full(arguments.data(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!parsed) {
    g_printerr("%s: %s\n", program, error->message);
    if (std::strstr(error->message, "\"crowddetect\""))
      g_printerr("%s: it comes with a build of gst-crowd that has OpenCV: meson setup -Dopencv=enabled\n", program);
    else if (g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT))
      g_printerr("%s: check the spelling, install the plugin that has it, or point GST_PLUGIN_PATH to its folder\n",
                 program);
    return nullptr;
  }
  if (GST_IS_PIPELINE(parsed))
    return parsed;
  GstElement* pipeline = gst_pipeline_new(nullptr);
  gst_bin_add(GST_BIN(pipeline), parsed);
  return pipeline;
}

GstElement* find_element(GstBin* pipeline, const char* factory) {
  return first_of(gst_bin_iterate_recurse(pipeline),
                  [factory](GstElement* element) { return made_by(element, factory); });
}

void for_each_element(GstBin* pipeline, const std::function<void(GstElement*)>& visit) {
  std::vector<GstElement*> elements;
  GstElement* none = first_of(gst_bin_iterate_recurse(pipeline), [&elements](GstElement* element) {
    elements.push_back(GST_ELEMENT(gst_object_ref(element)));
    return false;
  });
  gst_clear_object(&none);
  std::reverse(elements.begin(), elements.end());
  for (GstElement* element : elements) {
    visit(element);
    gst_object_unref(element);
  }
}

GstElement* any_sink(GstBin* pipeline) {
  return first_of(gst_bin_iterate_sinks(pipeline), [](GstElement*) { return true; });
}

std::optional<std::uint64_t> frame_limit(GstBin* pipeline) {
  std::optional<std::uint64_t> limit;
  GstElement* none = first_of(gst_bin_iterate_recurse(pipeline), [&limit](GstElement* element) {
    if (const auto own = positive_property(element, "num-buffers"))
      limit = std::min(limit.value_or(*own), *own);
    return false;
  });
  gst_clear_object(&none);
  return limit;
}

void end_after(GstPad* pad, std::uint64_t frames) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_down, new std::uint64_t(frames), delete_count);
}

bool play_to_end(const char* program, GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(int{GST_MESSAGE_EOS} | int{GST_MESSAGE_ERROR}));
  const bool ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  if (!ended)
    print_error(program, message);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return ended;
}

void print_warning(const char* program, GstMessage* message) {
  g_autoptr(GError) warning = nullptr;
  g_autofree gchar* debug = nullptr;
  gst_message_parse_warning(message, &warning, &debug);
  g_printerr("%s: warning: %s: %s%s\n", program, GST_MESSAGE_SRC_NAME(message), warning->message,
             detail_of(debug).c_str());
}

void print_error(const char* program, GstMessage* message) {
  g_autoptr(GError) error = nullptr;
  g_autofree gchar* debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  g_printerr("%s: %s: %s%s\n", program, GST_MESSAGE_SRC_NAME(message), error->message, detail_of(debug).c_str());
  if (!g_getenv("GST_DEBUG"))
    g_printerr("%s: GST_DEBUG=3 tells more\n", program);
}

}  // namespace crowd
