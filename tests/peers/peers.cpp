// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "peers.hpp"

#include <ostream>
#include <regex>

namespace crowd::test {

namespace {

void free_values(gpointer values) {
  delete static_cast<std::vector<float>*>(values);
}

GstBuffer* buffer_of(std::span<const float> values) {
  auto* copy = new std::vector<float>(values.begin(), values.end());
  return gst_buffer_new_wrapped_full(GstMemoryFlags(0), copy->data(), copy->size() * sizeof(float), 0,
                                     copy->size() * sizeof(float), copy, free_values);
}

// GStreamer 1.28 calls the planes of YOLOv8 columns. The bytes are in C order all the same.
GstTensorDimOrder order_of(const FloatTensor& tensor) {
  return std::string(tensor.id) == "yolo-v8-out" ? GST_TENSOR_DIM_ORDER_COL_MAJOR : GST_TENSOR_DIM_ORDER_ROW_MAJOR;
}

// Sizes that the decoder leaves open become some: it takes those of the tensors.
GstCaps* fixed(GstCaps* caps) {
  gchar* text = gst_caps_to_string(caps);
  const std::string known = std::regex_replace(text, std::regex(R"(\\*\[\\* [01]\\*,\\* 2147483647\\* \\*\])"), "8400");
  g_free(text);
  gst_caps_unref(caps);
  return gst_caps_from_string(known.c_str());
}

GstCaps* caps_of(unsigned width, unsigned height, const char* decoder) {
  GstCaps* caps = gst_caps_new_empty_simple("video/x-raw");
  if (decoder) {
    GstElementFactory* factory = gst_element_factory_find(decoder);
    for (const GList* at = gst_element_factory_get_static_pad_templates(factory); at; at = at->next) {
      auto* pad = static_cast<GstStaticPadTemplate*>(at->data);
      if (pad->direction == GST_PAD_SINK)
        gst_caps_take(&caps, gst_caps_truncate(gst_static_caps_get(&pad->static_caps)));
    }
    gst_object_unref(factory);
  }
  caps = gst_caps_make_writable(fixed(caps));
  gst_caps_set_simple(caps, "format", G_TYPE_STRING, "I420", "width", G_TYPE_INT, int(width), "height", G_TYPE_INT,
                      int(height), "framerate", GST_TYPE_FRACTION, 25, 1, nullptr);
  return caps;
}

}  // namespace

std::string missing_element(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (!factory)
      return name;
    gst_object_unref(factory);
  }
  return {};
}

void add_tensors(GstBuffer* buffer, std::span<const FloatTensor> tensors) {
  auto** made = g_new(GstTensor*, tensors.size());
  for (std::size_t i = 0; i < tensors.size(); i++) {
    std::vector<gsize> dims = tensors[i].dims;
    made[i] = gst_tensor_new_simple(g_quark_from_string(tensors[i].id), GST_TENSOR_DATA_TYPE_FLOAT32,
                                    buffer_of(tensors[i].values), order_of(tensors[i]), dims.size(), dims.data());
  }
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer), guint(tensors.size()), made);
}

void PrintTo(const Detected& object, std::ostream* out) {
  *out << object.label << " " << object.x << "," << object.y << " " << object.width << "x" << object.height << " at "
       << object.confidence;
}

std::vector<Detected> detected_objects(GstBuffer* buffer) {
  std::vector<Detected> objects;
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsODMtd mtd;
  while (meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(),
                                                     reinterpret_cast<GstAnalyticsMtd*>(&mtd))) {
    Detected object{};
    gst_analytics_od_mtd_get_location(&mtd, &object.x, &object.y, &object.width, &object.height, &object.confidence);
    // Without a label file ssdobjectdetector gives no type.
    const char* type = g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&mtd));
    object.label = type ? type : "";
    objects.push_back(object);
  }
  return objects;
}

Peer::Peer(const std::string& launch, unsigned width, unsigned height, const char* decoder)
    : width_(width), height_(height), harness_(gst_harness_new_parse(launch.c_str())) {
  gst_harness_set_src_caps(harness_.get(), caps_of(width, height, decoder));
}

Ref<GstBuffer> Peer::frame() const {
  const gsize luma = gsize(width_) * height_;
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, luma * 3 / 2, nullptr));
  gst_buffer_memset(buffer.get(), 0, 16, luma);
  gst_buffer_memset(buffer.get(), luma, 128, luma / 2);
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

Ref<GstBuffer> Peer::pass(Ref<GstBuffer> buffer) {
  EXPECT_EQ(gst_harness_push(harness_.get(), buffer.release()), GST_FLOW_OK);
  return Ref<GstBuffer>(gst_harness_try_pull(harness_.get()));
}

Ref<GstBuffer> Peer::pass(std::span<const FloatTensor> tensors) {
  Ref<GstBuffer> buffer = frame();
  add_tensors(buffer.get(), tensors);
  return pass(std::move(buffer));
}

}  // namespace crowd::test
