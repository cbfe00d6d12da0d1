// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesarrays.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "crowdinject_support.hpp"
#include "memory_limit.hpp"
#include "nms_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(crowdinject, replays_det_txt) {
  const TemporaryFile file("1,-1,10,20,30,40,0.5\n3,-1,1,2,3,4,0.75,-1,-1,-1\n3,-1,5,6,-7,nan,1\n");
  const Inject inject("labels=\" person , dog\" location=" + file.path);
  const auto view = [&] { return attached(inject.pass().get()); };
  const Attached first = view();
  EXPECT_THAT(first.candidates.boxes, ElementsAre(crowd::scene::Box{10, 20, 40, 60}));
  EXPECT_THAT(first.candidates.scores, ElementsAre(0.5f));
  EXPECT_THAT(first.labels, ElementsAre("person", "dog"));
  EXPECT_EQ(view().count, 0u);
  EXPECT_EQ(view().count, 2u);
  EXPECT_EQ(view().count, 0u);
  inject.set("loop", TRUE);
  EXPECT_EQ(view().count, 0u);
  EXPECT_EQ(view().count, 2u);
  EXPECT_EQ(view().count, 1u);
  EXPECT_FALSE(gst_crowd_truth_get(inject.pass().get()));
  EXPECT_EQ(inject.stat("skipped-lines"), 0u);
  EXPECT_EQ(inject.stat("candidates"), 6u);
  EXPECT_EQ(inject.next_message(GST_MESSAGE_WARNING), "");
}

TEST(crowdinject, replays_json_lines_scaled_to_the_frame) {
  const TemporaryFile file(
      "{\"resolution\": {\"width\": 1280, \"height\": 720}, \"objects\": "
      "[{\"box\": [100, 200, 300, 400], \"score\": 0.5, \"label\": \"head\"}]}\n");
  const Inject inject("location=" + file.path);
  const Attached got = attached(inject.pass().get());
  EXPECT_THAT(got.candidates.boxes, ElementsAre(crowd::scene::Box{50, 100, 150, 200}));
  EXPECT_THAT(got.labels, ElementsAre("head"));
  EXPECT_EQ(got.width, 640u);
}

TEST(crowdinject, replays_what_crowdnms_reads_beside_boxes) {
  const TemporaryFile file(
      R"({"resolution": {"width": 1280, "height": 720}, "objects": [{"box": [0,0,9,9], "density": 0.5, "proposal": 7, "visible-box": [2,4,6,8], "feature": [1,2], "model": 3}, {"box": [0,0,9,9], "density": 0.25, "proposal": 8, "visible-box": [4,4,6,8], "feature": [3,4], "model": 1}]}
{"objects": []}
{"objects": [{"box": [0,0,9,9], "proposal": 9}]}
{"objects": [{"box": [0,0,9,9]}]}
)");
  const Inject inject("max-candidates=1 location=" + file.path);
  const auto first = inject.pass();
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(first.get());
  ASSERT_EQ(meta->arrays, 31u);
  ASSERT_EQ(meta->feature_length, 2u);
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory_with(&map, meta->memory, meta->capacity, 31, 2, GST_MAP_READ));
  EXPECT_EQ(*map.count, 2u);
  EXPECT_EQ(map.densities[0], .5f);
  EXPECT_EQ(map.proposals[0], 7u);
  EXPECT_EQ(map.visible[0].x1, 1) << "in pixels of the frame";
  EXPECT_EQ(map.visible[0].y2, 4);
  EXPECT_THAT(std::vector<float>(map.features, map.features + 2), ElementsAre(1, 2));
  EXPECT_EQ(map.models[0], 3u);
  gst_crowd_boxes_unmap(&map);
  EXPECT_EQ(attached(inject.pass().get()).count, 0u);
  const auto third = inject.pass(), fourth = inject.pass();
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(third.get())->arrays, guint{GST_CROWD_BOXES_PROPOSALS});
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(third.get())->feature_length, 0u);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(fourth.get())->arrays, 0u);
}

TEST(crowdinject, gives_crowdnms_the_models_that_it_weighs) {
  const TemporaryFile file(
      R"({"objects": [{"box": [100,50,180,90], "score": 0.75, "model": 0}, {"box": [108,50,188,90], "score": 0.25, "model": 1}, {"box": [300,200,380,290], "score": 0.5, "model": 2}]}
)");
  const Inject inject("location=" + file.path);
  NmsHarness nms("method=wbf model-weights=1,3 meta-output=roi", video_caps(640, 360));
  EXPECT_THAT(rectangles(nms.pass(inject.pass()).get()), ElementsAre("object@104,50,80,40"));
  EXPECT_EQ(nms.stat("invalid"), 1u) << "of a model without a weight";
}

