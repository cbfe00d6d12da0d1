// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms and what it should never be given: one clear message or a counted drop, and the video goes on.

#include <crowd/nms.h>
#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>

#include <cmath>
#include <functional>
#include <limits>

#include "full_allocator.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

GstMemory* boxes_memory(guint capacity, guint32 count) {
  GstMemory* memory = gst_crowd_boxes_memory_new(capacity);
  GstCrowdBoxesMap map;
  EXPECT_TRUE(gst_crowd_boxes_map_memory(&map, memory, capacity, GST_MAP_WRITE));
  *map.count = count;
  for (guint i = 0; i < capacity; i++) {
    map.boxes[i] = {float(10 * i), 0, float(10 * i + 9), 20};
    map.scores[i] = 1;
    map.classes[i] = 0;
  }
  gst_crowd_boxes_unmap(&map);
  return memory;
}

struct Broken {
  const char* name;
  std::function<void(GstBuffer*)> attach;
  const char* says;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class broken_meta : public testing::TestWithParam<Broken> {};

void attach_misaligned(GstBuffer* buffer) {
  GstCrowdBoxesLayout layout;
  gst_crowd_boxes_layout_init(&layout, 4);
  GstMemory* memory = gst_allocator_alloc(nullptr, layout.size + 1, nullptr);
  gst_memory_resize(memory, 1, static_cast<gssize>(layout.size));
  gst_buffer_add_crowd_boxes_meta(buffer, memory, 4, 640, 480, nullptr);
}

TEST_P(broken_meta, is_dropped_and_counted_and_said_once) {
  NmsHarness nms;
  for (int i = 0; i < 3; i++) {
    auto buffer = make_frame(640, 480);
    GetParam().attach(buffer.get());
    const auto out = nms.pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
    EXPECT_THAT(rois(out.get()), IsEmpty());
  }
  EXPECT_EQ(nms.stat("failures"), 3u);
  EXPECT_EQ(nms.stat("frames"), 3u);
  EXPECT_EQ(nms.stat("candidates"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr(GetParam().says), HasSubstr("failures in stats"))));
  EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2)) << "the next good frame is clustered";
  EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_ERROR), nullptr);
}

TEST_P(broken_meta, stays_in_mode_annotate) {
  NmsHarness nms("mode=annotate");
  auto buffer = make_frame(640, 480);
  GetParam().attach(buffer.get());
  const auto out = nms.pass(std::move(buffer));
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  EXPECT_EQ(nms.stat("failures"), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    all, broken_meta,
    testing::Values(Broken{"memory_too_small",
                           [](GstBuffer* b) {
                             gst_buffer_add_crowd_boxes_meta(b, boxes_memory(4, 4), 5000, 640, 480, nullptr);
                           },
                           "too small"},
                    Broken{"memory_shrunk",
                           [](GstBuffer* b) {
                             GstMemory* memory = boxes_memory(400, 400);
                             gst_memory_resize(memory, 0, 100);
                             gst_buffer_add_crowd_boxes_meta(b, memory, 400, 640, 480, nullptr);
                           },
                           "too small"},
                    Broken{"absurd_capacity",
                           [](GstBuffer* b) {
                             gst_buffer_add_crowd_boxes_meta(b, boxes_memory(4, 4), G_MAXUINT, 640, 480, nullptr);
                           },
                           "capacity"},
                    Broken{"absurd_count",
                           [](GstBuffer* b) {
                             gst_buffer_add_crowd_boxes_meta(b, boxes_memory(4, 0xdeadbeef), 4, 640, 480, nullptr);
                           },
                           "count"},
                    Broken{"misaligned", attach_misaligned, "aligned"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(crowdnms_bad_input, memory_that_does_not_map_is_counted) {
  NmsHarness nms;
  auto buffer = make_frame(640, 480);
  GstMemory* memory = boxes_memory(4, 4);
  const Ref<GstMemory> ours(gst_memory_ref(memory));
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory, 4, GST_MAP_WRITE));  // and never unmapped in time
  gst_buffer_add_crowd_boxes_meta(buffer.get(), memory, 4, 640, 480, nullptr);
  EXPECT_NE(nms.pass(std::move(buffer)), nullptr);
  EXPECT_EQ(nms.stat("failures"), 1u);
  gst_crowd_boxes_unmap(&map);
}

TEST(crowdnms_bad_input, no_memory_for_survivors_is_an_error_that_says_so) {
  for (const char* properties : {"meta-output=boxes", "meta-output=all", "meta-output=boxes mode=annotate"}) {
    SCOPED_TRACE(properties);
    NmsHarness nms(properties);
    auto buffer = make_frame(640, 480);
    add_boxes(buffer.get(), row_of_three, {.frame_width = 640, .frame_height = 480});
    {
      const FullAllocator full;
      EXPECT_EQ(gst_harness_push(nms.harness(), buffer.release()), GST_FLOW_ERROR);
    }
    const auto error = pop_message(nms.bus(), GST_MESSAGE_ERROR);
    ASSERT_NE(error, nullptr);
    EXPECT_THAT(message_text(error.get()), AllOf(HasSubstr("no memory"), HasSubstr("max-candidates")));
    EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_ERROR), nullptr);
  }
}

