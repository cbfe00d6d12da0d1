// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesarrays.h>
#include <gst/crowd/gstcrowdboxesbytes.h>

#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "memory_limit.hpp"
#include "support.hpp"

namespace {

using namespace crowd::test;
using testing::HasSubstr;

struct Unref {
  void operator()(GBytes* p) const {
    g_bytes_unref(p);
  }
};
using Bytes = std::unique_ptr<GBytes, Unref>;

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  return Bytes(g_bytes_new(values.data(), values.size() * sizeof(T)));
}

constexpr guint all_arrays = GST_CROWD_BOXES_DENSITIES | GST_CROWD_BOXES_PROPOSALS | GST_CROWD_BOXES_VISIBLE |
                             GST_CROWD_BOXES_FEATURES | GST_CROWD_BOXES_MODELS;
const std::vector<Candidate> two = {{1, 2, 3, 4, .9f, 5}, {6, 7, 8, 9, .8f, 1}};

/// The arrays of a meta, in the order of its functions.
struct Read {
  explicit Read(const GstCrowdBoxesMeta* meta) {
    std::array<GBytes*, 5> got = {};
    EXPECT_TRUE(gst_crowd_boxes_meta_get_array_bytes(meta, &got[0], &got[1], &got[2], &got[3], &got[4], nullptr));
    for (std::size_t i = 0; i < got.size(); i++)
      bytes[i].reset(got[i]);
  }
  std::array<Bytes, 5> bytes;
};

GstCrowdBoxesMeta* add_two(GstBuffer* buffer, unsigned capacity = 2) {
  add_boxes(buffer, two, {.capacity = capacity});
  return gst_buffer_get_crowd_boxes_meta(buffer);
}

std::string failure_of(GBytes* densities, GBytes* proposals, GBytes* visible, GBytes* features,
                       GBytes* models = nullptr) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstCrowdBoxesMeta* meta = add_two(buffer.get());
  GstMemory* before = meta->memory;
  GError* error = nullptr;
  EXPECT_FALSE(gst_crowd_boxes_meta_set_array_bytes(meta, densities, proposals, visible, features, models, &error));
  EXPECT_TRUE(error && error->domain == GST_CROWD_ERROR && error->code == GST_CROWD_ERROR_LENGTH);
  EXPECT_EQ(meta->memory, before);
  EXPECT_EQ(meta->arrays, 0u);
  const std::string text = error ? error->message : "";
  g_clear_error(&error);
  return text;
}

TEST(boxes_arrays, lie_behind_all_others_and_do_not_overlap) {
  GstCrowdBoxesLayout plain, with;
  for (const guint capacity : {0u, 1u, 33u, 64u, 1000u}) {
    ASSERT_TRUE(gst_crowd_boxes_layout_init(&plain, capacity));
    EXPECT_EQ(plain.densities + plain.proposals + plain.visible + plain.features + plain.models, 0u);
    for (guint arrays = 0; arrays <= all_arrays; arrays++) {
      const guint length = arrays & GST_CROWD_BOXES_FEATURES ? 7 : 0;
      ASSERT_TRUE(gst_crowd_boxes_layout_init_with(&with, capacity, arrays, length));
      EXPECT_EQ(with.boxes, plain.boxes);
      EXPECT_EQ(with.members, plain.members);
      gsize end = plain.size;
      const auto follows = [&](guint array, gsize offset, gsize bytes) {
        EXPECT_EQ(offset, arrays & array ? end : 0);
        EXPECT_EQ(offset % 256, 0u);
        end += arrays & array ? (bytes * capacity + 255) / 256 * 256 : 0;
      };
      follows(GST_CROWD_BOXES_DENSITIES, with.densities, 4);
      follows(GST_CROWD_BOXES_PROPOSALS, with.proposals, 4);
      follows(GST_CROWD_BOXES_VISIBLE, with.visible, 16);
      follows(GST_CROWD_BOXES_MODELS, with.models, 4);
      follows(GST_CROWD_BOXES_FEATURES, with.features, 4 * length);
      EXPECT_EQ(with.size, end);
    }
  }
}