TEST(crowdinject, frames_before_the_first_candidates_have_arrays_as_those) {
  const TemporaryFile file(
      R"({"objects": []}
{"frame": 2, "objects": [{"box": [0,0,9,9], "density": 0.5, "feature": [1,2,3]}]}
)");
  const Inject inject("location=" + file.path);
  for (unsigned number = 0; number < 3; number++) {
    const auto frame = inject.pass();
    EXPECT_EQ(attached(frame.get()).count, number == 2 ? 1u : 0u);
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(frame.get());
    EXPECT_EQ(meta->arrays, guint{GST_CROWD_BOXES_DENSITIES} | GST_CROWD_BOXES_FEATURES) << number;
    EXPECT_EQ(meta->feature_length, 3u) << number;
  }
}

TEST(crowdinject, a_long_feature_behind_many_boxes_takes_no_room_for_so_many) {
  std::string boxes = "[0,0,9,9]}";
  for (int i = 0; i < 5000; i++)
    boxes += R"(,{"box":[0,0,9,9]})";
  std::string numbers = "1";
  for (int i = 0; i < 99; i++)
    numbers += ",1";
  const TemporaryFile file(R"({"objects":[{"box":)" + boxes + "]}\n" + R"({"objects":[{"box":[0,0,9,9],"feature":[)" +
                           numbers + "]}]}\n");
  const Inject inject("location=" + file.path);
  const auto many = inject.pass(), one = inject.pass();
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(many.get())->capacity, 8192u);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(one.get())->capacity, 64u);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(one.get())->feature_length, 100u);
}

TEST(crowdinject, replays_det_txt_scaled_to_the_frame) {
  const TemporaryFile file("1,-1,10,20,30,40,0.5\n");
  const Inject inject("recorded-width=320 recorded-height=90 location=" + file.path);
  EXPECT_THAT(attached(inject.pass().get()).candidates.boxes, ElementsAre(crowd::scene::Box{20, 80, 80, 240}));
  EXPECT_THAT(attached(inject.pass().get()).labels, testing::IsEmpty());
}

TEST(crowdinject, warns_once_of_skipped_lines_and_counts_them) {
  const TemporaryFile file("1,-1,10,20,30,40,0.5\n1,-1,x,2,3,4,1\n2,-1\n");
  const Inject inject("location=" + file.path);
  EXPECT_EQ(attached(inject.pass().get()).count, 1u);
  EXPECT_EQ(attached(inject.pass().get()).count, 0u);
  EXPECT_EQ(inject.stat("skipped-lines"), 2u);
  const std::string text = inject.next_message(GST_MESSAGE_WARNING);
  EXPECT_THAT(text, HasSubstr("2 of the lines of \"" + file.path + "\" do not fit and were skipped, the first at " +
                              file.path + ":2: column 3 (left) is not a number."));
  EXPECT_THAT(text, HasSubstr("set strict=true"));
  EXPECT_EQ(inject.next_message(GST_MESSAGE_WARNING), "");
}

TEST(crowdinject, an_empty_file_is_warned_about) {
  const TemporaryFile file;
  const Inject inject("location=" + file.path);
  EXPECT_EQ(attached(inject.pass().get()).count, 0u);
  EXPECT_THAT(inject.next_message(GST_MESSAGE_WARNING), HasSubstr("\"" + file.path + "\" holds no candidates"));
}

TEST(crowdinject, files_that_cannot_be_used_are_errors_that_say_why) {
  const TemporaryFile bad("1,-1,10,20,30,40,0.5\n1,-1,10,20,30,40\n");
  EXPECT_THAT(
      start_error("crowdinject location=/nowhere/det.txt"),
      testing::AllOf(HasSubstr("There is no file \"/nowhere/det.txt\"."), HasSubstr("set location to a det.txt")));
  EXPECT_THAT(start_error("crowdinject location=/tmp"), HasSubstr("\"/tmp\" is a folder, not a file."));
  std::ofstream(bad.path, std::ios::binary) << "1,-1,10,20,30,40,0.5\n1,-1,10,20,30,40\n";
  EXPECT_THAT(start_error("crowdinject strict=true location=" + bad.path),
              testing::AllOf(HasSubstr(bad.path + ":2: 6 columns instead of 7 to 10"), HasSubstr("set strict=false")));
  EXPECT_THAT(start_error("crowdinject format=jsonl location=" + bad.path),
              HasSubstr("has no line of JSON lines form"));
  std::ofstream(bad.path, std::ios::binary) << std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  EXPECT_THAT(start_error("crowdinject location=" + bad.path), HasSubstr("has no line of MOTChallenge form"));
}

TEST(crowdinject, files_of_another_form_are_errors_that_say_what_to_do) {
  const TemporaryFile file(
      "{\"frame\": 0, \"survivors\": [{\"label\": \"a\", \"box\": [1, 2, 3, 4], \"confidence\": 1}]}\n");
  EXPECT_THAT(
      start_error("crowdinject location=" + file.path),
      AllOf(HasSubstr(file.path + ":1: \"survivors\" instead of \"objects\", from an older gst-crowd-read-survivors"),
            HasSubstr("make the file again")));
  std::ofstream(file.path, std::ios::binary) << "[\n{\"objects\": []}]\n";
  EXPECT_THAT(start_error("crowdinject location=" + file.path),
              HasSubstr(file.path + ":1: a JSON array; write one object a line"));
  std::filesystem::resize_file(file.path, (std::uintmax_t{1} << 30) + 1);
  EXPECT_THAT(start_error("crowdinject location=" + file.path),
              HasSubstr("larger than 1 GiB, which is the most that is read"));
}

