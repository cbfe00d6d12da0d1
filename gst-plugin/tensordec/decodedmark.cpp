// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/decodedmark.hpp"

namespace crowd {

namespace {

struct DecodedMark {
  GstMeta meta;
  gconstpointer tensor;
  GstObject* element;
};

gboolean init_mark(GstMeta* meta, gpointer, GstBuffer*) {
  auto* mark = reinterpret_cast<DecodedMark*>(meta);
  mark->tensor = nullptr;
  mark->element = nullptr;
  return TRUE;
}

void free_mark(GstMeta* meta, GstBuffer*) {
  gst_clear_object(&reinterpret_cast<DecodedMark*>(meta)->element);
}

GType mark_api() {
  static const gchar* tags[] = {nullptr};
  static const GType type = gst_meta_api_type_register("GstCrowdDecodedMarkAPI", tags);
  return type;
}

const GstMetaInfo* mark_info() {
  static const GstMetaInfo* const info =
      gst_meta_register(mark_api(), "GstCrowdDecodedMark", sizeof(DecodedMark), init_mark, free_mark, nullptr);
  return info;
}

}  // namespace

std::string decoder_of(GstBuffer* frame, gconstpointer tensor) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(frame, &state, mark_api())) {
    const auto& mark = *reinterpret_cast<DecodedMark*>(meta);
    if (mark.tensor != tensor)
      continue;
    gchar* name = gst_object_get_name(mark.element);
    std::string copy = name;
    g_free(name);
    return copy;
  }
  return {};
}

void mark_decoded(GstBuffer* frame, gconstpointer tensor, GstObject* element) {
  auto* mark = reinterpret_cast<DecodedMark*>(gst_buffer_add_meta(frame, mark_info(), nullptr));
  mark->tensor = tensor;
  mark->element = GST_OBJECT(gst_object_ref(element));
}

}  // namespace crowd
