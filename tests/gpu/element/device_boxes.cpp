// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "device_boxes.hpp"

#include <gst/crowd/gstcrowdcuda.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace crowd::test {

namespace {

constexpr auto write_on_device = static_cast<GstMapFlags>(int{GST_MAP_WRITE} | int{GST_MAP_FLAG_LAST} << 1);

void fill(const GstCrowdBoxesMap& map, const MetaBoxes& from) {
  const std::size_t n = std::min<std::size_t>(from.boxes.size(), map.capacity);
  static_assert(sizeof(GstCrowdBox) == sizeof(CrowdNmsBox));
  if (n) {
    std::memcpy(map.boxes, from.boxes.boxes.data(), n * sizeof(GstCrowdBox));
    std::memcpy(map.scores, from.boxes.scores.data(), n * sizeof(float));
    std::memcpy(map.classes, from.boxes.classes.data(), n * sizeof(std::int32_t));
  }
  const auto copy = [](auto* to, const auto& values) {
    if (to && !values.empty())
      std::memcpy(to, values.data(), values.size() * sizeof values[0]);
  };
  copy(map.densities, from.extras.densities);
  copy(map.proposals, from.extras.proposals);
  copy(map.visible, from.extras.visible);
  copy(map.features, from.extras.features);
  copy(map.models, from.extras.models);
  if (!from.members.empty())
    std::memcpy(map.members, from.members.data(), std::min(n, from.members.size()) * sizeof(std::uint32_t));
  *map.count = from.count;
  *map.candidates = from.candidates;
}

guint arrays_of(const MetaBoxes& boxes) {
  return boxes.with_extras ? GST_CROWD_BOXES_DENSITIES | GST_CROWD_BOXES_PROPOSALS | GST_CROWD_BOXES_VISIBLE |
                                 GST_CROWD_BOXES_FEATURES | GST_CROWD_BOXES_MODELS
                           : GST_CROWD_BOXES_NO_ARRAYS;
}

guint feature_length_of(const MetaBoxes& boxes) {
  return boxes.with_extras ? boxes.extras.feature_length : 0;
}

bool map_boxes(GstCrowdBoxesMap& map, GstMemory* memory, const MetaBoxes& boxes, GstMapFlags flags) {
  return gst_crowd_boxes_map_memory_with(&map, memory, boxes.capacity, arrays_of(boxes), feature_length_of(boxes),
                                         flags);
}

Ref<GstMemory> in_system_memory(const MetaBoxes& boxes) {
  GstMemory* memory = gst_crowd_boxes_memory_new_with(boxes.capacity, arrays_of(boxes), feature_length_of(boxes));
  GstCrowdBoxesMap map;
  EXPECT_TRUE(memory && map_boxes(map, memory, boxes, GST_MAP_WRITE));
  fill(map, boxes);
  gst_crowd_boxes_unmap(&map);
  return Ref<GstMemory>(memory);
}

/// Boxes of a frame of another size than the buffer's are those of a detector whose input has that size.
void attach(GstBuffer* buffer, const MetaBoxes& boxes, Ref<GstMemory> memory) {
  ASSERT_NE(memory, nullptr);
  const GstVideoMeta* frame = gst_buffer_get_video_meta(buffer);
  const unsigned width = frame ? frame->width : boxes.frame_width;
  const unsigned height = frame ? frame->height : boxes.frame_height;
  const auto add =
      boxes.kind == GST_CROWD_BOXES_SURVIVORS ? gst_buffer_add_crowd_survivors_meta : gst_buffer_add_crowd_boxes_meta;
  GstCrowdBoxesMeta* meta = add(buffer, memory.release(), boxes.capacity, width, height, boxes.labels);
  meta->arrays = arrays_of(boxes);
  meta->feature_length = feature_length_of(boxes);
  meta->placement.xx = double(width) / boxes.frame_width;
  meta->placement.yy = double(height) / boxes.frame_height;
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

const char* const counters[] = {"frames",       "candidates",           "survivors",      "suppressed",
                                "invalid",      "below-threshold",      "overflow",       "clipped",
                                "failures",     "last-candidates",      "last-survivors", "last-suppressed",
                                "last-invalid", "last-below-threshold", "last-overflow",  "last-clipped"};

}  // namespace

MetaBoxes candidates_of(Boxes boxes, unsigned frame_width, unsigned frame_height, std::uint32_t spare) {
  MetaBoxes all;
  all.capacity = boxes.size() + spare;
  all.count = boxes.size();
  all.boxes = std::move(boxes);
  all.frame_width = frame_width;
  all.frame_height = frame_height;
  return all;
}

MetaBoxes survivors_of(Boxes boxes, unsigned frame_width, unsigned frame_height) {
  MetaBoxes all = candidates_of(std::move(boxes), frame_width, frame_height, 3);
  all.kind = GST_CROWD_BOXES_SURVIVORS;
  for (std::uint32_t i = 0; i < all.count; i++) {
    all.members.push_back(i % 120 + 1);
    all.candidates += all.members.back();
  }
  return all;
}

void attach(GstBuffer* buffer, const MetaBoxes& boxes) {
  attach(buffer, boxes, in_system_memory(boxes));
}

Ref<GstMemory> upload(const MetaBoxes& boxes, GstMemory* beside) {
  const Ref<GstMemory> host = in_system_memory(boxes);
  Ref<GstMemory> memory(
      gst_crowd_cuda_boxes_memory_new_with(beside, boxes.capacity, arrays_of(boxes), feature_length_of(boxes)));
  EXPECT_NE(memory, nullptr);
  GstCrowdBoxesMap from, to;
  if (!memory || !map_boxes(from, host.get(), boxes, GST_MAP_READ))
    return nullptr;
  if (map_boxes(to, memory.get(), boxes, write_on_device)) {
    GstCrowdBoxesLayout layout;
    gst_crowd_boxes_layout_init_with(&layout, boxes.capacity, arrays_of(boxes), feature_length_of(boxes));
    const bool whole = !boxes.members.empty() || boxes.with_extras;
    EXPECT_TRUE(gst_crowd_cuda_push(memory.get()));
    // The members of candidates are not specified.
    EXPECT_EQ(cudaMemset(to.count, 0xaa, layout.size), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(to.count, from.count, whole ? layout.size : layout.members, cudaMemcpyHostToDevice),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    gst_crowd_cuda_pop();
    gst_crowd_boxes_unmap(&to);
  } else {
    ADD_FAILURE() << "device memory cannot be mapped for writing";
  }
  gst_crowd_boxes_unmap(&from);
  return memory;
}

void attach_on_device(GstBuffer* buffer, const MetaBoxes& boxes, GstMemory* beside) {
  attach(buffer, boxes, upload(boxes, beside));
}

void attach_on_device(GstBuffer* buffer, const MetaBoxes& boxes) {
  attach_on_device(buffer, boxes, gst_buffer_peek_memory(buffer, 0));
}

void forget_detections(GstBuffer* buffer) {
  const GType kinds[] = {GST_CROWD_BOXES_META_API_TYPE, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE};
  for (const GType kind : kinds)
    while (GstMeta* meta = gst_buffer_get_meta(buffer, kind))
      gst_buffer_remove_meta(buffer, meta);
}

MetaBoxes read(const GstCrowdBoxesMeta* meta) {
  MetaBoxes all;
  all.capacity = meta->capacity;
  all.frame_width = meta->frame_width;
  all.frame_height = meta->frame_height;
  all.labels = meta->labels;
  all.kind = static_cast<GstCrowdBoxesKind>(meta->kind);
  all.placement = meta->placement;
  all.memory = meta->memory;
  GstCrowdBoxesMap map;
  if (!gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ)) {
    ADD_FAILURE() << "boxes cannot be mapped for reading";
    return all;
  }
  all.count = *map.count;
  const std::size_t n = std::min(all.count, all.capacity);
  const auto* boxes = reinterpret_cast<const CrowdNmsBox*>(map.boxes);
  all.boxes.boxes.assign(boxes, boxes + n);
  all.boxes.scores.assign(map.scores, map.scores + n);
  all.boxes.classes.assign(map.classes, map.classes + n);
  if (all.kind == GST_CROWD_BOXES_SURVIVORS) {
    all.members.assign(map.members, map.members + n);
    all.candidates = *map.candidates;
  }
  gst_crowd_boxes_unmap(&map);
  return all;
}

std::optional<MetaBoxes> read_survivors(GstBuffer* buffer) {
  const GstCrowdBoxesMeta* meta = buffer ? gst_buffer_get_crowd_survivors_meta(buffer) : nullptr;
  if (!meta) {
    ADD_FAILURE() << "no survivors on the frame";
    return std::nullopt;
  }
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(buffer), nullptr) << "candidates are still there";
  return read(meta);
}

