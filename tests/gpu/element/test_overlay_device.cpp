// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdoverlay on frames in device memory: the picture is byte by byte that of the same frame and the same boxes in
// system memory.

#include <gst/crowd/gstcrowdcuda.h>

#include <algorithm>

#include "device_boxes.hpp"

namespace {

using namespace crowd::test;

struct Size {
  unsigned width, height;
};
constexpr Size frame_sizes[] = {{1, 1}, {64, 48}, {769, 577}, {1920, 1080}, {16384, 16}};
constexpr const char* formats[] = {"NV12", "RGBA"};

/// Boxes on a frame, some of them beyond it, of classes with and without a label.
Boxes boxes_on(Size size, std::uint32_t n, std::uint64_t seed) {
  Dice dice(seed);
  Boxes boxes;
  const auto w = static_cast<float>(size.width), h = static_cast<float>(size.height);
  for (std::uint32_t i = 0; i < n; i++) {
    const float x = dice.between(-.2f * w, 1.1f * w), y = dice.between(-.2f * h, 1.1f * h);
    const CrowdNmsBox box = {x, y, x + dice.between(0, .3f * w + 2), y + dice.between(0, .3f * h + 2)};
    boxes.add(box, dice.between(-.1f, 1.3f), static_cast<std::int32_t>(dice.below(7)) - 1);
  }
  return boxes;
}

void add_region(GstBuffer* buffer, const Boxes& boxes, std::uint32_t i, bool kept) {
  const CrowdNmsBox& box = boxes.boxes[i];
  const auto at_least_0 = [](float value) { return static_cast<guint>(std::max(value, 0.f)); };
  const char* const types[] = {"person", "bicycle", "a longer name of a class"};
  GstVideoRegionOfInterestMeta* roi =
      gst_buffer_add_video_region_of_interest_meta(buffer, types[i % 3], at_least_0(box.x1), at_least_0(box.y1),
                                                   at_least_0(box.x2 - box.x1), at_least_0(box.y2 - box.y1));
  GstStructure* detection = gst_structure_new("detection", "label_id", G_TYPE_INT, boxes.classes[i], nullptr);
  if (i % 5)
    gst_structure_set(detection, "confidence", G_TYPE_DOUBLE, static_cast<double>(boxes.scores[i]), nullptr);
  gst_video_region_of_interest_meta_add_param(roi, detection);
  if (i % 4)
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("nms", "members", G_TYPE_UINT, i % 120, "kept", G_TYPE_BOOLEAN, kept, nullptr));
}

/// What is on a frame, and in which memory it is on the one in device memory.
struct Kind {
  const char* name;
  bool regions, survivors, candidates;
  bool survivors_on_device, candidates_on_device;
};

constexpr Kind kinds[] = {
    {"regions", true, false, false, false, false},
    {"host_survivors", false, true, false, false, false},
    {"device_survivors", false, true, false, true, false},
    {"host_candidates", false, false, true, false, false},
    {"device_candidates", false, false, true, false, true},
    {"device_both", false, true, true, true, true},
    {"device_survivors_host_candidates", false, true, true, true, false},
    {"host_survivors_device_candidates", false, true, true, false, true},
    {"regions_device_candidates", true, false, true, false, true},
};

constexpr const char* styles[] = {
    "show=survivors",
    "show=candidates draw-summary=true",
    "show=both draw-labels=true draw-scores=true draw-counts=true draw-summary=true",
    "show=both draw-labels=false draw-scores=true draw-counts=false thickness=5 candidate-thickness=3 font-scale=3",
    "show=survivors draw-labels=true draw-scores=false draw-counts=true draw-summary=true color=class",
    "show=both color=0xff3060c0 candidate-color=class draw-summary=true font-scale=1",
};

class OverlayOnDevice : public testing::TestWithParam<Kind> {
 protected:
  struct Pictures {
    Ref<GstBuffer> device, host;
  };