TEST(crowdnms_bad_input, warns_again_after_a_restart) {
  NmsHarness nms;
  for (int run = 0; run < 2; run++) {
    for (int frame = 0; frame < 3; frame++) {
      auto buffer = make_frame(640, 480);
      gst_buffer_add_crowd_boxes_meta(buffer.get(), boxes_memory(4, 4), 5000, 640, 480, nullptr);
      nms.pass(std::move(buffer));
    }
    EXPECT_THAT(take_warnings(nms.bus()), SizeIs(1)) << run;
    nms.restart();
  }
}

TEST(crowdnms_bad_input, candidates_that_are_no_boxes_are_counted) {
  const std::vector<Candidate> bad = {{nan, 0, 9, 9, 1},  {0, nan, 9, 9, 1}, {0, 0, nan, 9, 1}, {0, 0, 9, nan, 1},
                                      {-inf, 0, 9, 9, 1}, {0, 0, inf, 9, 1}, {9, 0, 0, 9, 1},   {0, 9, 9, 0, 1},
                                      {5, 5, 5, 9, 1},    {5, 5, 9, 5, 1},   {0, 0, 9, 9, nan}};
  for (const char* properties : {"mode=replace", "mode=annotate", "method=map-reduce"}) {
    NmsHarness nms(properties);
    std::vector<Candidate> candidates = bad;
    candidates.push_back({100, 100, 120, 130, -5});
    const auto out = nms.pass(candidates);
    EXPECT_THAT(rectangles(out.get()), ElementsAre("object@100,100,20,30")) << properties;
    EXPECT_EQ(nms.stat("invalid"), bad.size()) << properties;
    EXPECT_EQ(nms.stat("failures"), 0u) << properties;
  }
}

TEST(crowdnms_bad_input, infinite_scores_are_scores) {
  NmsHarness nms;
  const std::vector<Candidate> candidates = {{0, 0, 9, 9, -inf}, {0, 0, 9, 10, inf}, {50, 0, 59, 9, -inf}};
  const auto out = nms.pass(candidates);
  EXPECT_THAT(rectangles(out.get()), ElementsAre("object@0,0,9,10", "object@50,0,9,9"));
}

TEST(crowdnms_bad_input, the_paper_may_keep_what_is_no_box) {
  NmsHarness nms("method=paper");
  const std::vector<Candidate> candidates = {{nan, inf, -inf, nan, 1}, {1e30f, -1e30f, 3e38f, 3e38f, 2}};
  const auto out = nms.pass(candidates);
  for (const Roi& roi : rois(out.get()))
    EXPECT_TRUE(roi.x + roi.w <= 640 && roi.y + roi.h <= 480);
}

TEST(crowdnms_bad_input, a_count_above_the_capacity_is_overflow) {
  NmsHarness nms;
  for (int i = 0; i < 2; i++) {
    auto buffer = make_frame(640, 480);
    gst_buffer_add_crowd_boxes_meta(buffer.get(), boxes_memory(4, 1000), 4, 640, 480, nullptr);
    EXPECT_THAT(rois(nms.pass(std::move(buffer)).get()), SizeIs(4));
  }
  EXPECT_EQ(nms.stat("candidates"), 2000u);
  EXPECT_EQ(nms.stat("overflow"), 2u * 996);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr("996 of 1000"), HasSubstr("max-candidates"),
                                                          HasSubstr("overflow in stats"))));
}