TEST(boxes_arrays, of_other_kinds_or_lengths_have_no_layout) {
  GstCrowdBoxesLayout layout;
  GstCrowdBoxesMap map;
  for (const auto& [arrays, length] : {std::pair(0u, 1u), std::pair(guint{GST_CROWD_BOXES_FEATURES}, 0u),
                                       std::pair(guint{GST_CROWD_BOXES_FEATURES}, 4097u), std::pair(32u, 0u)}) {
    EXPECT_FALSE(gst_crowd_boxes_layout_init_with(&layout, 4, arrays, length)) << arrays << " " << length;
    EXPECT_EQ(gst_crowd_boxes_memory_new_with(4, arrays, length), nullptr);
    EXPECT_FALSE(gst_crowd_boxes_map_at_with(&map, nullptr, 4, arrays, length));
  }
  EXPECT_TRUE(gst_crowd_boxes_layout_init_with(&layout, 4, GST_CROWD_BOXES_FEATURES, 4096));
}

TEST(boxes_arrays, larger_than_what_memory_there_is_are_none) {
  if (!MemoryLimit::limits_work)
    GTEST_SKIP() << "a sanitizer";
  const MemoryLimit limit(256 << 20);
  EXPECT_EQ(gst_crowd_boxes_memory_new_with(GST_CROWD_BOXES_MAX_CAPACITY, GST_CROWD_BOXES_FEATURES, 4096), nullptr);
}

TEST(boxes_arrays, a_memory_without_them_is_too_small) {
  const Ref<GstMemory> memory(gst_crowd_boxes_memory_new(4));
  GstCrowdBoxesMap map;
  EXPECT_FALSE(gst_crowd_boxes_map_memory_with(&map, memory.get(), 4, GST_CROWD_BOXES_DENSITIES, 0, GST_MAP_READ));
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory.get(), 4, GST_MAP_READ));
  EXPECT_EQ(map.densities, nullptr);
  EXPECT_EQ(map.features, nullptr);
  EXPECT_EQ(map.models, nullptr);
  gst_crowd_boxes_unmap(&map);
}

TEST(boxes_arrays, come_back_bit_for_bit_and_boxes_stay) {
  const auto densities = bytes_of<float>({NAN, .25f}), features = bytes_of<float>({1, 2, 3, -0.f, INFINITY, NAN});
  const auto proposals = bytes_of<guint32>({7, 4294967295u}), models = bytes_of<guint32>({15, 0});
  const auto visible = bytes_of<GstCrowdBox>({{1, 2, 3, 4}, {5, NAN, 7, 8}});
  for (const unsigned capacity : {2u, 500u}) {
    const Ref<GstBuffer> buffer(gst_buffer_new());
    GstCrowdBoxesMeta* meta = add_two(buffer.get(), capacity);
    for (const bool again : {false, true}) {
      ASSERT_TRUE(gst_crowd_boxes_meta_set_array_bytes(meta, densities.get(), proposals.get(), visible.get(),
                                                       features.get(), models.get(), nullptr))
          << again;
      EXPECT_EQ(meta->capacity, 2u);
      EXPECT_EQ(meta->arrays, all_arrays);
      EXPECT_EQ(meta->feature_length, 3u);
      const Read read(meta);
      EXPECT_TRUE(g_bytes_equal(read.bytes[0].get(), densities.get()));
      EXPECT_TRUE(g_bytes_equal(read.bytes[1].get(), proposals.get()));
      EXPECT_TRUE(g_bytes_equal(read.bytes[2].get(), visible.get()));
      EXPECT_TRUE(g_bytes_equal(read.bytes[3].get(), features.get()));
      EXPECT_TRUE(g_bytes_equal(read.bytes[4].get(), models.get()));
    }
    GBytes* boxes = nullptr;
    GBytes* classes = nullptr;
    ASSERT_TRUE(gst_crowd_boxes_meta_get_bytes(meta, &boxes, nullptr, &classes, nullptr, nullptr, nullptr));
    EXPECT_EQ(static_cast<const float*>(g_bytes_get_data(boxes, nullptr))[4], 6);
    EXPECT_EQ(static_cast<const int*>(g_bytes_get_data(classes, nullptr))[0], 5);
    g_bytes_unref(boxes);
    g_bytes_unref(classes);
    EXPECT_TRUE(
        gst_crowd_boxes_meta_set_array_bytes(meta, nullptr, proposals.get(), nullptr, nullptr, nullptr, nullptr));
    const Read fewer(meta);
    EXPECT_EQ(fewer.bytes[0], nullptr);
    EXPECT_TRUE(g_bytes_equal(fewer.bytes[1].get(), proposals.get()));
    EXPECT_EQ(fewer.bytes[3], nullptr);
    EXPECT_EQ(fewer.bytes[4], nullptr);
    EXPECT_EQ(meta->feature_length, 0u);
  }
}

