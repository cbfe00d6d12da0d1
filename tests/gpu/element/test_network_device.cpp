// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowddetect with real networks on frames in device memory, beside the same on the host. Skipped where a model cannot
// be fetched, or ONNX Runtime cannot use CUDA.

#include <algorithm>
#include <cmath>

#include "../../element/pictures.hpp"
#include "../../element/real_models.hpp"
#include "device_boxes.hpp"
#include "grey_frame.hpp"

namespace {

using namespace crowd::test;

constexpr float threshold = 0.02F;

struct RealModel {
  const char* detector;
  const char* script;  ///< of pipelines/, which prints where the model is
};

constexpr RealModel persons = {"person-net", "convert-model person-net"};
constexpr RealModel half_persons = {"person-net", "convert-model --half person-net"};
constexpr RealModel faces = {"face-net", "fetch-model face-net"};

/// The people, in grey.
Ref<GstBuffer> people(const GstVideoInfo& info) {
  cv::Mat picture;
  cv::resize(picture_of_people(), picture, {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)});
  return grey_frame(picture, info);
}

struct Tolerance {
  float pixels, score;  ///< the score's as a part of it
};

/// How many have no like among the others, each of which is a like once, but for those at the threshold.
unsigned without_like(const MetaBoxes& some, const MetaBoxes& others, Tolerance tolerance) {
  std::vector<bool> used(others.boxes.size());
  unsigned count = 0;
  for (std::uint32_t i = 0; i < some.boxes.size(); i++) {
    const CrowdNmsBox& a = some.boxes.boxes[i];
    const float score = some.boxes.scores[i];
    bool found = false;
    for (std::uint32_t k = 0; k < others.boxes.size() && !found; k++) {
      const CrowdNmsBox& b = others.boxes.boxes[k];
      const float apart =
          std::max({std::abs(a.x1 - b.x1), std::abs(a.y1 - b.y1), std::abs(a.x2 - b.x2), std::abs(a.y2 - b.y2)});
      found = !used[k] && apart <= tolerance.pixels &&
              std::abs(score - others.boxes.scores[k]) <= tolerance.score * score &&
              some.boxes.classes[i] == others.boxes.classes[k];
      if (found)
        used[k] = true;
    }
    count += !found && score > threshold * (1 + tolerance.score) ? 1 : 0;
  }
  return count;
}

class NetworkDevice : public testing::Test {
 protected:
  std::string element_of(const RealModel& model, const std::string& more) {
    const std::string path = printed_by(model.script);
    return path.empty() ? path
                        : std::string("crowddetect name=detect detector=") + model.detector + " model=" + path +
                              " engine=onnxruntime max-candidates=20000 score-threshold=" + std::to_string(threshold) +
                              ' ' + more;
  }

  /// The candidates of a frame in device memory; of a capacity of 0 where it was not searched, for the reason `why`.
  MetaBoxes find_on_device(Pipe& pipe, GstBuffer* system, const GstVideoInfo& info, std::string& why) {
    Ref<GstBuffer> frame = gpu_.frame_like(system, info);
    if (pipe.push(std::move(frame)) != GST_FLOW_OK) {
      const Ref<GstMessage> message = pop_message(pipe.bus(), GST_MESSAGE_ERROR);
      why = message ? message_text(message.get()) : "no message";
      return {};
    }
    const Ref<GstBuffer> out = pipe.pull();
    EXPECT_EQ(gpu_.synchronise(), cudaSuccess);
    const GstCrowdBoxesMeta* meta = out ? gst_buffer_get_crowd_boxes_meta(out.get()) : nullptr;
    EXPECT_NE(meta, nullptr);
    if (!meta)
      return {};
    EXPECT_TRUE(is_cuda_memory(meta->memory));
    return read(meta);
  }

  /// The same candidates, at least `fewest`, of which one in 1000 may have no like.
  void compare(const RealModel& model, const std::string& more, const GstVideoInfo& info, unsigned fewest,
               Tolerance tolerance) {
    const std::string element = element_of(model, more);
    if (element.empty())
      GTEST_SKIP() << model.detector << " cannot be fetched";
    Pipe device(element, &gpu_), host(element);
    device.set_caps(info, true);
    if (const Ref<GstMessage> message = pop_message(device.bus(), GST_MESSAGE_ERROR))
      GTEST_SKIP() << message_text(message.get());
    host.set_caps(info, false);
    const Ref<GstBuffer> picture = people(info);
    const Ref<GstBuffer> out = host.pass(people(info));
    ASSERT_NE(out, nullptr);
    const MetaBoxes expected = read(gst_buffer_get_crowd_boxes_meta(out.get()));
    EXPECT_GE(expected.count, fewest);
    for (int i = 0; i < 3; i++) {
      std::string why;
      const MetaBoxes found = find_on_device(device, picture.get(), info, why);
      ASSERT_GT(found.capacity, 0U) << why;
      const unsigned may_differ = expected.count / 1000;
      EXPECT_LE(without_like(expected, found, tolerance), may_differ) << expected.count;
      EXPECT_LE(without_like(found, expected, tolerance), may_differ) << found.count;
    }
    EXPECT_EQ(device.stat("detect", "failures"), 0U);
  }

