// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/decodedmark.hpp"

namespace crowd {

namespace {

struct DecodedMark {
  GstMeta meta;
  GstBuffer* data;  // a reference: no other tensor's data get its address
  gchar* decoder;
};

gboolean init_mark(GstMeta* meta, gpointer, GstBuffer*) {
  auto* mark = reinterpret_cast<DecodedMark*>(meta);
  mark->data = nullptr;
  mark->decoder = nullptr;
  return TRUE;
}

void free_mark(GstMeta* meta, GstBuffer*) {
  auto* mark = reinterpret_cast<DecodedMark*>(meta);
  gst_clear_buffer(&mark->data);
  g_free(mark->decoder);
}

gboolean copy_mark(GstBuffer* copy, GstMeta* meta, GstBuffer*, GQuark type, gpointer) {
  const auto& mark = *reinterpret_cast<DecodedMark*>(meta);
  if (GST_META_TRANSFORM_IS_COPY(type))
    mark_decoded(copy, mark.data, mark.decoder);
  return TRUE;
}

GType mark_api() {
  static const gchar* tags[] = {nullptr};
  static const GType type = gst_meta_api_type_register("GstCrowdDecodedMarkAPI", tags);
  return type;
}

const GstMetaInfo* mark_info() {
  static const GstMetaInfo* const info =
      gst_meta_register(mark_api(), "GstCrowdDecodedMark", sizeof(DecodedMark), init_mark, free_mark, copy_mark);
  return info;
}

}  // namespace

std::string decoder_of(GstBuffer* frame, GstBuffer* data) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(frame, &state, mark_api())) {
    const auto& mark = *reinterpret_cast<DecodedMark*>(meta);
    if (mark.data == data)
      return mark.decoder;
  }
  return {};
}

void mark_decoded(GstBuffer* frame, GstBuffer* data, const char* decoder) {
  auto* mark = reinterpret_cast<DecodedMark*>(gst_buffer_add_meta(frame, mark_info(), nullptr));
  mark->data = gst_buffer_ref(data);
  mark->decoder = g_strdup(decoder);
}

}  // namespace crowd