static bool same_labels(const GPtrArray* a, const GPtrArray* b) {
  if (!a || !b || a->len != b->len)
    return a == b;
  for (guint i = 0; i < a->len; i++)
    if (g_strcmp0(static_cast<const char*>(a->pdata[i]), static_cast<const char*>(b->pdata[i])) != 0)
      return false;
  return true;
}

testing::AssertionResult same(const MetaBoxes& expected, const MetaBoxes& got) {
  const auto differ = [](const char* what) { return testing::AssertionFailure() << what << " differ"; };
  if (expected.count != got.count || expected.candidates != got.candidates)
    return testing::AssertionFailure() << got.count << " boxes of " << got.candidates << " candidates, not "
                                       << expected.count << " of " << expected.candidates;
  if (std::memcmp(&expected.placement, &got.placement, sizeof got.placement) != 0)
    return testing::AssertionFailure() << "at another place of the frame";
  if (expected.frame_width != got.frame_width || expected.frame_height != got.frame_height)
    return testing::AssertionFailure() << "on a frame of " << got.frame_width << 'x' << got.frame_height;
  if (expected.kind != got.kind)
    return differ("kinds");
  if (!same_labels(expected.labels, got.labels))
    return differ("labels");
  if (!same_bytes(expected.boxes.boxes, got.boxes.boxes))
    return differ("boxes");
  if (!same_bytes(expected.boxes.scores, got.boxes.scores))
    return differ("scores");
  if (!same_bytes(expected.boxes.classes, got.boxes.classes))
    return differ("classes");
  if (!same_bytes(expected.members, got.members))
    return differ("members");
  return testing::AssertionSuccess();
}