TEST(crowdnms_bad_input, more_candidates_than_max_candidates_are_overflow) {
  NmsHarness nms("max-candidates=100");
  std::vector<Candidate> grid;
  for (int i = 0; i < 250; i++)
    grid.push_back(
        {float(20 * (i % 25)), float(20 * (i / 25)), float(20 * (i % 25) + 19), float(20 * (i / 25) + 15), 1});
  grid[249].score = 2;
  const auto out = nms.pass(grid);
  EXPECT_THAT(rois(out.get()), SizeIs(100));
  EXPECT_EQ(rois(out.get())[0].score, 1) << "the first are looked at, and the best was the last";
  EXPECT_EQ(nms.stat("overflow"), 150u);
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr("150 of 250"), HasSubstr("whatever their scores"),
                                                          HasSubstr("Raise max-candidates"))));
}

TEST(crowdnms_bad_input, overflow_of_the_paper_names_its_own_capacity) {
  NmsHarness nms("method=paper paper-d-max=64 paper-k=32");
  nms.pass(std::vector<Candidate>(100, {1, 2, 3, 4, 1}));
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr("36 of 100"), HasSubstr("Raise paper-d-max"))));
}

// GLib refuses NaN too: it is not what it was after being clamped to the range.
TEST(crowdnms_bad_input, thresholds_outside_their_range_are_refused) {
  NmsHarness nms;
  for (const float value : {-.01f, 1.01f, inf, -inf, nan})
    expect_refused(nms.element(), "iou-threshold", value);
  expect_refused(nms.element(), "score-threshold", nan);
}

TEST(crowdnms_bad_input, backend_cuda_without_a_gpu_says_so) {
  if (crowd_nms_cuda_probe() == CROWD_NMS_OK)
    GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(start_error("crowdnms backend=cuda"), AllOf(HasSubstr("GPU"), HasSubstr("backend=auto or backend=cpu")));
}

TEST(crowdnms_bad_input, backend_auto_without_a_gpu_works) {
  if (crowd_nms_cuda_probe() == CROWD_NMS_OK)
    GTEST_SKIP() << "there is a GPU";
  NmsHarness nms("backend=auto");
  EXPECT_THAT(rois(nms.pass(std::vector<Candidate>(5000, {1, 2, 3, 4, 1})).get()), SizeIs(1));
  EXPECT_EQ(nms.stat_text("backend"), "cpu");
  EXPECT_EQ(nms.stat("frames-on-gpu"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_bad_input, paper_settings_that_do_not_fit_are_an_error) {
  EXPECT_THAT(start_error("crowdnms method=paper paper-d-max=100 paper-k=33"),
              AllOf(HasSubstr("do not go together"), HasSubstr("paper-k"), HasSubstr("paper-d-max")));
  EXPECT_THAT(start_error("crowdnms method=paper max-candidates=100000"),
              AllOf(HasSubstr("do not go together"), HasSubstr("paper-d-max")));
}

TEST(crowdnms_bad_input, settings_that_do_not_fit_while_playing_leave_the_last_ones_in_force) {
  NmsHarness nms("iou-threshold=0.5");
  EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
  for (int round = 0; round < 2; round++) {
    g_object_set(nms.element(), "paper-d-max", 100u, "paper-k", 33u, "method", 2, nullptr);
    for (int i = 0; i < 3; i++)
      EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
    EXPECT_EQ(nms.stat_text("method"), "greedy") << "which is in force";
    const auto warning = pop_message(nms.bus(), GST_MESSAGE_WARNING);
    ASSERT_NE(warning, nullptr);
    EXPECT_THAT(message_text(warning.get()),
                AllOf(HasSubstr("do not go together: paper-k is 33"), HasSubstr("previous settings stay in force")));
    EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_WARNING), nullptr) << "said once";
    g_object_set(nms.element(), "paper-k", 25u, nullptr);
    EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(1)) << "they fit now";
    EXPECT_EQ(nms.stat_text("method"), "paper");
    g_object_set(nms.element(), "method", 0, nullptr);
    EXPECT_THAT(rois(nms.pass(row_of_three).get()), SizeIs(2));
  }
  EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_ERROR), nullptr);
  EXPECT_EQ(pop_message(nms.bus(), GST_MESSAGE_WARNING), nullptr);
}

}  // namespace
