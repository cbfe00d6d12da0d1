// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "support.hpp"

namespace {

using namespace crowd::test;

const std::vector<Candidate> three = {{1, 2, 30, 45, .9f, 4}, {5, 6, 70, 88, .25f, 1}, {-3, 9, 12, 10, -2, 7}};

TEST(boxes_layout, sections_are_aligned_and_do_not_overlap) {
  for (const guint capacity : {0u, 1u, 15u, 16u, 17u, 64u, 65u, 4097u, GST_CROWD_BOXES_MAX_CAPACITY}) {
    GstCrowdBoxesLayout layout;
    ASSERT_TRUE(gst_crowd_boxes_layout_init(&layout, capacity)) << capacity;
    EXPECT_EQ(layout.count, 0u);
    for (const gsize offset : {layout.boxes, layout.scores, layout.classes})
      EXPECT_EQ(offset % 256, 0u) << capacity;
    EXPECT_GE(layout.boxes, sizeof(guint32));
    EXPECT_GE(layout.scores, layout.boxes + gsize{16} * capacity);
    EXPECT_GE(layout.classes, layout.scores + gsize{4} * capacity);
    EXPECT_GE(layout.size, layout.classes + gsize{4} * capacity);
  }
}

TEST(boxes_layout, refuses_more_than_the_limit) {
  GstCrowdBoxesLayout layout;
  EXPECT_FALSE(gst_crowd_boxes_layout_init(&layout, GST_CROWD_BOXES_MAX_CAPACITY + 1));
  EXPECT_FALSE(gst_crowd_boxes_layout_init(&layout, G_MAXUINT));
  EXPECT_EQ(gst_crowd_boxes_memory_new(G_MAXUINT), nullptr);
}

TEST(boxes_memory, is_new_aligned_and_empty) {
  const Ref<GstMemory> memory(gst_crowd_boxes_memory_new(33));
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory.get(), 33, GST_MAP_READ));
  EXPECT_EQ(*map.count, 0u);
  EXPECT_EQ(map.capacity, 33u);
  EXPECT_EQ(reinterpret_cast<guintptr>(map.boxes) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<guintptr>(map.scores) % 256, 0u);
  gst_crowd_boxes_unmap(&map);
}

TEST(boxes_memory, lies_the_same_where_it_is_no_gst_memory) {
  const Ref<GstMemory> memory(gst_crowd_boxes_memory_new(33));
  GstCrowdBoxesMap map, at;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory.get(), 33, GST_MAP_READ));
  ASSERT_TRUE(gst_crowd_boxes_map_at(&at, map.info.data, 33));
  EXPECT_EQ(at.count, map.count);
  EXPECT_EQ(at.candidates, map.candidates);
  EXPECT_EQ(at.boxes, map.boxes);
  EXPECT_EQ(at.scores, map.scores);
  EXPECT_EQ(at.classes, map.classes);
  EXPECT_EQ(at.members, map.members);
  EXPECT_EQ(at.capacity, 33u);
  GstCrowdBoxesLayout layout;
  gst_crowd_boxes_layout_init(&layout, 33);
  EXPECT_EQ(reinterpret_cast<guint8*>(at.members), map.info.data + layout.members);
  EXPECT_FALSE(gst_crowd_boxes_map_at(&at, map.info.data, G_MAXUINT));
  gst_crowd_boxes_unmap(&map);
}

TEST(boxes_memory, too_small_does_not_map) {
  const Ref<GstMemory> memory(gst_crowd_boxes_memory_new(64));
  GstCrowdBoxesMap map;
  EXPECT_FALSE(gst_crowd_boxes_map_memory(&map, memory.get(), 65, GST_MAP_READ));
  EXPECT_FALSE(gst_crowd_boxes_map_memory(&map, memory.get(), G_MAXUINT, GST_MAP_READ));
  EXPECT_TRUE(gst_crowd_boxes_map_memory(&map, memory.get(), 64, GST_MAP_READ));
  gst_crowd_boxes_unmap(&map);
}

TEST(boxes_memory, off_its_alignment_does_not_map) {
  GstCrowdBoxesLayout layout;
  ASSERT_TRUE(gst_crowd_boxes_layout_init(&layout, 4));
  const Ref<GstMemory> whole(gst_allocator_alloc(nullptr, layout.size + 4, nullptr));
  for (const gssize offset : {1, 2, 3, 4}) {
    const Ref<GstMemory> part(gst_memory_share(whole.get(), offset, static_cast<gssize>(layout.size)));
    GstCrowdBoxesMap map;
    const bool mapped = gst_crowd_boxes_map_memory(&map, part.get(), 4, GST_MAP_READ);
    EXPECT_EQ(mapped, offset == 4) << offset;
    if (mapped)
      gst_crowd_boxes_unmap(&map);
  }
}