void expect_same_survivors(GstBuffer* expected, GstBuffer* got, bool on_device) {
  const auto e = read_survivors(expected), g = read_survivors(got);
  if (!e || !g)
    return;
  EXPECT_TRUE(same(*e, *g));
  EXPECT_EQ(is_cuda_memory(g->memory), on_device);
}

std::string all_regions(GstBuffer* buffer) {
  std::ostringstream text;
  text << std::hexfloat;
  const auto number = [&text](const std::optional<double>& value) {
    if (value)
      text << ' ' << *value;
    else
      text << " -";
  };
  for (const Roi& roi : rois(buffer)) {
    text << roi.type << ' ' << roi.id << ' ' << roi.parent_id << ' ' << roi.x << ' ' << roi.y << ' ' << roi.w << ' '
         << roi.h;
    for (const auto& value : {roi.confidence, roi.x_min, roi.y_min, roi.x_max, roi.y_max})
      number(value);
    text << ' ' << roi.label_id.value_or(-99) << ' ' << roi.has_nms << ' ' << roi.cluster_id << ' ' << roi.members
         << ' ' << roi.suppressed << ' ' << roi.score << ' ' << roi.kept << '\n';
  }
  return text.str();
}

Twins::Twins(const Gpu& the_gpu, const std::string& properties, const std::string& device_properties,
             const std::string& host_properties)
    : gpu(the_gpu),
      device("crowdnms name=nms " + properties + " " + device_properties, &gpu),
      host("crowdnms name=nms " + properties + " backend=cpu " + host_properties) {
  set_caps(info_of("NV12", 64, 48));
}

void Twins::set_caps(const GstVideoInfo& info) {
  info_ = info;
  device.set_caps(info, true);
  host.set_caps(info, false);
}

Twins::Frames Twins::frames(const MetaBoxes& candidates, GstClockTime pts) const {
  Frames both = {gpu.frame(info_, pts), noise(info_, 1)};
  GST_BUFFER_PTS(both.host.get()) = pts;
  attach_on_device(both.device.get(), candidates);
  attach(both.host.get(), candidates);
  return both;
}

Twins::Frames Twins::pass(const MetaBoxes& candidates, GstClockTime pts) {
  Frames both = frames(candidates, pts);
  both.device = device.pass(std::move(both.device));
  both.host = host.pass(std::move(both.host));
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  return both;
}

void Twins::expect_same_stats() const {
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  for (const char* counter : counters)
    EXPECT_EQ(device.stat("nms", counter), host.stat("nms", counter)) << counter;
}

}  // namespace crowd::test
