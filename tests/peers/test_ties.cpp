// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's tensor decoders and crowdtensordec in their place, on frames with equal scores, whose order they leave
// undefined. Where equal ones do not overlap, the same boxes are left, in whatever order. Where they do, each leaves
// boxes that suppress all the others, and none of each other.

#include <gmock/gmock.h>

#include <algorithm>

#include "heads.hpp"
#include "peers.hpp"
#include "pixel_iou.hpp"

namespace {

using namespace crowd::test;
using testing::Contains;
using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

constexpr unsigned width = 640, height = 480, all = 100000;
constexpr Scores tied[] = {Scores::eighths, Scores::saturated};

std::string yolo_settings(float iou) {
  return " class-confidence-threshold=0.1 max-detections=" + std::to_string(all) +
         " iou-threshold=" + std::to_string(iou);
}

/// Boxes and confidences, whose classes have other names there without a label file.
std::vector<Detected> objects_of(Peer& peer, std::span<const FloatTensor> tensors) {
  std::vector<Detected> objects = detected_objects(peer.pass(tensors).get());
  for (Detected& object : objects)
    object.label.clear();
  return objects;
}

TEST(yolov8tensordec, leaves_the_same_of_ties_that_lie_apart) {
  NEED_ELEMENTS("yolov8tensordec");
  for (const float iou : {.05F, .45F}) {
    Peer stock("yolov8tensordec" + yolo_settings(iou), width, height, "yolov8tensordec");
    Peer ours("crowdtensordec compatibility=stock" + yolo_settings(iou), width, height, "yolov8tensordec");
    for (unsigned seed = 0; seed < 100; seed++) {
      const Scores kind = tied[seed % 2];
      SCOPED_TRACE(seed);
      const YoloHead head = make_head_apart(seed, width, height, kind);
      const auto expected = objects_of(stock, head.tensors());
      ASSERT_GE(expected.size(), Apart::columns * Apart::rows);
      if (kind == Scores::eighths) {
        ASSERT_LT(expected.size(), head.places);
      }
      ASSERT_THAT(objects_of(ours, head.tensors()), UnorderedElementsAreArray(expected));
    }
  }
}

TEST(ultralightfacedetectortensordec, leaves_the_same_of_ties_that_lie_apart) {
  NEED_ELEMENTS("ultralightfacedetectortensordec");
  const std::string settings = " score-threshold=0.1 iou-threshold=0.25";
  Peer stock("ultralightfacedetectortensordec" + settings, width, height, "ultralightfacedetectortensordec");
  Peer ours("crowdtensordec compatibility=stock max-detections=100000" + settings, width, height,
            "ultralightfacedetectortensordec");
  for (unsigned seed = 0; seed < 100; seed++) {
    SCOPED_TRACE(seed);
    // It keeps room for as many places as the first frame has.
    const FaceHead head = make_faces_apart(seed, tied[seed >= 50]);
    const auto expected = objects_of(stock, head.tensors());
    ASSERT_GE(expected.size(), Apart::columns * Apart::rows);
    ASSERT_THAT(objects_of(ours, head.tensors()), UnorderedElementsAreArray(expected));
  }
}

float iou(const Detected& a, const Detected& b) {
  return pixel_iou({a.x, a.y, a.width, a.height}, {b.x, b.y, b.width, b.height});
}

void expect_greedy(const std::vector<Detected>& kept, const std::vector<Detected>& candidates, float threshold) {
  ASSERT_THAT(candidates, IsSupersetOf(kept));
  for (std::size_t i = 0; i < kept.size(); i++)
    for (std::size_t j = 0; j < i; j++)
      ASSERT_LE(iou(kept[i], kept[j]), threshold) << i << " " << j;
  for (const Detected& candidate : candidates) {
    const bool suppressed = std::ranges::any_of(kept, [&](const Detected& other) {
      return other.confidence >= candidate.confidence && iou(other, candidate) > threshold;
    });
    if (!suppressed) {
      ASSERT_THAT(kept, Contains(candidate));
    }
  }
  ASSERT_TRUE(std::ranges::is_sorted(kept, std::ranges::greater(), &Detected::confidence));
}

TEST(yolov8tensordec, leaves_of_ties_that_overlap_what_suppresses_the_others) {
  NEED_ELEMENTS("yolov8tensordec");
  constexpr float threshold = .45F;
  Peer raw("yolov8tensordec" + yolo_settings(1), width, height, "yolov8tensordec");
  Peer stock("yolov8tensordec" + yolo_settings(threshold), width, height, "yolov8tensordec");
  Peer ours("crowdtensordec compatibility=stock" + yolo_settings(threshold), width, height, "yolov8tensordec");
  std::size_t suppressed = 0;
  for (unsigned seed = 0; seed < 60; seed++) {
    SCOPED_TRACE(seed);
    const YoloHead head = make_head(seed, width, height, tied[seed % 2]);
    const auto candidates = objects_of(raw, head.tensors());
    for (Peer* peer : {&stock, &ours}) {
      const auto kept = objects_of(*peer, head.tensors());
      suppressed += candidates.size() - kept.size();
      ASSERT_NO_FATAL_FAILURE(expect_greedy(kept, candidates, threshold));
    }
  }
  EXPECT_GT(suppressed, 1000u);
}

}  // namespace
