// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gtest/gtest.h>

#include <fstream>

#include "crowddetect_support.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::test;
using testing::HasSubstr;

TEST(crowddetect, attaches_candidates_to_each_frame) {
  const auto harness = harness_of(quick);
  const auto out = pass(harness, frame_of(picture_of_people(), "GRAY8"));
  const Found found = read(out.get());
  EXPECT_GT(found.candidates.size(), 3u);
  EXPECT_EQ(found.count, found.candidates.size());
  EXPECT_EQ(found.label, "person");
  EXPECT_EQ(found.frame_width, width);
  EXPECT_EQ(found.frame_height, height);
  for (const Candidate& c : found.candidates) {
    EXPECT_EQ(c.class_id, 0);
    EXPECT_GE(c.score, 0.6F);
  }
  EXPECT_EQ(stat(harness, "frames"), 1u);
  EXPECT_EQ(stat(harness, "candidates"), found.candidates.size());
  EXPECT_GT(stat(harness, "search-time"), 0u);
}

TEST(crowddetect, attaches_an_empty_meta_to_an_empty_scene) {
  const auto harness = harness_of(quick);
  const auto out = pass(harness, frame_of(cv::Mat(height, width, CV_8U, cv::Scalar(99)), "GRAY8"));
  EXPECT_EQ(read(out.get()).count, 0u);
  EXPECT_EQ(stat(harness, "failures"), 0u);
}

TEST(crowddetect, replaces_candidates_and_warns_once) {
  const auto harness = harness_of(quick);
  ElementBus bus(element_of(harness).get());
  for (int i = 0; i < 2; i++) {
    auto in = frame_of(cv::Mat(height, width, CV_8UC1, cv::Scalar(128)), "GRAY8");
    const Candidate other[] = {{1, 2, 3, 4, 0.5f}};
    add_boxes(in.get(), other, {.frame_width = width, .frame_height = height});
    EXPECT_EQ(read(pass(harness, std::move(in)).get()).count, 0u);
  }
  EXPECT_THAT(bus.warnings(), testing::ElementsAre(HasSubstr("one source of candidates")));
}

TEST(crowddetect, finds_the_same_in_every_format) {
  const auto grey = harness_of(quick);
  const auto expected = read(pass(grey, frame_of(picture_of_people(), "GRAY8")).get());
  for (const char* format :
       {"NV12", "NV21", "NV16", "I420", "YV12", "Y42B", "Y444", "YUY2", "UYVY", "P010_10LE", "I420_10LE",
        "BGR",  "RGB",  "BGRx", "RGBx", "BGRA", "RGBA", "xBGR", "xRGB", "ABGR", "ARGB"}) {
    const auto harness = harness_of(quick, caps_of(format));
    const auto out = pass(harness, frame_of(picture_of_people(), format));
    ASSERT_NE(out, nullptr) << format;
    EXPECT_TRUE(equal(read(out.get()).candidates, expected.candidates)) << format;
  }
}

TEST(crowddetect, weighs_red_green_and_blue_where_they_are) {
  // A person in blue on yellow is 18 levels darker than the wall if channels are mistaken for each other.
  const cv::Mat people = picture_of_people();
  const auto find = [&people](const char* format) {
    cv::Mat channels[3] = {255 - people, people, people};
    cv::Mat colours;
    cv::merge(channels, 3, colours);
    const auto harness = harness_of(quick, caps_of(format));
    auto buffer = frame_of(people, format);
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height);
    GstVideoFrame frame;
    EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE));
    for (int y = 0; y < people.rows; y++)
      for (int x = 0; x < people.cols; x++)
        GST_VIDEO_FRAME_COMP_DATA(&frame, 0)
    [y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, 0) + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0)] =
        colours.at<cv::Vec3b>(y, x)[0];
    gst_video_frame_unmap(&frame);
    return read(pass(harness, std::move(buffer)).get()).candidates;
  };
  const auto expected = find("RGB");
  EXPECT_FALSE(expected.empty());
  for (const char* format : {"BGR", "BGRx", "RGBx", "BGRA", "RGBA", "xBGR", "xRGB", "ABGR", "ARGB"})
    EXPECT_TRUE(equal(find(format), expected)) << format;
}

