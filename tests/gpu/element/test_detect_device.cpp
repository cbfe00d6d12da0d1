// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowddetect on frames in device memory: the windows of the CPU, in device memory.

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "../../element/pictures.hpp"
#include "device_boxes.hpp"
#include "grey_frame.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::test;
using testing::HasSubstr;

void expect_same_windows(const MetaBoxes& expected, const MetaBoxes& got) {
  EXPECT_EQ(got.count, expected.count);
  EXPECT_EQ(got.frame_width, expected.frame_width);
  EXPECT_EQ(got.frame_height, expected.frame_height);
  ASSERT_EQ(got.boxes.size(), expected.boxes.size());
  for (std::uint32_t i = 0; i < got.boxes.size(); i++) {
    SCOPED_TRACE("window " + std::to_string(i));
    const CrowdNmsBox &g = got.boxes.boxes[i], &e = expected.boxes.boxes[i];
    EXPECT_TRUE(g.x1 == e.x1 && g.y1 == e.y1 && g.x2 == e.x2 && g.y2 == e.y2);
    EXPECT_NEAR(got.boxes.scores[i], expected.boxes.scores[i], 1e-3);
    EXPECT_EQ(got.boxes.classes[i], expected.boxes.classes[i]);
  }
}

struct Detectors {
  Detectors(const std::string& properties, const GstVideoInfo& the_info)
      : info(the_info),
        device("crowddetect name=detect " + properties, &gpu),
        host("crowddetect name=detect " + properties) {
    device.set_caps(info, true);
    host.set_caps(info, false);
  }

  /// The candidates in device memory of a copy of the frame.
  MetaBoxes find_on_device(GstBuffer* system) {
    out = device.pass(gpu.frame_like(system, info));
    const GstCrowdBoxesMeta* meta = out ? gst_buffer_get_crowd_boxes_meta(out.get()) : nullptr;
    EXPECT_NE(meta, nullptr);
    if (!meta)
      return {};
    EXPECT_TRUE(is_cuda_memory(meta->memory));
    // Before anything waits for the device but the mapping.
    const MetaBoxes found = read(meta);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    return found;
  }

  void compare(const cv::Mat& picture, MetaBoxes& got) {
    Ref<GstBuffer> system = grey_frame(picture, info);
    got = find_on_device(system.get());
    system = host.pass(std::move(system));
    ASSERT_NE(system, nullptr);
    const MetaBoxes expected = read(gst_buffer_get_crowd_boxes_meta(system.get()));
    expect_same_windows(expected, got);
    ASSERT_NE(got.labels, nullptr);
    EXPECT_STREQ(static_cast<const char*>(g_ptr_array_index(got.labels, 0)), "person");
  }

  const GstVideoInfo info;
  const Gpu gpu;
  Pipe device, host;
  Ref<GstBuffer> out;
};

TEST(DetectDevice, finds_the_windows_of_the_cpu) {
  const cv::Mat picture = picture_of_people();
  for (const char* format : {"NV12", "RGBA"}) {
    for (const char* properties :
         {"", "hit-threshold=0", "fit=window", "scale-factor=1.2 win-stride=16", "min-size=160"}) {
      SCOPED_TRACE(std::string(format) + ' ' + properties);
      Detectors both(properties, info_of(format, 640, 480));
      MetaBoxes found;
      for (int i = 0; i < 3; i++)
        both.compare(picture, found);
      EXPECT_GT(found.count, 0u);
      EXPECT_EQ(both.device.stat("detect", "searched"), 3u);
      EXPECT_EQ(both.device.stat("detect", "failures"), 0u);
    }
  }
}

