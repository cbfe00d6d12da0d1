// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's tensor decoders and the rules that stand for them in crowdtensordec, on the same tensors.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "heads.hpp"
#include "peers.hpp"
#include "tensordec/stockrule.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAreArray;

std::vector<Detected> by_rule(const char* layout, std::span<const FloatTensor> outputs,
                              const crowd::StockSettings& settings, const std::string& label) {
  std::vector<crowd::tensors::Tensor> tensors;
  for (const FloatTensor& output : outputs)
    tensors.push_back({crowd::tensors::Type::float32, {output.dims.begin(), output.dims.end()}, output.values.data()});
  std::vector<crowd::tensors::RawBox> kept;
  std::string problem;
  EXPECT_TRUE(crowd::StockRule::of_layout(layout)->select(tensors, settings, kept, problem)) << problem;
  std::vector<Detected> objects;
  for (const auto& box : kept)
    objects.push_back({int(box.x1), int(box.y1), int(box.x2 - box.x1), int(box.y2 - box.y1), box.score, label});
  return objects;
}

constexpr char faces_layout[] = "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out";
constexpr unsigned width = 640, height = 480;

std::string yolo_settings(float threshold, float iou, unsigned max) {
  return " class-confidence-threshold=" + std::to_string(threshold) + " iou-threshold=" + std::to_string(iou) +
         " max-detections=" + std::to_string(max);
}

TEST(yolov8tensordec, leaves_what_its_rule_says) {
  NEED_ELEMENTS("yolov8tensordec");
  for (const float iou : {.25F, .75F}) {
    Peer peer("yolov8tensordec" + yolo_settings(.25F, iou, 100), width, height, "yolov8tensordec");
    for (unsigned seed = 0; seed < 500; seed++) {
      SCOPED_TRACE(seed);
      const YoloHead head = make_head(seed, width, height);
      const auto buffer = peer.pass(head.tensors());
      ASSERT_THAT(
          detected_objects(buffer.get()),
          ElementsAreArray(by_rule("yolo-v8-out", head.tensors(), {.25F, iou, 100, width, height}, "Yolo-None")));
    }
  }
}

/// Boxes and confidences: without a label file decoders have names of their own for what has none.
std::vector<Detected> unnamed(std::vector<Detected> objects) {
  for (Detected& object : objects)
    object.label.clear();
  return objects;
}

TEST(crowdtensordec, takes_the_place_of_yolov8tensordec) {
  NEED_ELEMENTS("yolov8tensordec");
  constexpr unsigned first = 1000, seeds_each = 84;  // 1008 seeds in all
  unsigned seed = first;
  for (const float iou : {.25F, .45F, .75F, 1.F})
    for (const float threshold : {.01F, .25F, .6F}) {
      const std::string settings = yolo_settings(threshold, iou, seed % 2 ? 10000 : 60);
      Peer stock("yolov8tensordec" + settings, width, height, "yolov8tensordec");
      Peer ours("crowdtensordec compatibility=stock" + settings, width, height, "yolov8tensordec");
      for (unsigned i = 0; i < seeds_each; i++, seed++) {
        SCOPED_TRACE(std::to_string(seed) + settings);
        const YoloHead head = make_head(seed, width, height, Scores::distinct, i % 28 ? 0 : 8400);
        const auto expected = unnamed(detected_objects(stock.pass(head.tensors()).get()));
        ASSERT_FALSE(expected.empty());
        ASSERT_THAT(unnamed(detected_objects(ours.pass(head.tensors()).get())), ElementsAreArray(expected));
      }
    }
  EXPECT_GE(seed - first, 1000u);
}

TEST(crowdtensordec, takes_the_place_of_ultralightfacedetectortensordec) {
  NEED_ELEMENTS("ultralightfacedetectortensordec");
  const std::string settings = " score-threshold=0.5 iou-threshold=0.25";
  Peer stock("ultralightfacedetectortensordec" + settings, width, height, "ultralightfacedetectortensordec");
  Peer ours("crowdtensordec compatibility=stock max-detections=100000" + settings, width, height,
            "ultralightfacedetectortensordec");
  for (unsigned seed = 1000; seed < 1200; seed++) {
    SCOPED_TRACE(seed);
    const FaceHead head = make_faces(seed);
    ASSERT_THAT(detected_objects(ours.pass(head.tensors()).get()),
                ElementsAreArray(detected_objects(stock.pass(head.tensors()).get())));
  }
}

TEST(ultralightfacedetectortensordec, leaves_what_its_rule_says) {
  NEED_ELEMENTS("ultralightfacedetectortensordec");
  Peer peer("ultralightfacedetectortensordec score-threshold=0.5 iou-threshold=0.25", width, height,
            "ultralightfacedetectortensordec");
  for (unsigned seed = 0; seed < 500; seed++) {
    SCOPED_TRACE(seed);
    const FaceHead head = make_faces(seed);
    const auto buffer = peer.pass(head.tensors());
    ASSERT_THAT(detected_objects(buffer.get()),
                ElementsAreArray(by_rule(faces_layout, head.tensors(), {.5F, .25F, 100000, width, height}, "face")));
  }
}

}  // namespace
