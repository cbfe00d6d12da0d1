// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/injectrecording.hpp"

#include <utility>

namespace crowd::inject {

GPtrArray* new_labels(const Settings& settings, const std::vector<std::string>& own) {
  if (settings.labels.empty() && own.empty())
    return nullptr;
  GPtrArray* labels = g_ptr_array_new_with_free_func(g_free);
  if (settings.labels.empty()) {
    for (const std::string& label : own)
      g_ptr_array_add(labels, g_strdup(label.c_str()));
    return labels;
  }
  gchar** names = g_strsplit(settings.labels.c_str(), ",", -1);
  for (gchar** name = names; *name; name++)
    g_ptr_array_add(labels, g_strdup(g_strstrip(*name)));
  g_strfreev(names);
  return labels;
}

std::optional<scene::Source> open_recording(GstElement* element, const Settings& settings, guint64& skipped_lines) {
  scene::ReadFailure failure;
  auto recording = scene::read_recording(settings.location, settings.format, settings.strict, failure);
  if (!recording) {
    switch (failure.cause) {
      case scene::ReadFailure::Cause::not_found:
        GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", failure.message.c_str()),
                          ("set location to a det.txt or JSON lines file, or to NULL for a synthetic scene"));
        break;
      case scene::ReadFailure::Cause::unreadable:
        GST_ELEMENT_ERROR(element, RESOURCE, OPEN_READ, ("%s", failure.message.c_str()),
                          ("set location to a det.txt or JSON lines file, or to NULL for a synthetic scene"));
        break;
      case scene::ReadFailure::Cause::malformed:
        GST_ELEMENT_ERROR(element, STREAM, WRONG_TYPE, ("%s", failure.message.c_str()), (nullptr));
        break;
    }
    return std::nullopt;
  }
  skipped_lines = recording->skipped_lines();
  if (const auto& bad = recording->first_skipped()) {
    GST_ELEMENT_WARNING(
        element, STREAM, DECODE,
        ("%" G_GUINT64_FORMAT " of the lines of \"%s\" do not fit and were skipped, the first at %s:%" G_GUINT64_FORMAT
         ": %s.",
         skipped_lines, settings.location.c_str(), settings.location.c_str(), bad->line, bad->reason.c_str()),
        ("correct the file, or set strict=true to make this an error"));
  } else if (recording->size() == 0) {
    GST_ELEMENT_WARNING(element, STREAM, DECODE,
                        ("\"%s\" holds no candidates: all frames will pass without.", settings.location.c_str()),
                        ("set location to a file that a detector wrote"));
  }
  const scene::Size recorded{static_cast<float>(settings.recorded_width), static_cast<float>(settings.recorded_height)};
  return scene::Source(std::move(*recording), recorded);
}

}  // namespace crowd::inject