TEST(DetectDevice, searches_what_is_shown_of_a_cropped_frame) {
  const cv::Mat picture = picture_of_people();
  for (const char* format : {"NV12", "RGBA"}) {
    const GstVideoInfo whole = info_of(format, 640, 480);
    for (const auto& [x, y] : {std::pair(100, 40), std::pair(101, 41)}) {
      SCOPED_TRACE(std::string(format) + ' ' + std::to_string(x));
      const cv::Rect part(x, y, 640 - x, 480 - y);
      const GstVideoInfo shown = info_of(format, unsigned(part.width), unsigned(part.height));
      const Gpu gpu;
      Pipe pipe("crowddetect name=detect hit-threshold=0", &gpu);
      pipe.set_caps(shown, true);
      Ref<GstBuffer> frame = gpu.frame_like(grey_frame(picture, whole).get(), whole);
      GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
      crop->x = guint(x), crop->y = guint(y), crop->width = guint(part.width), crop->height = guint(part.height);
      const Ref<GstBuffer> out = pipe.pass(std::move(frame));
      EXPECT_EQ(gpu.synchronise(), cudaSuccess);
      Pipe host("crowddetect hit-threshold=0");
      host.set_caps(shown, false);
      const Ref<GstBuffer> expected = host.pass(grey_frame(picture(part), shown));
      ASSERT_TRUE(out && expected);
      const MetaBoxes found = read(gst_buffer_get_crowd_boxes_meta(out.get()));
      expect_same_windows(read(gst_buffer_get_crowd_boxes_meta(expected.get())), found);
      EXPECT_GT(found.count, 0u);
    }
  }
}

// Their kernels are launched as graphs, of which not all are kept.
TEST(DetectDevice, finds_the_windows_of_frames_whose_memories_come_back) {
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Detectors both("", info);
  const Ref<GstElement> detect(gst_bin_get_by_name(GST_BIN(both.device.element()), "detect"));
  std::vector<Ref<GstBuffer>> frames, pictures;
  for (const double light : {1., .8, .6}) {
    pictures.push_back(grey_frame(picture_of_people() * light, info));
    frames.push_back(both.gpu.frame_like(pictures.back().get(), info));
  }
  for (const double threshold : {0., .1, 0.}) {
    g_object_set(detect.get(), "hit-threshold", threshold, nullptr);
    Pipe host("crowddetect hit-threshold=" + std::to_string(threshold));
    host.set_caps(info, false);
    for (std::size_t i = 0; i < 8 * frames.size(); i++) {
      SCOPED_TRACE("threshold " + std::to_string(threshold) + " frame " + std::to_string(i));
      Ref<GstBuffer>& frame = frames[i % frames.size()];
      Ref<GstBuffer>& picture = pictures[i % frames.size()];
      frame = both.device.pass(std::move(frame));
      picture = host.pass(std::move(picture));
      ASSERT_TRUE(frame && picture);
      EXPECT_EQ(both.gpu.synchronise(), cudaSuccess);
      const MetaBoxes expected = read(gst_buffer_get_crowd_boxes_meta(picture.get()));
      EXPECT_GT(expected.count, 0u);
      expect_same_windows(expected, read(gst_buffer_get_crowd_boxes_meta(frame.get())));
    }
  }
  EXPECT_EQ(both.device.stat("detect", "failures"), 0u);
}

TEST(DetectDevice, follows_the_size_of_frames) {
  Detectors both("hit-threshold=0", info_of("NV12", 640, 480));
  MetaBoxes found;
  both.compare(picture_of_people(), found);
  for (const cv::Size size : {cv::Size(333, 251), cv::Size(1280, 960), cv::Size(640, 480)}) {
    SCOPED_TRACE(std::to_string(size.width));
    cv::Mat picture;
    cv::resize(picture_of_people(), picture, size);
    const_cast<GstVideoInfo&>(both.info) =
        info_of("NV12", static_cast<unsigned>(size.width), static_cast<unsigned>(size.height));
    both.device.set_caps(both.info, true);
    both.host.set_caps(both.info, false);
    both.compare(picture, found);
  }
}

TEST(DetectDevice, keeps_the_best_where_there_is_room_for_few) {
  Detectors both("hit-threshold=0 max-candidates=5", info_of("NV12", 640, 480));
  MetaBoxes found;
  both.compare(picture_of_people(), found);
  EXPECT_EQ(found.capacity, 5u);
  EXPECT_EQ(found.boxes.size(), 5u);
  EXPECT_GT(found.count, 5u);
}