TEST(crowddetect, reads_through_strides_and_offsets) {
  const cv::Mat people = picture_of_people();
  const auto expected = read(pass(harness_of(quick), frame_of(people, "GRAY8")).get());
  gsize offset[] = {77, 0, 0, 0};
  gint stride[] = {width + 40, 0, 0, 0};
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 77 + gsize{width + 40} * height, nullptr));
  gst_buffer_memset(buffer.get(), 0, 255, gst_buffer_get_size(buffer.get()));
  for (unsigned y = 0; y < height; y++)
    gst_buffer_fill(buffer.get(), 77 + gsize{y} * (width + 40), people.ptr(static_cast<int>(y)), width);
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1,
                                 offset, stride);
  const auto found = read(pass(harness_of(quick), std::move(buffer)).get());
  EXPECT_TRUE(equal(found.candidates, expected.candidates));
}

TEST(crowddetect, copies_and_changes_no_pixels) {
  const auto harness = harness_of(quick);
  for (const bool shared : {false, true}) {
    auto buffer = frame_of(picture_of_people(), "GRAY8");
    GstMemory* memory = gst_buffer_peek_memory(buffer.get(), 0);
    const Ref<GstBuffer> held(shared ? gst_buffer_ref(buffer.get()) : gst_buffer_new());
    const auto out = pass(harness, std::move(buffer));
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory) << "shared: " << shared;
    EXPECT_EQ(gst_buffer_memcmp(out.get(), 0, picture_of_people().data, width * height), 0);
    EXPECT_GT(read(out.get()).count, 0u);
    EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(held.get()), nullptr) << "the meta appeared on a buffer of another owner";
  }
}

TEST(crowddetect, writes_into_the_memory_of_frames_that_are_gone) {
  const auto harness = harness_of(quick);
  bool freed = false;
  for (int i = 0; i < 4; i++) {
    const auto out = pass(harness, frame_of(picture_of_people(), "GRAY8"));
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(out.get());
    ASSERT_NE(meta, nullptr);
    if (i == 0)
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT(meta->memory), [](gpointer data, GstMiniObject*) { *static_cast<bool*>(data) = true; },
          &freed);
  }
  EXPECT_FALSE(freed);
  gst_element_set_state(harness->element, GST_STATE_NULL);
  EXPECT_TRUE(freed) << "kept after the stop";
}

TEST(crowddetect, keeps_the_best_and_counts_the_rest) {
  const auto all = read(pass(harness_of(quick), frame_of(picture_of_people(), "GRAY8")).get());
  ASSERT_GT(all.count, 3u);
  const auto harness = harness_of(quick + "max-candidates=3");
  const auto some = read(pass(harness, frame_of(picture_of_people(), "GRAY8")).get());
  EXPECT_EQ(some.capacity, 3u);
  EXPECT_EQ(some.count, all.count);
  std::vector<float> scores, kept;
  for (const Candidate& c : all.candidates)
    scores.push_back(c.score);
  for (const Candidate& c : some.candidates)
    kept.push_back(c.score);
  std::sort(scores.rbegin(), scores.rend());
  std::sort(kept.rbegin(), kept.rend());
  EXPECT_THAT(kept, testing::ElementsAre(scores[0], scores[1], scores[2]));
  EXPECT_EQ(stat(harness, "overflow"), all.count - 3);
  EXPECT_EQ(stat(harness, "candidates"), 3u);
}

TEST(crowddetect, searches_every_nth_frame) {
  const auto harness = harness_of(quick + "interval=3");
  std::vector<GstMemory*> memories;
  for (int i = 0; i < 7; i++) {
    const bool people = i == 0 || i >= 3;
    const auto out = pass(harness, frame_of(people ? picture_of_people() : picture_of_noise(), "GRAY8"));
    ASSERT_NE(out, nullptr);
    memories.push_back(gst_memory_ref(gst_buffer_get_crowd_boxes_meta(out.get())->memory));
  }
  EXPECT_EQ(memories[1], memories[0]);
  EXPECT_EQ(memories[2], memories[0]);
  EXPECT_NE(memories[3], memories[0]);
  EXPECT_EQ(memories[5], memories[3]);
  EXPECT_NE(memories[6], memories[3]);
  EXPECT_EQ(stat(harness, "searched"), 3u);
  EXPECT_EQ(stat(harness, "frames"), 7u);
  std::for_each(memories.begin(), memories.end(), gst_memory_unref);
}

TEST(crowddetect, searches_again_after_a_flush_or_new_caps) {
  const auto harness = harness_of(quick + "interval=1000");
  pass(harness, frame_of(picture_of_people(), "GRAY8"));
  gst_harness_push_event(harness.get(), gst_event_new_flush_start());
  gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  pass(harness, frame_of(picture_of_people(), "GRAY8"));
  EXPECT_EQ(stat(harness, "searched"), 2u);
  gst_harness_set_src_caps_str(harness.get(), caps_of("NV12", 320, 200).c_str());
  const auto out = pass(harness, make_frame(320, 200));
  EXPECT_EQ(stat(harness, "searched"), 3u);
  const auto found = read(out.get());
  EXPECT_EQ(found.frame_width, 320u);
  EXPECT_EQ(found.frame_height, 200u);
}

