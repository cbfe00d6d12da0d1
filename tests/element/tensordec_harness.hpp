// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A crowdtensordec in a harness, and frames with tensors, for the tests of crowdtensordec.
#pragma once

#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "network.hpp"
#include "support.hpp"

namespace crowd::test {

/// What a test makes a GstTensor of; the defaults make one of nothing.
struct TensorParts {
  std::string id{};  ///< none where it is empty
  GstTensorDataType type = GST_TENSOR_DATA_TYPE_FLOAT32;
  std::vector<gsize> dims{};
  std::string bytes{};
  GstTensorDimOrder order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
};

inline std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline GstTensor* make_tensor(const TensorParts& parts) {
  GstTensor* tensor = gst_tensor_alloc(parts.dims.size());
  tensor->id = parts.id.empty() ? 0 : g_quark_from_string(parts.id.c_str());
  tensor->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  tensor->data_type = parts.type;
  tensor->dims_order = parts.order;
  tensor->data = parts.bytes.empty() ? gst_buffer_new() : gst_buffer_new_memdup(parts.bytes.data(), parts.bytes.size());
  std::copy(parts.dims.begin(), parts.dims.end(), tensor->dims);
  return tensor;
}

/// Attaches one GstTensorMeta.
inline void add_tensors(GstBuffer* buffer, const std::vector<TensorParts>& all) {
  auto** tensors = g_new(GstTensor*, all.size());
  for (std::size_t i = 0; i < all.size(); i++)
    tensors[i] = make_tensor(all[i]);
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer), static_cast<guint>(all.size()), tensors);
}

/// What a network says to one picture, with the ids of its description.
inline std::vector<TensorParts> tensors_of(const Network& network, const Answer& answer) {
  std::vector<TensorParts> all;
  for (std::size_t i = 0; i < network.outputs.size(); i++) {
    const bool half = answer.types[i] == tensors::Type::float16;
    TensorParts parts{.id = network.outputs[i].id,
                      .type = half ? GST_TENSOR_DATA_TYPE_FLOAT16 : GST_TENSOR_DATA_TYPE_FLOAT32};
    parts.dims.assign(answer.dims[i].begin(), answer.dims[i].end());
    parts.bytes = half
                      ? std::string(reinterpret_cast<const char*>(answer.halves[i].data()), answer.halves[i].size() * 2)
                      : bytes_of(answer.values[i]);
    all.push_back(std::move(parts));
  }
  return all;
}

/// A yolo-v8-out of one class with these candidates, x1 y1 x2 y2 in pixels of the input, and places of score 0.
inline TensorParts yolo_tensor(const std::vector<Candidate>& candidates, std::size_t classes = 1) {
  const std::size_t places = candidates.size() + 100;
  std::vector<float> values((4 + classes) * places);
  for (std::size_t i = 0; i < candidates.size(); i++) {
    const Candidate& c = candidates[i];
    const float row[] = {(c.x1 + c.x2) / 2, (c.y1 + c.y2) / 2, c.x2 - c.x1, c.y2 - c.y1};
    for (std::size_t k = 0; k < 4; k++)
      values[k * places + i] = row[k];
    values[(4 + static_cast<std::size_t>(c.class_id)) * places + i] = c.score;
  }
  return {.id = "yolo-v8-out",
          .dims = {1, 4 + classes, places},
          .bytes = bytes_of(values),
          .order = GST_TENSOR_DIM_ORDER_COL_MAJOR};
}

/// Survivors that left as boxes.
inline std::vector<Candidate> survivors_of(GstBuffer* buffer) {
  std::vector<Candidate> all;
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
  GstCrowdBoxesMap map;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ))
    return all;
  for (guint i = 0; i < *map.count; i++)
    all.push_back({map.boxes[i].x1, map.boxes[i].y1, map.boxes[i].x2, map.boxes[i].y2, map.scores[i], map.classes[i]});
  gst_crowd_boxes_unmap(&map);
  return all;
}

class TensorDecHarness {
 public:
  explicit TensorDecHarness(const std::string& properties = "", unsigned width = 640, unsigned height = 480,
                            const std::string& launch = "crowdtensordec name=dec ")
      : width_(width), height_(height), harness_(gst_harness_new_empty()), bus_(gst_bus_new()) {
    gst_harness_add_parse(harness_.get(), (launch + properties).c_str());
    element_.reset(gst_harness_find_element(harness_.get(), "crowdtensordec"));
    gst_element_set_bus(element_.get(), bus_.get());
    gst_harness_set_src_caps_str(harness_.get(), video_caps(width, height).c_str());
  }
  ~TensorDecHarness() {
    gst_element_set_bus(element_.get(), nullptr);
  }

  Ref<GstBuffer> pass(Ref<GstBuffer> buffer) {
    EXPECT_EQ(gst_harness_push(harness_.get(), buffer.release()), GST_FLOW_OK);
    Ref<GstBuffer> out(gst_harness_try_pull(harness_.get()));
    EXPECT_TRUE(out);
    return out;
  }
  Ref<GstBuffer> pass(const std::vector<TensorParts>& tensors) {
    Ref<GstBuffer> buffer = frame();
    add_tensors(buffer.get(), tensors);
    return pass(std::move(buffer));
  }
  Ref<GstBuffer> frame() const {
    return make_frame(width_, height_);
  }

  guint64 stat(const char* field) const {
    GstStructure* structure = nullptr;
    g_object_get(element(), "stats", &structure, nullptr);
    const Ref<GstStructure> all(structure);
    guint64 count = 0;
    EXPECT_TRUE(gst_structure_get_uint64(all.get(), field, &count)) << field;
    return count;
  }

  GstElement* element() const {
    return element_.get();
  }
  GstHarness* harness() const {
    return harness_.get();
  }
  GstBus* bus() const {
    return bus_.get();
  }

 private:
  unsigned width_, height_;
  Ref<GstHarness> harness_;
  Ref<GstBus> bus_;
  Ref<GstElement> element_;
};

/// A pile of two and one aside, of two classes.
inline const std::vector<Candidate> piles = {
    {100, 100, 200, 200, .9f, 0}, {102, 100, 202, 200, .8f, 1}, {400, 300, 440, 360, .6f, 1}};

/// Of each, in their order.
inline std::vector<float> scores_of(const std::vector<Candidate>& candidates) {
  std::vector<float> scores;
  for (const Candidate& c : candidates)
    scores.push_back(c.score);
  return scores;
}

}  // namespace crowd::test
