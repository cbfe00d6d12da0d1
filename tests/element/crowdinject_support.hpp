// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the tests of crowdinject share.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inject/gstcrowdtruth.hpp"
#include "inject/scene/scene.hpp"
#include "support.hpp"
#include "temporary_file.hpp"

namespace crowd::test {

// The candidates of a buffer, copied out of its one GstCrowdBoxesMeta.
struct Attached {
  std::uint32_t count = 0;
  unsigned capacity = 0, width = 0, height = 0;
  crowd::scene::CandidateList candidates;  // those within the capacity
  std::vector<std::string> labels;
};

inline Attached attached(GstBuffer* buffer) {
  Attached result;
  EXPECT_EQ(count_metas(buffer, GST_CROWD_BOXES_META_API_TYPE), 1u);
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer);
  GstCrowdBoxesMap map;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ)) {
    ADD_FAILURE() << "no candidates";
    return result;
  }
  result.count = *map.count;
  result.capacity = meta->capacity;
  result.width = meta->frame_width;
  result.height = meta->frame_height;
  for (unsigned i = 0; i < std::min(*map.count, meta->capacity); i++)
    result.candidates.add({map.boxes[i].x1, map.boxes[i].y1, map.boxes[i].x2, map.boxes[i].y2}, map.scores[i],
                          map.classes[i]);
  for (unsigned i = 0; meta->labels && i < meta->labels->len; i++)
    result.labels.push_back(static_cast<const char*>(g_ptr_array_index(meta->labels, i)));
  gst_crowd_boxes_unmap(&map);
  return result;
}

struct Expected {
  crowd::scene::CandidateList candidates;
  std::vector<crowd::scene::TrueObject> objects;
};

inline Expected expected(const crowd::scene::SceneSettings& settings, std::uint64_t number, float width, float height,
                         std::int64_t wanted = crowd::scene::own_number) {
  Expected result;
  crowd::scene::Scene(settings).frame(number, {width, height}, wanted, result.candidates, result.objects);
  return result;
}

// The number of the frame of the default scene whose candidates a 640x360 buffer carries; -1 if none of the first 200.
inline int number_of(GstBuffer* buffer) {
  const auto boxes = attached(buffer).candidates.boxes;
  for (int number = 0; number < 200; number++)
    if (boxes == expected({}, static_cast<std::uint64_t>(number), 640, 360).candidates.boxes)
      return number;
  return -1;
}

inline Ref<GstElement> make_element(const std::string& properties) {
  GError* error = nullptr;
  GstElement* element = gst_parse_launch(("crowdinject " + properties).c_str(), &error);
  if (error)
    ADD_FAILURE() << properties << ": " << error->message;
  g_clear_error(&error);
  return Ref<GstElement>(static_cast<GstElement*>(gst_object_ref_sink(element)));
}

inline guint64 stat_of(GstElement* element, const char* name) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 value = G_MAXUINT64;
  EXPECT_TRUE(gst_structure_get_uint64(stats, name, &value)) << name;
  gst_structure_free(stats);
  return value;
}

// A crowdinject between two pads, with a bus.
class Inject {
 public:
  explicit Inject(const std::string& properties = "", const std::string& caps = video_caps(640, 360))
      : element_(make_element(properties)), bus_(gst_bus_new()) {
    gst_element_set_bus(element_.get(), bus_.get());
    harness_.reset(gst_harness_new_with_element(element_.get(), "sink", "src"));
    if (!caps.empty())
      gst_harness_set_src_caps_str(harness_.get(), caps.c_str());
  }
  ~Inject() {
    harness_.reset();
    gst_element_set_bus(element_.get(), nullptr);
  }

  GstHarness* harness() const {
    return harness_.get();
  }
  GstElement* element() const {
    return element_.get();
  }
  GstBus* bus() const {
    return bus_.get();
  }
  Ref<GstBuffer> pass(Ref<GstBuffer> buffer = make_frame(640, 360)) const {
    return Ref<GstBuffer>(gst_harness_push_and_pull(harness_.get(), buffer.release()));
  }
  Ref<GstBuffer> pass_frame(unsigned number) const {
    return pass(make_frame(640, 360, number * GST_SECOND / 25));
  }
  template <typename Value>
  void set(const char* name, Value value) const {
    g_object_set(element_.get(), name, value, nullptr);
  }
  guint64 stat(const char* name) const {
    return stat_of(element_.get(), name);
  }
  std::string next_message(GstMessageType type) const {
    const Ref<GstMessage> message = pop_message(bus_.get(), type);
    return message ? message_text(message.get()) : "";
  }

 private:
  Ref<GstElement> element_;
  Ref<GstBus> bus_;
  Ref<GstHarness> harness_;
};

}  // namespace crowd::test