  const Gpu gpu_;
};

constexpr Tolerance same_floats = {1, 5e-3F};

TEST_F(NetworkDevice, finds_persons_as_the_host_does) {
  for (const char* format : {"NV12", "RGBA"})
    compare(persons, "tiles=3x3", info_of(format, 640, 480), 200, same_floats);
}

/// The picture has people, of whom that network takes few places for faces.
TEST_F(NetworkDevice, finds_faces_as_the_host_does) {
  compare(faces, "", info_of("NV12", 640, 480), 50, same_floats);
  compare(faces, "tiles=2x2", info_of("NV12", 640, 480), 100, same_floats);
}

/// Float16 moves boxes by up to 1 % of an anchor's size, and scores by up to 0.025: both ways at the threshold, hence
/// all that is well above it has a like.
TEST_F(NetworkDevice, finds_persons_in_half_precision) {
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const std::string on_device = element_of(half_persons, "tiles=3x3"), on_host = element_of(persons, "tiles=3x3");
  if (on_device.empty() || on_host.empty())
    GTEST_SKIP() << "person-net cannot be fetched";
  Pipe device(on_device, &gpu_), host(on_host);
  device.set_caps(info, true);
  if (const Ref<GstMessage> message = pop_message(device.bus(), GST_MESSAGE_ERROR))
    GTEST_SKIP() << message_text(message.get());
  host.set_caps(info, false);
  const Ref<GstBuffer> picture = people(info), out = host.pass(people(info));
  ASSERT_NE(out, nullptr);
  const MetaBoxes expected = read(gst_buffer_get_crowd_boxes_meta(out.get()));
  std::string why;
  const MetaBoxes found = find_on_device(device, picture.get(), info, why);
  ASSERT_GT(found.capacity, 0U) << why;
  EXPECT_NEAR(found.count, expected.count, expected.count * .1);
  const auto lost = [](const MetaBoxes& some, const MetaBoxes& others) {
    MetaBoxes sure = some;
    sure.boxes = {};
    for (std::uint32_t i = 0; i < some.boxes.size(); i++)
      if (some.boxes.scores[i] > 0.1F)
        sure.boxes.add(some.boxes.boxes[i], some.boxes.scores[i], some.boxes.classes[i]);
    EXPECT_GT(sure.boxes.size(), 10U);
    return without_like(sure, others, {4, 0.25F});
  };
  EXPECT_EQ(lost(expected, found), 0U);
  EXPECT_EQ(lost(found, expected), 0U);
}

/// They share the network, and each finds what is in its own frames.
TEST_F(NetworkDevice, elements_do_not_disturb_each_other) {
  const GstVideoInfo info = info_of("NV12", 640, 480);
  const std::string description = element_of(persons, "tiles=2x2");
  if (description.empty())
    GTEST_SKIP() << "person-net cannot be fetched";
  std::vector<std::unique_ptr<Pipe>> pipes;
  for (int i = 0; i < 4; i++) {
    pipes.push_back(std::make_unique<Pipe>(description, &gpu_));
    pipes.back()->set_caps(info, true);
    if (const Ref<GstMessage> message = pop_message(pipes.back()->bus(), GST_MESSAGE_ERROR))
      GTEST_SKIP() << message_text(message.get());
  }
  const Ref<GstBuffer> with_people = people(info), without = noise(info, 1);
  std::vector<MetaBoxes> first;
  for (int round = 0; round < 6; round++) {
    std::vector<Ref<GstBuffer>> outs;
    for (std::size_t i = 0; i < pipes.size(); i++)
      outs.push_back(pipes[i]->pass(gpu_.frame_like(i % 2 ? without.get() : with_people.get(), info)));
    EXPECT_EQ(gpu_.synchronise(), cudaSuccess);
    for (std::size_t i = 0; i < pipes.size(); i++) {
      ASSERT_TRUE(outs[i]);
      const MetaBoxes found = read(gst_buffer_get_crowd_boxes_meta(outs[i].get()));
      if (first.size() < 2)
        first.push_back(found);
      EXPECT_EQ(without_like(first[i % 2], found, same_floats), 0U) << round << ' ' << i;
      EXPECT_EQ(found.count, first[i % 2].count) << round << ' ' << i;
    }
  }
  EXPECT_NE(first[0].count, first[1].count);
  // Other tiles are another network, and the others keep theirs.
  const Ref<GstElement> detect(gst_bin_get_by_name(GST_BIN(pipes[1]->element()), "detect"));
  g_object_set(detect.get(), "tiles", "1x1", nullptr);
  EXPECT_NE(pipes[1]->pass(gpu_.frame_like(with_people.get(), info)), nullptr);
  pipes[0].reset();
  std::string why;
  const MetaBoxes after = find_on_device(*pipes[2], with_people.get(), info, why);
  EXPECT_EQ(after.count, first[0].count) << why;
}

}  // namespace
