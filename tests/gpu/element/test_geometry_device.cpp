// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A box is where its object is, or it is gone and a warning says so: across uploads and downloads, and on frames in
// device memory of which a part is shown.

#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>

#include "device_boxes.hpp"

namespace {

using namespace crowd::test;

constexpr CrowdNmsBox object = {380, 300, 430, 370};
const GstVideoInfo info = info_of("NV12", 640, 480);

MetaBoxes boxes_with_object() {
  Boxes boxes;
  boxes.add(object, .9f, 0);
  return candidates_of(std::move(boxes), 640, 480);
}

std::vector<std::string> warnings(GstBus* bus) {
  std::vector<std::string> all;
  while (const auto message = pop_message(bus, GST_MESSAGE_WARNING))
    all.push_back(message_text(message.get()));
  return all;
}

void expect_object_as_region(GstBuffer* buffer) {
  const std::vector<Roi> found = rois(buffer);
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_TRUE(found[0].x == 380 && found[0].y == 300 && found[0].w == 50 && found[0].h == 70);
  EXPECT_TRUE(found[0].has_nms && found[0].kept) << "what it says is there, too";
}

class GeometryAcross : public testing::TestWithParam<const char*> {};

TEST_P(GeometryAcross, candidates_stay) {
  Pipe pipe(std::string(GetParam()) + " ! crowdnms meta-output=roi");
  pipe.set_caps(info, false);
  for (int i = 0; i < 3; i++) {
    Ref<GstBuffer> frame = noise(info, 1);
    attach(frame.get(), boxes_with_object());
    const auto out = pipe.pass(std::move(frame));
    ASSERT_NE(out, nullptr);
    expect_object_as_region(out.get());
  }
  EXPECT_THAT(warnings(pipe.bus()), testing::IsEmpty());
}

TEST_P(GeometryAcross, survivors_stay) {
  Pipe pipe(std::string("crowdnms meta-output=all ! ") + GetParam());
  pipe.set_caps(info, false);
  Ref<GstBuffer> frame = noise(info, 1);
  attach(frame.get(), boxes_with_object());
  const auto out = pipe.pass(std::move(frame));
  ASSERT_NE(out, nullptr);
  expect_object_as_region(out.get());
  GstCrowdBoxesMeta* survivors = gst_buffer_get_crowd_survivors_meta(out.get());
  ASSERT_NE(survivors, nullptr);
  EXPECT_EQ(count_metas(out.get(), GST_CROWD_BOXES_META_API_TYPE), 1u) << "once";
  GstCrowdBoxesPlacement placement;
  ASSERT_TRUE(
      gst_crowd_boxes_meta_get_placement(survivors, out.get(), 640, 480, GST_CROWD_BOXES_BORDERS_UNKNOWN, &placement));
  EXPECT_TRUE(placement.xx == 1 && placement.yy == 1 && placement.x0 == 0 && placement.y0 == 0);
  EXPECT_FALSE(gst_crowd_boxes_lost(out.get(), GST_CROWD_BOXES_SURVIVORS));
}

INSTANTIATE_TEST_SUITE_P(All, GeometryAcross,
                         testing::Values("cudaupload", "cudaupload ! cudadownload",
                                         "cudaupload ! identity ! cudadownload ! videoconvert ! "
                                         "video/x-raw,format=I420"),
                         [](const auto& info) { return "chain" + std::to_string(info.index); });

TEST(GeometryOnDevice, of_another_frame_is_refused_and_told) {
  const Gpu gpu;
  Pipe pipe("crowdnms name=nms", &gpu);
  pipe.set_caps(info_of("NV12", 320, 240), true);
  for (int i = 0; i < 3; i++) {
    Ref<GstBuffer> frame = gpu.frame(info_of("NV12", 320, 240));
    MetaBoxes boxes = boxes_with_object();
    GstMemory* memory = upload(boxes, gst_buffer_peek_memory(frame.get(), 0)).release();
    gst_buffer_add_crowd_boxes_meta(frame.get(), memory, boxes.capacity, 640, 480, nullptr);
    const auto out = pipe.pass(std::move(frame));
    EXPECT_THAT(rois(out.get()), testing::IsEmpty());
  }
  EXPECT_EQ(pipe.stat("nms", "failures"), 3u);
  EXPECT_THAT(warnings(pipe.bus()), testing::ElementsAre(testing::HasSubstr("put crowdnms before")));
}

/// Draws survivors on what a crop of these corners shows, on the device or on the host.
Ref<GstBuffer> drawn(const Gpu& gpu, const char* format, guint x, guint y, bool on_device, std::uint64_t* failures) {
  const GstVideoInfo whole = info_of(format, 640, 480), shown = info_of(format, 640 - x, 480 - y);
  Pipe pipe("crowdoverlay name=overlay draw-summary=true", on_device ? &gpu : nullptr);
  pipe.set_caps(shown, on_device);
  Ref<GstBuffer> frame = noise(whole, 7);
  if (on_device)
    frame = gpu.frame_like(frame.get(), whole);
  // Attached before the crop: coordinates are those of the whole picture.
  MetaBoxes survivors = survivors_of(boxes_with_object().boxes, 640, 480);
  on_device ? attach_on_device(frame.get(), survivors) : attach(frame.get(), survivors);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = x, crop->y = y, crop->width = 640 - x, crop->height = 480 - y;
  Ref<GstBuffer> out = pipe.pass(std::move(frame));
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  *failures = pipe.stat("overlay", "failures");
  return out;
}

TEST(GeometryOnDevice, of_what_is_shown_is_drawn_as_on_the_host) {
  const Gpu gpu;
  for (const char* format : {"NV12", "RGBA"}) {
    const GstVideoInfo whole = info_of(format, 640, 480);
    for (const auto& [x, y] : {std::pair(0u, 0u), std::pair(100u, 50u), std::pair(400u, 302u), std::pair(101u, 51u)}) {
      SCOPED_TRACE(std::string(format) + ' ' + std::to_string(x));
      std::uint64_t failures = 0;
      const auto host = drawn(gpu, format, x, y, false, &failures);
      EXPECT_EQ(failures, 0u);
      const auto device = drawn(gpu, format, x, y, true, &failures);
      const bool odd = x % 2 && std::string(format) == "NV12";
      EXPECT_EQ(failures, odd ? 1u : 0u) << "samples of chroma are two pixels wide";
      ASSERT_TRUE(host && device);
      const Ref<GstBuffer> untouched = noise(whole, 7);
      EXPECT_TRUE(same_picture(odd ? untouched.get() : host.get(), device.get(), whole));
      EXPECT_FALSE(same_picture(untouched.get(), host.get(), whole));
    }
  }
}

}  // namespace