TEST(crowddetect, obeys_properties_while_playing) {
  const auto harness = harness_of(quick);
  const auto before = read(pass(harness, frame_of(picture_of_people(), "GRAY8")).get());
  g_object_set(element_of(harness).get(), "hit-threshold", 2.0, nullptr);
  const auto after = read(pass(harness, frame_of(picture_of_people(), "GRAY8")).get());
  EXPECT_LT(after.count, before.count);
  EXPECT_GT(after.count, 0u);
  for (const Candidate& c : after.candidates)
    EXPECT_GE(c.score, 2.0F);
  gst_util_set_object_arg(G_OBJECT(element_of(harness).get()), "fit", "window");
  const auto whole = read(pass(harness, frame_of(picture_of_people(), "GRAY8")).get());
  ASSERT_EQ(whole.count, after.count);
  EXPECT_GT(whole.candidates[0].x2 - whole.candidates[0].x1, after.candidates[0].x2 - after.candidates[0].x1);
}

TEST(crowddetect, finds_faces_with_both_cascades) {
  for (const char* detector : {"face-haar", "face-lbp"}) {
    const auto harness = harness_of(std::string("detector=") + detector);
    const auto found = read(pass(harness, frame_of(picture_of_noise(), "GRAY8")).get());
    EXPECT_GT(found.count, 30u) << detector;
    EXPECT_EQ(found.label, "face");
  }
  const auto named = harness_of("detector=face-lbp label=visage");
  EXPECT_EQ(read(pass(named, frame_of(picture_of_noise(), "GRAY8")).get()).label, "visage");
}

TEST(crowddetect, names_a_missing_cascade_and_the_remedy) {
  EXPECT_THAT(start_error("crowddetect detector=face-haar cascade=/nowhere/face.xml"),
              testing::AllOf(HasSubstr("/nowhere/face.xml"), HasSubstr("apt-get install opencv-data"),
                             HasSubstr("property cascade")));
}

TEST(crowddetect, refuses_a_cascade_that_people_would_not_run) {
  for (const char* properties : {"cascade=/nowhere/face.xml", "detector=people cascade=/nowhere/face.xml"})
    EXPECT_THAT(start_error(std::string("crowddetect ") + properties),
                testing::AllOf(HasSubstr("/nowhere/face.xml"), HasSubstr("detector=face-haar"), HasSubstr("unset")));
}

TEST(crowddetect, names_a_file_that_is_no_cascade) {
  const std::string path = crowd::test::temporary_path(".xml");
  for (const char* text : {"not a cascade\n", "<?xml version=\"1.0\"?><opencv_storage><a>1</a></opencv_storage>\n", "",
                           "<?xml version=\"1.0\"?><opencv_storage><cascade><stages><_><x>1</x></_></stages></cascade>"
                           "</opencv_storage>\n"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(start_error("crowddetect detector=face-lbp cascade=" + path),
                testing::AllOf(HasSubstr(path), HasSubstr("not a cascade"), HasSubstr("opencv-data")))
        << text;
  }
  EXPECT_THAT(start_error("crowddetect detector=face-lbp cascade=/tmp"), HasSubstr("No cascade file at /tmp"));
  std::remove(path.c_str());
}

TEST(crowddetect, takes_frames_of_any_size) {
  for (const auto& [w, h] : {std::pair{1u, 1u}, {1u, 500u}, {33u, 17u}, {321u, 243u}}) {
    const auto harness = harness_of("", caps_of("GRAY8", w, h));
    const cv::Mat picture(static_cast<int>(h), static_cast<int>(w), CV_8U, cv::Scalar(50));
    const auto out = pass(harness, frame_of(picture, "GRAY8"));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(read(out.get()).count, 0u);
    EXPECT_EQ(stat(harness, "failures"), w < 44 || h < 88 ? 1u : 0u) << w << "x" << h;
  }
}

TEST(crowddetect, refuses_caps_without_a_size) {
  const Ref<GstHarness> harness(gst_harness_new("crowddetect"));
  gst_harness_set_src_caps_str(harness.get(), "video/x-raw,format=GRAY8,framerate=25/1");
  EXPECT_EQ(gst_harness_push(harness.get(), gst_buffer_new_allocate(nullptr, 64, nullptr)), GST_FLOW_NOT_NEGOTIATED);
}

/// The part of a frame that a GstVideoCropMeta shows from x y on.
Ref<GstBuffer> cropped(Ref<GstBuffer> buffer, GstVideoFormat format, const cv::Mat& picture, guint x, guint y) {
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, format, static_cast<guint>(picture.cols),
                            static_cast<guint>(picture.rows));
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
  crop->x = x;
  crop->y = y;
  crop->width = static_cast<guint>(picture.cols) - x;
  crop->height = static_cast<guint>(picture.rows) - y;
  return buffer;
}