  /// The same picture with the same boxes twice.
  Pictures make(const GstVideoInfo& info, std::uint32_t n, std::uint64_t seed) const {
    const Kind& kind = GetParam();
    const Size size = {static_cast<unsigned>(GST_VIDEO_INFO_WIDTH(&info)),
                       static_cast<unsigned>(GST_VIDEO_INFO_HEIGHT(&info))};
    Pictures both = {nullptr, noise(info, seed)};
    both.device = gpu.frame_like(both.host.get(), info);
    if (kind.regions) {
      const Boxes boxes = boxes_on(size, n / 8 + 1, seed);
      for (GstBuffer* buffer : {both.host.get(), both.device.get()})
        for (std::uint32_t i = 0; i < boxes.size(); i++)
          add_region(buffer, boxes, i, i % 7 != 0);
    }
    // Every other one of a frame twice the size, as behind a scaler.
    const unsigned scale = seed % 2 + 1;
    const Size space = {size.width * scale, size.height * scale};
    if (kind.candidates) {
      const MetaBoxes boxes = candidates_of(boxes_on(space, n, seed + 1), space.width, space.height, n % 3);
      attach(both.host.get(), boxes);
      kind.candidates_on_device ? attach_on_device(both.device.get(), boxes) : attach(both.device.get(), boxes);
    }
    if (kind.survivors) {
      MetaBoxes boxes = survivors_of(boxes_on(space, n / 8, seed + 2), space.width, space.height);
      boxes.labels = labels.get();
      if (kind.candidates)
        boxes.candidates = n;
      attach(both.host.get(), boxes);
      kind.survivors_on_device ? attach_on_device(both.device.get(), boxes) : attach(both.device.get(), boxes);
    }
    return both;
  }

  void compare(const char* style, const char* format) {
    Pipe device(std::string("crowdoverlay name=overlay ") + style, &gpu);
    Pipe host(std::string("crowdoverlay name=overlay ") + style);
    std::uint64_t seed = 0;
    unsigned drawn = 0;
    for (const Size size : frame_sizes) {
      const GstVideoInfo info = info_of(format, size.width, size.height);
      device.set_caps(info, true);
      host.set_caps(info, false);
      for (const std::uint32_t n : {0u, 1u, 40u, 700u, 41u}) {
        SCOPED_TRACE(std::string(style) + ' ' + format + ' ' + std::to_string(size.width) + 'x' +
                     std::to_string(size.height) + " n=" + std::to_string(n) + " seed=" + std::to_string(seed));
        Pictures in = make(info, n, seed), out;
        const Ref<GstBuffer> before(gst_buffer_copy_deep(in.host.get()));
        out.device = device.pass(std::move(in.device));
        out.host = host.pass(std::move(in.host));
        ASSERT_TRUE(out.device && out.host);
        EXPECT_TRUE(is_cuda_memory(gst_buffer_peek_memory(out.device.get(), 0)));
        EXPECT_EQ(gpu.synchronise(), cudaSuccess);
        ASSERT_TRUE(same_picture(out.host.get(), out.device.get(), info));
        drawn += !same_picture(before.get(), out.host.get(), info);
        seed++;
      }
    }
    EXPECT_EQ(device.stat("overlay", "failures"), 0u);
    EXPECT_EQ(device.stat("overlay", "frames"), seed);
    drawn_ += drawn;
  }

  const std::string words[3] = {"person", "face", "car"};
  const Ref<GPtrArray> labels = make_labels(words);
  const Gpu gpu;
  unsigned drawn_ = 0;
};

TEST_P(OverlayOnDevice, draws_as_on_the_host) {
  for (const char* style : styles)
    for (const char* format : formats)
      compare(style, format);
  EXPECT_GT(drawn_, 20u) << "pictures that anything was drawn on";
}

