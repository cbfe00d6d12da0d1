// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GstCrowdBoxesMeta that others attach: any capacity, memory, count, kind, frame size, placement, calibration and
// labels, on a frame that may be cropped, and through a scaler. crowdnms reads, clusters and writes it, crowdoverlay
// draws it.

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include <algorithm>

#include "cluster.hpp"
#include "drawing.hpp"
#include "input.hpp"
#include "start.hpp"

namespace {

using namespace crowd;
using fuzz::Input;
using fuzz::require;

constexpr std::uint32_t usual_boxes = 64;
/// Where the size of a memory does not follow from its capacity.
constexpr std::size_t odd_bytes = 4096;
constexpr std::size_t bytes_of_a_box = sizeof(GstCrowdBox) + sizeof(gfloat) + sizeof(gint32) + sizeof(guint32);
constexpr std::size_t max_boxes = 2 * odd_bytes / bytes_of_a_box;

/// Memory of a detector's own, which ends where its bytes end.
struct Block {
  Block(std::size_t bytes, std::size_t shift) {
    require(posix_memalign(&base, 256, bytes + shift) == 0, "there is memory");
    std::memset(base, 0, bytes + shift);
    data = static_cast<std::uint8_t*>(base) + shift;
  }
  void* base = nullptr;
  std::uint8_t* data = nullptr;
};

void fill(Input& input, std::uint8_t* data, std::size_t bytes, std::uint32_t capacity) {
  GstCrowdBoxesLayout layout;
  if (!gst_crowd_boxes_layout_init(&layout, capacity) || layout.size > bytes)
    return;
  const auto put = [data](std::size_t at, auto value) { std::memcpy(data + at, &value, sizeof value); };
  put(layout.count, input.flag() ? input.any<std::uint32_t>() : input.below(usual_boxes));
  put(layout.candidates, input.any<std::uint32_t>());
  for (std::uint32_t i = 0; i < capacity && !input.empty(); i++) {
    const float x = input.coordinate(), y = input.coordinate();
    put(layout.boxes + i * sizeof(GstCrowdBox), GstCrowdBox{x, y, x + input.coordinate(), y + input.coordinate()});
    put(layout.scores + i * 4, input.coordinate());
    put(layout.classes + i * 4, input.flag() ? input.any<std::int32_t>() : std::int32_t(input.below(3)));
    put(layout.members + i * 4, input.any<std::uint32_t>());
  }
}

/// Any capacity, with a memory for it, one too small, or one of any size.
GstMemory* new_memory(Input& input, std::uint32_t& capacity) {
  const std::uint32_t kind = input.below(16);
  capacity = kind == 0 ? input.any<std::uint32_t>() : input.below(usual_boxes);
  GstCrowdBoxesLayout layout;
  const bool possible = gst_crowd_boxes_layout_init(&layout, capacity);
  require(possible == (capacity <= GST_CROWD_BOXES_MAX_CAPACITY), "a layout has room for a legal capacity");
  std::size_t bytes = possible && capacity <= usual_boxes ? layout.size : odd_bytes;
  if (kind == 1)
    bytes = input.below(2 * odd_bytes);
  if (kind == 2 && bytes > 0)
    bytes -= 1;
  const std::size_t shift = kind == 3 ? input.below(256) : 0;
  const Block block(bytes, shift);
  fill(input, block.data, bytes, capacity);
  const auto flags = kind == 4 ? GST_MEMORY_FLAG_READONLY : kind == 5 ? GST_MEMORY_FLAG_NO_SHARE : GstMemoryFlags{};
  return gst_memory_new_wrapped(flags, block.data, bytes, 0, bytes, block.base, std::free);
}

GPtrArray* new_labels(Input& input) {
  constexpr const char* names[] = {"person",      "",      "\xff\xfe",
                                   "caf\xc3\xa9", nullptr, "a label that is longer than most"};
  if (input.flag())
    return nullptr;
  GPtrArray* labels = g_ptr_array_new();
  for (std::uint32_t n = input.below(4); n > 0; n--)
    g_ptr_array_add(labels, const_cast<char*>(input.pick(names)));
  return labels;
}

/// Zeros, which is what is read where the input ends: on the whole frame.
void place(Input& input, GstCrowdBoxesMeta* meta, const meta::FrameSize& frame) {
  if (!input.flag()) {
    meta->frame_width = meta->picture_width = frame.width;
    meta->frame_height = meta->picture_height = frame.height;
  }
  if (input.flag()) {
    input.fill(meta->placement);
    input.fill(meta->frame_x);
    input.fill(meta->picture_height);
  }
  if (input.flag()) {
    input.fill(meta->confidence_slope);
    input.fill(meta->confidence_offset);
  }
  if (input.flag()) {  // for a memory that mostly lacks them
    meta->arrays = input.below(34);
    meta->feature_length = input.flag() ? input.any<guint>() : input.below(4);
  }
}

void crop(Input& input, GstBuffer* buffer, const meta::FrameSize& frame) {
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
  crop->width = input.flag() ? input.any<guint>() : frame.width;
  crop->height = input.flag() ? input.any<guint>() : frame.height;
  crop->x = input.flag() ? input.any<guint>() : input.below(64);
  crop->y = input.flag() ? input.any<guint>() : input.below(64);
}

/// What videoscale makes of the metas, to a frame of any size and shape of pixels.
GstBuffer* scaled(Input& input, GstBuffer* buffer, const meta::FrameSize& frame) {
  GstVideoInfo in, out;
  gst_video_info_init(&in);
  gst_video_info_init(&out);
  in.width = static_cast<gint>(frame.width);
  in.height = static_cast<gint>(frame.height);
  for (gint* number : {&out.width, &out.height, &out.par_n, &out.par_d, &in.par_n, &in.par_d})
    *number = input.flag() ? input.any<gint>() : 1 + static_cast<gint>(input.below(2048));
  GstVideoMetaTransform transform = {&in, &out};
  GstBuffer* copy = gst_buffer_new();
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_CROWD_BOXES_META_API_TYPE))
    meta->info->transform_func(copy, meta, buffer, gst_video_meta_transform_scale_get_quark(), &transform);
  return copy;
}