TEST(boxes_memory, that_is_held_for_writing_does_not_map) {
  const Ref<GstMemory> memory(gst_crowd_boxes_memory_new(4));
  GstCrowdBoxesMap writer, reader;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&writer, memory.get(), 4, GST_MAP_WRITE));
  EXPECT_FALSE(gst_crowd_boxes_map_memory(&reader, memory.get(), 4, GST_MAP_READ));
  gst_crowd_boxes_unmap(&writer);
}

// An element that attaches a meta may write any number there. The undefined behaviour sanitizer sees it loaded as a
// kind.
TEST(boxes_meta, of_no_known_kind_is_copied_and_read_as_nothing) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstCrowdBoxesMeta* meta =
      gst_buffer_add_crowd_boxes_meta(buffer.get(), gst_crowd_boxes_memory_new(1), 1, 0, 0, nullptr);
  const guint32 unknown = 77;
  std::memcpy(&meta->kind, &unknown, sizeof meta->kind);
  const Ref<GstBuffer> copy(gst_buffer_copy(buffer.get()));
  EXPECT_EQ(count_metas(copy.get(), GST_CROWD_BOXES_META_API_TYPE), 1u);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(copy.get()), nullptr);
  EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(copy.get()), nullptr);
}

TEST(boxes_meta, copies_by_reference) {
  const std::array<std::string, 2> names = {"head", "body"};
  const Ref<GPtrArray> labels = make_labels(names);
  Ref<GstBuffer> buffer = make_frame(64, 48);
  add_boxes(buffer.get(), three, {.frame_width = 64, .frame_height = 48, .capacity = 9, .labels = labels.get()});
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(meta->memory), 1);
  {
    const Ref<GstBuffer> copy(gst_buffer_copy(buffer.get()));
    const GstCrowdBoxesMeta* copied = gst_buffer_get_crowd_boxes_meta(copy.get());
    ASSERT_NE(copied, nullptr);
    EXPECT_EQ(copied->memory, meta->memory);
    EXPECT_EQ(copied->labels, meta->labels);
    EXPECT_EQ(copied->capacity, 9u);
    EXPECT_EQ(copied->frame_width, 64u);
    EXPECT_EQ(copied->frame_height, 48u);
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(meta->memory), 2);
  }
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(meta->memory), 1);
}

TEST(boxes_meta, outlives_the_buffer_it_came_from) {
  Ref<GstBuffer> buffer = make_frame(64, 48);
  add_boxes(buffer.get(), three, {});
  const Ref<GstBuffer> copy(gst_buffer_copy(buffer.get()));
  buffer.reset();
  GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(copy.get());
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ));
  EXPECT_EQ(*map.count, 3u);
  EXPECT_EQ(map.boxes[2].x1, -3);
  EXPECT_EQ(map.scores[1], .25f);
  EXPECT_EQ(map.classes[0], 4);
  gst_crowd_boxes_unmap(&map);
}

struct Filter {
  const char* description;
  unsigned out_width, out_height;
};

class boxes_meta_behind : public testing::TestWithParam<Filter> {};

TEST_P(boxes_meta_behind, arrives_with_its_place_in_the_frame) {
  const Filter& filter = GetParam();
  const Ref<GstHarness> harness(gst_harness_new_parse(filter.description));
  ASSERT_NE(harness, nullptr);
  gst_harness_set_src_caps_str(harness.get(), video_caps(64, 48).c_str());
  Ref<GstBuffer> buffer = make_frame(64, 48);
  add_boxes(buffer.get(), three, {.frame_width = 64, .frame_height = 48});
  const Ref<GstBuffer> out(gst_harness_push_and_pull(harness.get(), buffer.release()));
  ASSERT_NE(out, nullptr);
  GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(out.get());
  ASSERT_NE(meta, nullptr) << filter.description;
  EXPECT_EQ(meta->frame_width, filter.out_width);
  EXPECT_EQ(meta->frame_height, filter.out_height);
  GstCrowdBoxesPlacement p;
  ASSERT_TRUE(gst_crowd_boxes_meta_get_placement(meta, out.get(), filter.out_width, filter.out_height,
                                                 GST_CROWD_BOXES_BORDERS_UNKNOWN, &p));
  EXPECT_EQ(p.xx, filter.out_width / 64.);
  EXPECT_EQ(p.yy, filter.out_height / 48.);
  EXPECT_TRUE(p.xy == 0 && p.yx == 0 && p.x0 == 0 && p.y0 == 0);
  EXPECT_FALSE(gst_crowd_boxes_meta_get_placement(meta, out.get(), filter.out_width + 1, filter.out_height,
                                                  GST_CROWD_BOXES_BORDERS_UNKNOWN, &p));
  EXPECT_EQ(count_metas(out.get(), GST_CROWD_BOXES_META_API_TYPE), 1u);
}

INSTANTIATE_TEST_SUITE_P(stock_filters, boxes_meta_behind,
                         testing::Values(Filter{"videoconvert ! capsfilter caps=video/x-raw,format=RGB", 64, 48},
                                         Filter{"videoscale ! capsfilter caps=video/x-raw,width=32,height=96", 32, 96},
                                         Filter{"queue ! identity", 64, 48}));

}  // namespace
