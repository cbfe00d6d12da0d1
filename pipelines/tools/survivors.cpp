// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "survivors.hpp"

#include <gst/video/gstvideometa.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace crowd {

namespace {

using Edges = std::array<double, 4>;  // x1, y1, x2, y2 in pixels

struct Resolution {
  gint width = 0, height = 0;
  bool known() const {
    return width > 0 && height > 0;
  }
};

Resolution resolution_of(GstSample* sample) {
  Resolution resolution;
  const GstCaps* caps = gst_sample_get_caps(sample);
  if (caps && gst_caps_get_size(caps) > 0) {
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    gst_structure_get_int(structure, "width", &resolution.width);
    gst_structure_get_int(structure, "height", &resolution.height);
  }
  return resolution;
}

std::optional<double> number_of(const GstStructure* structure, const char* name) {
  const GValue* value = structure ? gst_structure_get_value(structure, name) : nullptr;
  if (value && G_VALUE_HOLDS_DOUBLE(value))
    return g_value_get_double(value);
  if (value && G_VALUE_HOLDS_FLOAT(value))
    return g_value_get_float(value);
  return std::nullopt;
}

bool fits_float(double number) {
  return std::abs(number) <= double(std::numeric_limits<float>::max());
}

Edges edges_of(const GstVideoRegionOfInterestMeta* roi, const GstStructure* detection, Resolution resolution) {
  constexpr std::array names = {"x_min", "y_min", "x_max", "y_max"};
  const Edges rectangle = {double(roi->x), double(roi->y), double(roi->x) + roi->w, double(roi->y) + roi->h};
  Edges edges;
  for (std::size_t i = 0; i < names.size(); i++) {
    const auto number = number_of(detection, names[i]);
    if (!number || !resolution.known())
      return rectangle;
    edges[i] = *number * (i % 2 == 0 ? resolution.width : resolution.height);
    if (!fits_float(edges[i]))
      return rectangle;
  }
  return edges;
}

// The shortest digits that make the same float.
std::string number_text(double number) {
  if (!fits_float(number))
    return "null";
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(number));
  return {digits.data(), end};
}

std::string quoted(const char* text) {
  g_autofree gchar* valid = g_utf8_make_valid(text ? text : "", -1);
  std::string result = "\"";
  for (const char* at = valid; *at; at++) {
    const auto c = static_cast<unsigned char>(*at);
    if (c == '"' || c == '\\')
      result += '\\';
    if (c >= 0x20) {
      result += *at;
    } else {
      constexpr char hex[] = "0123456789abcdef";
      result += {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    }
  }
  return result + "\"";
}

// Nothing for a region that is marked as suppressed.
std::optional<std::string> object_text(GstVideoRegionOfInterestMeta* roi, Resolution resolution) {
  const GstStructure* detection = gst_video_region_of_interest_meta_get_param(roi, "detection");
  const GstStructure* nms = gst_video_region_of_interest_meta_get_param(roi, "nms");
  gboolean kept = TRUE;
  guint members = 1;
  if (nms) {
    gst_structure_get_boolean(nms, "kept", &kept);
    gst_structure_get_uint(nms, "members", &members);
  }
  if (!kept)
    return std::nullopt;

  const Edges edges = edges_of(roi, detection, resolution);
  std::string text = "{\"box\": [" + number_text(edges[0]) + ", " + number_text(edges[1]) + ", " +
                     number_text(edges[2]) + ", " + number_text(edges[3]) + "]";
  const auto raw = number_of(nms, "score");
  const auto confidence = number_of(detection, "confidence");
  if (confidence || raw)
    text += ", \"score\": " + number_text(confidence ? *confidence : *raw);
  if (gint label_id = -1; detection && gst_structure_get_int(detection, "label_id", &label_id) && label_id >= 0)
    text += ", \"class\": " + std::to_string(label_id);
  text += ", \"label\": " + quoted(g_quark_to_string(roi->roi_type)) + ", \"members\": " + std::to_string(members);
  if (raw && confidence && static_cast<float>(*raw) != static_cast<float>(*confidence))
    text += ", \"raw-score\": " + number_text(*raw);
  return text + "}";
}

}  // namespace

std::string survivors_line(guint64 frame, GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  const gint64 pts = GST_BUFFER_PTS_IS_VALID(buffer) ? static_cast<gint64>(GST_BUFFER_PTS(buffer)) : -1;
  const Resolution resolution = resolution_of(sample);
  std::string line = "{\"frame\": " + std::to_string(frame) + ", \"pts\": " + std::to_string(pts);
  if (resolution.known())
    line += ", \"resolution\": {\"width\": " + std::to_string(resolution.width) +
            ", \"height\": " + std::to_string(resolution.height) + "}";
  line += ", \"objects\": [";
  const char* separator = "";
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    if (const auto object = object_text(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), resolution)) {
      line += separator + *object;
      separator = ", ";
    }
  }
  return line + "]}\n";
}

}  // namespace crowd