// Frames follow one another while the device is behind.
TEST_P(OverlayOnDevice, nothing_is_mixed_up_without_a_wait) {
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const char* style = "show=both draw-counts=true draw-scores=true draw-summary=true";
  Pipe device(std::string("crowdoverlay ") + style, &gpu), host(std::string("crowdoverlay ") + style);
  device.set_caps(info, true);
  host.set_caps(info, false);
  std::vector<Pictures> all;
  for (std::uint32_t i = 0; i < 60; i++)
    all.push_back(make(info, 20 + i * 131 % 1000, i));
  for (Pictures& both : all)
    both.device = device.pass(std::move(both.device));
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
  for (std::size_t i = 0; i < all.size(); i++) {
    all[i].host = host.pass(std::move(all[i].host));
    ASSERT_TRUE(same_picture(all[i].host.get(), all[i].device.get(), info)) << "seed=" << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, OverlayOnDevice, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

// New names come, old ones go, and no two frames name them in the same order.
TEST(OverlayLabels, are_right_in_whatever_order_frames_name_them) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("NV12", 640, 480);
  Pipe device("crowdoverlay", &gpu), host("crowdoverlay");
  device.set_caps(info, true);
  host.set_caps(info, false);
  for (guint i = 0; i < 200; i++) {
    Ref<GstBuffer> expected = noise(info, i);
    Ref<GstBuffer> got = gpu.frame_like(expected.get(), info);
    for (GstBuffer* buffer : {expected.get(), got.get()})
      for (guint k = 0; k < 12; k++) {
        const std::string name = "class " + std::to_string(k % 2 ? (k * 7 + i * 5) % 11 : i * 4 + k);
        gst_buffer_add_video_region_of_interest_meta(buffer, name.c_str(), 50 * k, 30 * k + 20, 90, 60);
      }
    got = device.pass(std::move(got));
    expected = host.pass(std::move(expected));
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    ASSERT_TRUE(same_picture(expected.get(), got.get(), info)) << "frame " << i;
  }
}

// Candidates of regions have colours by their names, survivors in device memory have names by their classes.
TEST(OverlayLabels, of_survivors_are_not_those_of_candidates) {
  const Gpu gpu;
  const GstVideoInfo info = info_of("RGBA", 640, 480);
  Pipe device("crowdoverlay show=both candidate-color=class draw-labels=false", &gpu);
  device.set_caps(info, true);
  const Ref<GstBuffer> picture = noise(info, 1);
  MetaBoxes survivors = survivors_of(boxes_on({640, 480}, 5, 1), 640, 480);
  Ref<GstBuffer> first;
  for (const std::string name : {"person", "dog"}) {
    const Ref<GPtrArray> labels = make_labels({&name, 1});
    survivors.labels = labels.get();
    Ref<GstBuffer> buffer = gpu.frame_like(picture.get(), info);
    attach_on_device(buffer.get(), survivors);
    GstVideoRegionOfInterestMeta* candidate =
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), "car", 200, 200, 90, 60);
    gst_video_region_of_interest_meta_add_param(candidate,
                                                gst_structure_new("nms", "kept", G_TYPE_BOOLEAN, FALSE, nullptr));
    buffer = device.pass(std::move(buffer));
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    if (first)
      EXPECT_TRUE(same_picture(first.get(), buffer.get(), info));
    else
      first = std::move(buffer);
  }
}

class OverlayBadInput : public testing::Test {
 protected:
  OverlayBadInput() : device("crowdoverlay name=overlay show=both", &gpu) {
    device.set_caps(info, true);
  }

  Ref<GstBuffer> frame() const {
    const Ref<GstBuffer> picture = noise(info, 1);
    return gpu.frame_like(picture.get(), info);
  }

  /// The frame goes on, drawn on or not, and `failures` are counted.
  void expect_goes_on(Ref<GstBuffer> buffer, std::uint64_t failures) {
    const Ref<GstBuffer> out = device.pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    EXPECT_EQ(device.stat("overlay", "failures"), failures);
    EXPECT_EQ(pop_message(device.bus(), GST_MESSAGE_ERROR), nullptr);
    // The next one is drawn.
    Ref<GstBuffer> good = frame();
    attach_on_device(good.get(), candidates_of(boxes_on({640, 480}, 50, 1), 640, 480));
    const Ref<GstBuffer> drawn = device.pass(std::move(good)), picture = noise(info, 1);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    EXPECT_FALSE(same_picture(picture.get(), drawn.get(), info));
    EXPECT_EQ(device.stat("overlay", "failures"), failures);
  }