TEST(boxes_arrays, leave_the_overflow_as_it_is) {
  const auto densities = bytes_of<float>({.5f, .25f});
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstCrowdBoxesMeta* meta = add_two(buffer.get());
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_WRITE));
  *map.count = 9;
  gst_crowd_boxes_unmap(&map);
  ASSERT_TRUE(gst_crowd_boxes_meta_set_array_bytes(meta, densities.get(), nullptr, nullptr, nullptr, nullptr, nullptr));
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ));
  EXPECT_EQ(*map.count - map.capacity, 7u);
  gst_crowd_boxes_unmap(&map);
}

TEST(boxes_arrays, go_with_a_copy_of_the_buffer) {
  const auto densities = bytes_of<float>({.5f, .25f});
  const Ref<GstBuffer> buffer(gst_buffer_new());
  ASSERT_TRUE(gst_crowd_boxes_meta_set_array_bytes(add_two(buffer.get()), densities.get(), nullptr, nullptr, nullptr,
                                                   nullptr, nullptr));
  const Ref<GstBuffer> copy(gst_buffer_copy(buffer.get()));
  const Read read(gst_buffer_get_crowd_boxes_meta(copy.get()));
  EXPECT_TRUE(g_bytes_equal(read.bytes[0].get(), densities.get()));
}

TEST(boxes_arrays, of_the_wrong_length_are_refused) {
  const auto three = bytes_of<float>({1, 2, 3}), none = bytes_of<float>({});
  EXPECT_THAT(failure_of(three.get(), nullptr, nullptr, nullptr), HasSubstr("2 boxes need 8 bytes of densities"));
  EXPECT_THAT(failure_of(nullptr, three.get(), nullptr, nullptr), HasSubstr("8 bytes of proposals"));
  EXPECT_THAT(failure_of(nullptr, nullptr, three.get(), nullptr), HasSubstr("32 bytes of visible boxes"));
  EXPECT_THAT(failure_of(nullptr, nullptr, nullptr, three.get()), HasSubstr("12 bytes of features"));
  EXPECT_THAT(failure_of(nullptr, nullptr, nullptr, nullptr, three.get()), HasSubstr("8 bytes of models"));
  EXPECT_THAT(failure_of(nullptr, nullptr, nullptr, none.get()), HasSubstr("from 1 to 4096"));
  const auto many = bytes_of(std::vector<float>(2 * 4097));
  EXPECT_THAT(failure_of(nullptr, nullptr, nullptr, many.get()), HasSubstr("from 1 to 4096"));
  EXPECT_THAT(failure_of(none.get(), nullptr, nullptr, nullptr), HasSubstr("there are 0"));
}

TEST(boxes_arrays, of_no_boxes_are_empty) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  add_boxes(buffer.get(), {}, {});
  GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer.get());
  const auto none = bytes_of<float>({});
  ASSERT_TRUE(
      gst_crowd_boxes_meta_set_array_bytes(meta, none.get(), none.get(), none.get(), none.get(), none.get(), nullptr));
  const Read read(meta);
  ASSERT_NE(read.bytes[0], nullptr);
  EXPECT_EQ(g_bytes_get_size(read.bytes[0].get()), 0u);
  EXPECT_EQ(read.bytes[3], nullptr);
  ASSERT_NE(read.bytes[4], nullptr);
}

}  // namespace