TEST(DetectDevice, frames_of_an_interval_share_a_memory) {
  Detectors both("interval=3", info_of("NV12", 640, 480));
  const Ref<GstBuffer> picture = grey_frame(picture_of_people(), both.info);
  std::vector<Ref<GstBuffer>> frames;
  std::vector<const GstMemory*> memories;
  for (int i = 0; i < 9; i++) {
    memories.push_back(both.find_on_device(picture.get()).memory);
    frames.push_back(std::move(both.out));
  }
  for (std::size_t i = 0; i < memories.size(); i++)
    EXPECT_EQ(memories[i], memories[i / 3 * 3]) << i;
  EXPECT_NE(memories[0], memories[3]);
  EXPECT_NE(memories[3], memories[6]);
  EXPECT_EQ(both.device.stat("detect", "searched"), 3u);
}

TEST(DetectDevice, finds_nothing_on_frames_that_are_too_small) {
  for (const cv::Size size : {cv::Size(1, 1), cv::Size(16384, 16), cv::Size(16, 16384), cv::Size(2, 2)}) {
    SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height));
    for (const char* format : {"NV12", "RGBA"}) {
      Detectors both("", info_of(format, static_cast<unsigned>(size.width), static_cast<unsigned>(size.height)));
      MetaBoxes found;
      for (int i = 0; i < 2; i++)
        both.compare(cv::Mat(size, CV_8U, cv::Scalar(90)), found);
      EXPECT_EQ(found.count, 0u);
      EXPECT_EQ(both.device.stat("detect", "failures"), 2u);
      EXPECT_THAT(take_warnings(both.device.bus()), testing::ElementsAre(testing::HasSubstr("Nothing can be found")));
    }
  }
}

// A cascade that accepts whatever it sees: only loading it matters here.
TEST(DetectDevice, says_that_faces_are_searched_for_in_system_memory) {
  const std::string path = temporary_path(".xml");
  std::ofstream(path) << R"(<?xml version="1.0"?>
<opencv_storage><cascade type_id="opencv-cascade-classifier"><stageType>BOOST</stageType><featureType>HAAR</featureType>
<height>24</height><width>24</width><stageParams><maxWeakCount>1</maxWeakCount></stageParams>
<featureParams><maxCatCount>0</maxCatCount></featureParams><stageNum>1</stageNum><stages><_><maxWeakCount>1</maxWeakCount>
<stageThreshold>-1.</stageThreshold><weakClassifiers><_><internalNodes>0 -1 0 0.</internalNodes>
<leafValues>-1. 1.</leafValues></_></weakClassifiers></_></stages>
<features><_><rects><_>0 0 24 24 -1.</_><_>8 0 8 24 3.</_></rects><tilted>0</tilted></_></features>
</cascade></opencv_storage>
)";
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe pipe("crowddetect detector=face-haar cascade=" + path, &gpu);
  pipe.set_caps(info, true);
  EXPECT_EQ(pipe.push(gpu.frame(info)), GST_FLOW_NOT_NEGOTIATED);
  const Ref<GstMessage> message = pop_message(pipe.bus(), GST_MESSAGE_ERROR);
  ASSERT_NE(message, nullptr);
  EXPECT_THAT(message_text(message.get()), testing::AllOf(HasSubstr("cudadownload"), HasSubstr("detector=people")));
  // What the base class has to say.
  while (const Ref<GstMessage> more = pop_message(pipe.bus(), GST_MESSAGE_ERROR))
    EXPECT_THAT(message_text(more.get()), testing::Not(HasSubstr("cudadownload")));
  std::remove(path.c_str());
}

TEST(DetectDevice, candidates_go_to_crowdnms_in_device_memory) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const std::string nms = "crowdnms name=nms metric=ios iou-threshold=0.6 ";
  Pipe device("crowddetect ! " + nms + "! crowdoverlay", &gpu), host("crowddetect ! " + nms + "meta-output=boxes");
  device.set_caps(info, true);
  host.set_caps(info, false);
  Ref<GstBuffer> system = grey_frame(picture_of_people(), info);
  const Ref<GstBuffer> out = device.pass(gpu.frame_like(system.get(), info));
  system = host.pass(std::move(system));
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  const auto expected = read_survivors(system.get()), got = read_survivors(out.get());
  ASSERT_TRUE(expected && got);
  EXPECT_TRUE(is_cuda_memory(got->memory));
  EXPECT_EQ(got->count, expected->count);
  EXPECT_EQ(got->members, expected->members);
  EXPECT_EQ(device.stat("nms", "candidates"), host.stat("nms", "candidates"));
}

}  // namespace