  const GstVideoInfo info = info_of("NV12", 640, 480);
  const Gpu gpu;
  Pipe device;
};

TEST_F(OverlayBadInput, a_frame_without_detections_is_left_alone) {
  const Ref<GstBuffer> out = device.pass(frame()), picture = noise(info, 1);
  EXPECT_TRUE(same_picture(picture.get(), out.get(), info));
  EXPECT_EQ(device.stat("overlay", "failures"), 0u);
}

TEST_F(OverlayBadInput, memory_smaller_than_its_capacity) {
  for (const GstCrowdBoxesKind kind : {GST_CROWD_BOXES_CANDIDATES, GST_CROWD_BOXES_SURVIVORS}) {
    Ref<GstBuffer> buffer = frame();
    MetaBoxes boxes = candidates_of(boxes_on({640, 480}, 64, 1), 640, 480);
    Ref<GstMemory> memory = upload(boxes, gst_buffer_peek_memory(buffer.get(), 0));
    gst_buffer_add_crowd_boxes_meta(buffer.get(), memory.release(), 5000, 640, 480, nullptr)->kind = kind;
    expect_goes_on(std::move(buffer), kind == GST_CROWD_BOXES_CANDIDATES ? 1 : 2);
  }
}

TEST_F(OverlayBadInput, boxes_of_another_context) {
  const Gpu other;
  const Ref<GstBuffer> elsewhere = other.frame(info);
  Ref<GstBuffer> buffer = frame();
  attach_on_device(buffer.get(), survivors_of(boxes_on({640, 480}, 64, 1), 640, 480),
                   gst_buffer_peek_memory(elsewhere.get(), 0));
  expect_goes_on(std::move(buffer), 1);
}

TEST_F(OverlayBadInput, a_count_that_was_never_written) {
  Ref<GstBuffer> buffer = frame();
  MetaBoxes boxes = survivors_of(boxes_on({640, 480}, 64, 1), 640, 480);
  boxes.count = boxes.candidates = 0xdeadbeef;
  attach_on_device(buffer.get(), boxes);
  const Ref<GstBuffer> out = device.pass(std::move(buffer));
  EXPECT_NE(out, nullptr);
  EXPECT_EQ(gpu.synchronise(), cudaSuccess);
}

TEST_F(OverlayBadInput, a_frame_in_system_memory_under_caps_of_cuda_memory) {
  Ref<GstBuffer> buffer = noise(info, 1);
  attach(buffer.get(), candidates_of(boxes_on({640, 480}, 50, 1), 640, 480));
  expect_goes_on(std::move(buffer), 1);
}

// A source of frames is changed for another, in a context of its own.
TEST_F(OverlayBadInput, frames_of_two_contexts_take_turns) {
  const Gpu other;
  Pipe host("crowdoverlay show=both");
  host.set_caps(info, false);
  for (unsigned i = 0; i < 6; i++) {
    const Gpu& own = i % 2 ? other : gpu;
    Ref<GstBuffer> expected = noise(info, i);
    Ref<GstBuffer> buffer = own.frame_like(expected.get(), info);
    const MetaBoxes boxes = candidates_of(boxes_on({640, 480}, 200, i), 640, 480);
    attach(expected.get(), boxes);
    attach_on_device(buffer.get(), boxes);
    buffer = device.pass(std::move(buffer));
    expected = host.pass(std::move(expected));
    EXPECT_EQ(own.synchronise(), cudaSuccess);
    EXPECT_TRUE(same_picture(expected.get(), buffer.get(), info)) << "frame " << i;
  }
  EXPECT_EQ(device.stat("overlay", "failures"), 0u);
}

}  // namespace