void attach(Input& input, GstBuffer* buffer, const meta::FrameSize& frame) {
  std::uint32_t capacity = 0;
  GstMemory* memory = new_memory(input, capacity);
  GPtrArray* labels = new_labels(input);
  const auto side = [&input] { return input.flag() ? input.any<guint>() : input.below(64); };
  const guint width = side(), height = side();
  GstCrowdBoxesMeta* meta = gst_buffer_add_crowd_boxes_meta(buffer, memory, capacity, width, height, labels);
  if (input.below(8) == 7)
    input.fill(meta->kind);
  else
    meta->kind = input.flag() ? GST_CROWD_BOXES_SURVIVORS : GST_CROWD_BOXES_CANDIDATES;
  if (labels)
    g_ptr_array_unref(labels);
  place(input, meta, frame);
}

void write(const meta::Candidates& candidates, const fuzz::Clusters& clusters, meta::FrameSize size) {
  for (const meta::AdapterRow& row : meta::adapter_rows()) {
    for (const meta::Mode mode : {meta::Mode::replace, meta::Mode::annotate}) {
      const auto output = row.make();
      GstBuffer* other = gst_buffer_new();
      meta::ObjectIds ids;
      require(output->write(other, size, candidates, clusters.verdict(), mode, ids), "there is memory for survivors");
      gst_buffer_unref(other);
    }
  }
}

void cluster(Input& input, GstBuffer* buffer, meta::FrameSize size) {
  const auto adapter = meta::row_named("boxes").make();
  if (!adapter->probe(buffer))
    return;
  const std::uint32_t limit = input.flag() ? input.below(usual_boxes) : 1u << 24;
  meta::Candidates candidates;
  const char* problem = nullptr;
  if (adapter->read(buffer, size, limit, candidates, problem)) {
    const std::size_t n = candidates.boxes.size();
    require(n <= limit && n <= candidates.count && n <= max_boxes, "no more is read than there is");
    require(candidates.scores.size() == n && candidates.classes.size() == n, "the arrays are equally long");
    for (const std::size_t length : {candidates.densities.size(), candidates.proposals.size(),
                                     candidates.visible.size(), candidates.models.size()})
      require(length == 0 || length == n, "what rules read is there for each or for none");
    require(candidates.features.size() == n * candidates.feature_length, "features are there for each");
    const fuzz::Clusters clusters(candidates, 0.5f);
    const CrowdNmsReport& report = clusters.report();
    require(report.candidates == candidates.count && report.overflow == candidates.count - n, "nothing is lost");
    write(candidates, clusters, size);
  } else {
    require(problem && problem[0], "what cannot be read is reported");
  }
  adapter->remove(buffer);
  adapter->release();
}

void show(Input& input, GstBuffer* buffer, const meta::FrameSize& frame) {
  draw::Detections detections;
  detections.read(buffer, {frame.width, frame.height, 1, 1, frame.borders});
  require(detections.survivors.size() <= max_boxes && detections.candidates.size() <= max_boxes,
          "no more is drawn than there is");
  fuzz::draw_detections(input, detections);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  meta::FrameSize frame;
  frame.width = input.below(4096);
  frame.height = input.below(4096);
  GstBuffer* buffer = gst_buffer_new();
  for (std::uint32_t metas = 1 + input.below(3); metas > 0; metas--)
    attach(input, buffer, frame);
  frame.borders = static_cast<GstCrowdBoxesBorders>(input.below(3));
  if (input.flag())
    crop(input, buffer, frame);
  GstBuffer* copy = input.flag() ? scaled(input, buffer, frame) : gst_buffer_copy(buffer);
  show(input, buffer, frame);
  cluster(input, buffer, frame);
  gst_buffer_unref(buffer);
  show(input, copy, frame);
  gst_buffer_unref(copy);
  return 0;
}
