// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gst/crowd/gstcrowdboxesbytes.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

using namespace crowd::test;

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

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> boxes = {1, 2, 30, 45, -5, 6.5f, 70, 88, nan, 9, INFINITY, 10};
const std::vector<float> scores = {.9f, nan, -2};
const std::vector<int> classes = {4, -1, 7};

/// Code of the error with its text, or "".
std::string failure_of(GBytes* box_bytes, GBytes* score_bytes, GBytes* class_bytes, int& code, bool writable = true) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  const Ref<GstBuffer> other(writable ? nullptr : gst_buffer_ref(buffer.get()));
  GError* error = nullptr;
  const auto* meta = gst_buffer_add_crowd_boxes_meta_from_bytes(buffer.get(), box_bytes, score_bytes, class_bytes,
                                                                nullptr, 0, 0, &error);
  EXPECT_EQ(meta == nullptr, error != nullptr);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(buffer.get()), meta);
  EXPECT_FALSE(gst_crowd_boxes_lost(buffer.get(), GST_CROWD_BOXES_CANDIDATES));
  if (!error)
    return "";
  EXPECT_EQ(error->domain, GST_CROWD_ERROR);
  code = error->code;
  const std::string text = error->message;
  g_error_free(error);
  return text;
}

/// What a meta says; fails the test if it says an error.
struct Read {
  explicit Read(const GstCrowdBoxesMeta* meta) {
    std::array<GBytes*, 4> got = {};
    GError* error = nullptr;
    EXPECT_TRUE(gst_crowd_boxes_meta_get_bytes(meta, &got[0], &got[1], &got[2], &got[3], &candidates, &error));
    EXPECT_EQ(error, nullptr);
    for (std::size_t i = 0; i < got.size(); i++)
      bytes[i].reset(got[i]);
  }
  std::array<Bytes, 4> bytes;  // boxes, scores, classes, members
  guint candidates = 77;
};

TEST(boxes_bytes, come_back_bit_for_bit) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  const auto box_bytes = bytes_of(boxes), score_bytes = bytes_of(scores), class_bytes = bytes_of(classes);
  const std::array<const gchar*, 3> labels = {"head", "body", nullptr};
  const auto* meta = gst_buffer_add_crowd_boxes_meta_from_bytes(buffer.get(), box_bytes.get(), score_bytes.get(),
                                                                class_bytes.get(), labels.data(), 640, 480, nullptr);
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->frame_width, 640u);
  EXPECT_EQ(meta->frame_height, 480u);
  EXPECT_STREQ(gst_crowd_boxes_meta_get_label(meta, 1), "body");
  EXPECT_EQ(gst_crowd_boxes_meta_get_label(meta, 2), nullptr);
  EXPECT_EQ(gst_crowd_boxes_meta_get_label(meta, -1), nullptr);
  const Read read(meta);
  EXPECT_TRUE(g_bytes_equal(read.bytes[0].get(), box_bytes.get()));
  EXPECT_TRUE(g_bytes_equal(read.bytes[1].get(), score_bytes.get()));
  EXPECT_TRUE(g_bytes_equal(read.bytes[2].get(), class_bytes.get()));
  EXPECT_EQ(read.bytes[3], nullptr);
  EXPECT_EQ(read.candidates, 3u);
}

TEST(boxes_bytes, may_be_of_no_boxes_and_without_classes) {
  for (const gsize n : {gsize{0}, gsize{3}}) {
    const Ref<GstBuffer> buffer(gst_buffer_new());
    const auto box_bytes = bytes_of(std::vector<float>(boxes.begin(), boxes.begin() + gssize(4 * n)));
    const auto score_bytes = bytes_of(std::vector<float>(scores.begin(), scores.begin() + gssize(n)));
    const auto* meta = gst_buffer_add_crowd_boxes_meta_from_bytes(buffer.get(), box_bytes.get(), score_bytes.get(),
                                                                  nullptr, nullptr, 0, 0, nullptr);
    ASSERT_NE(meta, nullptr);
    EXPECT_EQ(gst_crowd_boxes_meta_get_label(meta, 0), nullptr);
    const Read read(meta);
    EXPECT_EQ(read.candidates, n);
    EXPECT_EQ(g_bytes_get_size(read.bytes[0].get()), 16 * n);
    EXPECT_TRUE(g_bytes_equal(read.bytes[2].get(), bytes_of(std::vector<int>(n, 0)).get()));
  }
}