TEST(crowdinject, recorded_size_goes_in_pairs) {
  EXPECT_THAT(start_error("crowdinject recorded-width=100"),
              HasSubstr("recorded-width and recorded-height go together"));
  EXPECT_THAT(start_error("crowdinject recorded-height=100"),
              HasSubstr("recorded-width and recorded-height go together"));
}

TEST(crowdinject, writes_the_truth_as_gt_txt_each_frame_once) {
  const TemporaryFile file("old");
  {
    const Inject inject("scene=oscars uncover-every=1 truth=false truth-location=" + file.path);
    for (int i = 0; i < 3; i++)
      inject.pass();
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_segment(&segment)));
    for (int i = 0; i < 4; i++)
      inject.pass();
    ASSERT_TRUE(gst_harness_push_event(inject.harness(), gst_event_new_eos()));
    const std::string at_eos = file.text();
    EXPECT_EQ(std::ranges::count(at_eos, '\n'), 0 + 1 + 2 + 3);
  }
  const std::string text = file.text();
  std::vector<std::string> starts;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    starts.push_back(text.substr(at, 4));
  EXPECT_THAT(starts, ElementsAre("2,1,", "3,1,", "3,2,", "4,1,", "4,2,", "4,3,"));
}

TEST(crowdinject, a_written_truth_is_a_recording) {
  const TemporaryFile file;
  {
    const Inject inject("truth-location=" + file.path);
    inject.pass();
  }
  const Inject inject("strict=true location=" + file.path);
  const auto boxes = attached(inject.pass().get()).candidates.boxes;
  const auto objects = expected({}, 0, 640, 360).objects;
  ASSERT_EQ(boxes.size(), objects.size());
  for (std::size_t i = 0; i < boxes.size(); i++) {
    EXPECT_EQ(boxes[i].x1, objects[i].box.x1);
    EXPECT_NEAR(boxes[i].x2, objects[i].box.x2, 1e-3);
  }
}

TEST(crowdinject, a_truth_file_that_cannot_be_written_is_told) {
  EXPECT_THAT(start_error("crowdinject truth-location=/nowhere/gt.txt"),
              testing::AllOf(HasSubstr("\"/nowhere/gt.txt\" cannot be written: No such file or directory."),
                             HasSubstr("set truth-location to a file in a folder")));
  const Inject inject("truth-location=/dev/full");
  for (int number = 0; number < 30; number++)
    EXPECT_EQ(number_of(inject.pass().get()), number);
  EXPECT_THAT(inject.next_message(GST_MESSAGE_WARNING),
              HasSubstr("Writing truth-location failed: No space left on device"));
  EXPECT_EQ(inject.next_message(GST_MESSAGE_WARNING), "");
}

TEST(crowdinject, a_recording_has_no_truth_to_write) {
  const TemporaryFile file("1,-1,10,20,30,40,0.5\n");
  const Inject inject("truth-location=/nowhere/gt.txt location=" + file.path);
  EXPECT_EQ(attached(inject.pass().get()).count, 1u);
  EXPECT_THAT(inject.next_message(GST_MESSAGE_WARNING), HasSubstr("A recording has no true objects"));
}

TEST(crowdinject, has_one_error_for_more_candidates_than_there_is_memory_for) {
  if (!MemoryLimit::limits_work)
    GTEST_SKIP() << "a sanitizer";
  const Inject inject("candidates=16777216");
  auto buffer = make_frame(640, 360);
  {
    const MemoryLimit limit(48 << 20);
    EXPECT_EQ(gst_harness_push(inject.harness(), buffer.release()), GST_FLOW_ERROR);
  }
  EXPECT_THAT(inject.next_message(GST_MESSAGE_ERROR), HasSubstr("lower candidates"));
  EXPECT_EQ(inject.next_message(GST_MESSAGE_ERROR), "");
}

TEST(crowdinject, has_one_error_for_a_recording_that_does_not_fit_into_memory) {
  if (!MemoryLimit::limits_work)
    GTEST_SKIP() << "a sanitizer";
  std::string lines;
  for (int i = 0; i < 2'000'000; i++)
    lines += "1,-1,1,2,3,4,5\n";
  const TemporaryFile file(lines);
  lines = {};
  const Ref<GstBus> bus(gst_bus_new());
  const auto element = make_element("location=" + file.path);
  gst_element_set_bus(element.get(), bus.get());
  {
    const MemoryLimit limit(24 << 20);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  }
  const auto error = pop_message(bus.get(), GST_MESSAGE_ERROR);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(message_text(error.get()), AllOf(HasSubstr("no memory"), HasSubstr("location")));
  EXPECT_EQ(pop_message(bus.get(), GST_MESSAGE_ERROR), nullptr);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

}  // namespace