TEST(crowddetect, searches_what_is_shown_of_a_cropped_frame) {
  cv::Mat picture = picture_of_people();
  // What is beside the part that is shown changes nothing.
  picture(cv::Rect(0, 0, 100, picture.rows)).setTo(255);
  picture(cv::Rect(0, 0, picture.cols, 40)).setTo(0);
  for (const char* format : {"GRAY8", "I420", "YUY2", "BGRx"}) {
    const auto whole = pass(harness_of(quick, caps_of(format)), frame_of(picture, format));
    for (const auto& [x, y] : {std::pair(100, 40), std::pair(101, 41)}) {
      const std::string caps = caps_of(format, width - static_cast<unsigned>(x), height - static_cast<unsigned>(y));
      const auto harness = harness_of(quick + "hit-threshold=-10", caps);
      const auto out = pass(harness, cropped(frame_of(picture, format), gst_video_format_from_string(format), picture,
                                             static_cast<guint>(x), static_cast<guint>(y)));
      const cv::Mat part = picture({x, y, picture.cols - x, picture.rows - y});
      const auto expected = pass(harness_of(quick + "hit-threshold=-10", caps), frame_of(part, format));
      EXPECT_TRUE(equal(read(out.get()).candidates, read(expected.get()).candidates)) << format << ' ' << x;
      EXPECT_FALSE(equal(read(out.get()).candidates, read(whole.get()).candidates)) << format << ' ' << x;
      GstCrowdBoxesPlacement placement;
      EXPECT_TRUE(gst_crowd_boxes_meta_get_placement(gst_buffer_get_crowd_boxes_meta(out.get()), out.get(),
                                                     width - static_cast<guint>(x), height - static_cast<guint>(y),
                                                     GST_CROWD_BOXES_BORDERS_UNKNOWN, &placement));
      EXPECT_TRUE(placement.xx == 1 && placement.x0 == 0 && placement.y0 == 0) << "pixels of what is shown";
    }
  }
}

TEST(crowddetect, says_how_sure_a_score_is) {
  for (const auto& [detector, even] :
       {std::pair("people", .5), std::pair("face-haar", 4.1 / .99), std::pair("face-lbp", 5.2 / 2.35)}) {
    const auto out = pass(harness_of(quick + "detector=" + detector), frame_of(picture_of_people(), "GRAY8"));
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(out.get());
    EXPECT_GT(meta->confidence_slope, 0);
    EXPECT_NEAR(meta->confidence_slope * even + meta->confidence_offset, 0, 1e-6) << detector << " is even there";
  }
}

TEST(crowddetect, searches_again_where_another_part_is_shown) {
  const cv::Mat picture = picture_of_people();
  const auto harness = harness_of(quick + "interval=100", caps_of("GRAY8", width - 100, height - 40));
  for (const unsigned x : {100u, 100u, 60u, 60u}) {
    auto frame = cropped(frame_of(picture, "GRAY8"), GST_VIDEO_FORMAT_GRAY8, picture, x, 40);
    gst_buffer_get_video_crop_meta(frame.get())->width = width - 100;
    pass(harness, std::move(frame));
  }
  EXPECT_EQ(stat(harness, "searched"), 2u);
}

TEST(crowddetect, survives_a_hundred_state_changes) {
  for (const char* properties : {"", "detector=face-lbp"}) {
    const auto harness = harness_of(properties);
    const auto element = element_of(harness);
    for (int i = 0; i < 100; i++) {
      ASSERT_NE(gst_element_set_state(element.get(), GST_STATE_NULL), GST_STATE_CHANGE_FAILURE);
      ASSERT_NE(gst_element_set_state(element.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
    }
  }
}

TEST(crowddetect, documents_its_properties) {
  expect_documented_properties("crowddetect");
}

TEST(crowddetect, names_the_remedy_for_formats_that_it_does_not_take) {
  expect_remedy("crowddetect", "video/x-raw,format=GBR,width=64,height=48,framerate=25/1",
                "put videoconvert before crowddetect");
}

}  // namespace