TEST(boxes_bytes, of_lengths_that_do_not_match_are_refused) {
  const auto box_bytes = bytes_of(boxes), score_bytes = bytes_of(scores), class_bytes = bytes_of(classes);
  const auto short_boxes = bytes_of(std::vector<float>(11)), two = bytes_of(std::vector<float>(2)),
             four = bytes_of(std::vector<float>(4)), none = bytes_of(std::vector<float>());
  int code = -1;
  EXPECT_EQ(failure_of(box_bytes.get(), score_bytes.get(), class_bytes.get(), code), "");
  EXPECT_EQ(failure_of(short_boxes.get(), score_bytes.get(), nullptr, code),
            "44 bytes are no whole number of boxes, of 16 bytes each: x1 y1 x2 y2 as float32");
  EXPECT_EQ(code, GST_CROWD_ERROR_LENGTH);
  for (const auto& [wrong, size] : {std::pair(&two, "8"), {&four, "16"}, {&none, "0"}}) {
    code = -1;
    EXPECT_EQ(failure_of(box_bytes.get(), wrong->get(), nullptr, code),
              std::string("3 boxes need 12 bytes of scores, a float32 of each, but there are ") + size);
    EXPECT_EQ(code, GST_CROWD_ERROR_LENGTH);
    EXPECT_EQ(failure_of(box_bytes.get(), score_bytes.get(), wrong->get(), code),
              std::string("3 boxes need 12 bytes of classes, an int32 of each, but there are ") + size);
  }
}

TEST(boxes_bytes, of_more_than_the_limit_are_refused) {
  const gsize size = (gsize{GST_CROWD_BOXES_MAX_CAPACITY} + 1) * sizeof(GstCrowdBox);
  const Bytes many(g_bytes_new_take(g_malloc(size), size)), none(g_bytes_new(nullptr, 0));
  int code = -1;
  EXPECT_EQ(failure_of(many.get(), none.get(), nullptr, code), "16777217 boxes are more than the 16777216 of a frame");
  EXPECT_EQ(code, GST_CROWD_ERROR_MEMORY);
}

TEST(boxes_bytes, are_not_attached_to_a_buffer_that_others_hold) {
  const auto box_bytes = bytes_of(boxes), score_bytes = bytes_of(scores);
  int code = -1;
  EXPECT_NE(failure_of(box_bytes.get(), score_bytes.get(), nullptr, code, false).find("not writable"),
            std::string::npos);
  EXPECT_EQ(code, GST_CROWD_ERROR_NOT_WRITABLE);
}

/// Survivors in a memory of capacity 3 that says there are `count`, of 9 candidates.
GstCrowdBoxesMeta* add_survivors(GstBuffer* buffer, guint count) {
  GstMemory* memory = gst_crowd_boxes_memory_new(3);
  GstCrowdBoxesMap map;
  EXPECT_TRUE(gst_crowd_boxes_map_memory(&map, memory, 3, GST_MAP_WRITE));
  std::memset(map.boxes, 0, map.info.size - (reinterpret_cast<guint8*>(map.boxes) - map.info.data));
  *map.count = count;
  *map.candidates = 9;
  map.members[1] = 5;
  gst_crowd_boxes_unmap(&map);
  return gst_buffer_add_crowd_survivors_meta(buffer, memory, 3, 0, 0, nullptr);
}

TEST(boxes_bytes, of_survivors_have_members) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  const Read read(add_survivors(buffer.get(), 2));
  EXPECT_TRUE(g_bytes_equal(read.bytes[3].get(), bytes_of(std::vector<guint>{0, 5}).get()));
  EXPECT_EQ(g_bytes_get_size(read.bytes[0].get()), 32u);
  EXPECT_EQ(read.candidates, 9u);
}

TEST(boxes_bytes, end_where_the_room_does_and_need_not_be_asked_for) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstCrowdBoxesMeta* meta = add_survivors(buffer.get(), 5);
  EXPECT_EQ(g_bytes_get_size(Read(meta).bytes[1].get()), 12u);
  meta->kind = GST_CROWD_BOXES_CANDIDATES;
  EXPECT_EQ(Read(meta).candidates, 5u);
  EXPECT_TRUE(gst_crowd_boxes_meta_get_bytes(meta, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
}

TEST(boxes_bytes, of_a_memory_that_was_never_written_or_is_too_small_are_none) {
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstCrowdBoxesMeta* meta = add_survivors(buffer.get(), G_MAXUINT);
  for (const char* text : {"never written", "too small"}) {
    GBytes* untouched = nullptr;
    GError* error = nullptr;
    EXPECT_FALSE(gst_crowd_boxes_meta_get_bytes(meta, &untouched, nullptr, nullptr, nullptr, nullptr, &error));
    EXPECT_EQ(untouched, nullptr);
    ASSERT_TRUE(g_error_matches(error, GST_CROWD_ERROR, GST_CROWD_ERROR_MEMORY));
    EXPECT_NE(std::string(error->message).find(text), std::string::npos) << error->message;
    g_error_free(error);
    meta->capacity = 1000;
  }
}

}  // namespace
