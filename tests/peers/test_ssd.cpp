// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's ssdobjectdetector in front of crowdnms: what it detects, by its rule in plain words, and what NMS leaves
// of that. It has thresholds of score and size, and no NMS: networks of its layout have done that.

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "heads.hpp"
#include "peers.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAreArray;

constexpr unsigned width = 640, height = 480;
constexpr float score_threshold = .375F, size_threshold = .5F;

/// y x y x from 0 to 1, scores, and how many count.
struct SsdHead {
  std::vector<float> boxes, scores, classes, count;

  std::vector<FloatTensor> tensors() const {
    guint minor = 0, other = 0;
    gst_version(&other, &minor, &other, &other);
    const bool old = minor < 28;
    const std::size_t places = scores.size();
    return {{old ? "Gst.Model.ObjectDetector.Boxes" : "ssd-mobilenet-v1-variant-1-out-boxes", {1, places, 4}, boxes},
            {old ? "Gst.Model.ObjectDetector.Scores" : "ssd-mobilenet-v1-variant-1-out-scores", {1, places}, scores},
            {old ? "Gst.Model.ObjectDetector.Classes" : "ssd-mobilenet-v1-variant-1-out-classes", {1, places}, classes},
            {old ? "Gst.Model.ObjectDetector.NumDetections" : "generic-variant-1-out-count", {1}, count}};
  }
};

/// In clusters, some beyond the edges, a few as large as the frame; the count may be less than there is, or more.
SsdHead make_ssd(unsigned seed, Scores kind) {
  std::mt19937 random(seed);
  const auto uniform = [&random](float low, float high) { return std::uniform_real_distribution(low, high)(random); };
  constexpr std::size_t places = 100;
  SsdHead head{{}, make_scores(places, kind, random), std::vector<float>(places, 1), {float(50 + random() % 100)}};
  for (std::size_t i = 0; i < places; i++) {
    const float x = std::round(uniform(-1, 6)) / 6 + uniform(-.02F, .02F);
    const float y = std::round(uniform(-1, 3)) / 3 + uniform(-.02F, .02F);
    const bool large = i % 25 == 0;
    const float w = large ? uniform(.7F, 2) : uniform(.05F, .2F), h = large ? uniform(.7F, 2) : uniform(.05F, .3F);
    head.boxes.insert(head.boxes.end(), {y, x, y + h, x + w});
  }
  return head;
}

std::vector<Detected> by_the_book(const SsdHead& head) {
  std::vector<Detected> objects;
  const std::size_t n = std::min(head.scores.size(), std::size_t(head.count[0]));
  for (std::size_t i = 0; i < n; i++) {
    const float* box = &head.boxes[4 * i];
    // What it calls the size is how far right and down the box reaches.
    const float reach = std::clamp(box[3], 0.F, 1.F) * std::clamp(box[2], 0.F, 1.F);
    if (head.scores[i] < score_threshold || reach > size_threshold)
      continue;
    const int x = int(box[1] * float(width)), y = int(box[0] * float(height));
    objects.push_back(
        {x, y, int(box[3] * float(width) - float(x)), int(box[2] * float(height) - float(y)), head.scores[i], ""});
  }
  return objects;
}

float iou(const Detected& a, const Detected& b) {
  const int w = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const int h = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (w <= 0 || h <= 0)
    return 0;
  return float(w * h) / float(a.width * a.height + b.width * b.height - w * h);
}

/// Greedy NMS, of equal scores the earlier one first; survivors in the order in which they were.
std::vector<Detected> clustered(const std::vector<Detected>& objects) {
  std::vector<std::size_t> order(objects.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return objects[a].confidence > objects[b].confidence; });
  for (const std::size_t i : order)
    if (std::ranges::none_of(kept, [&](std::size_t j) { return iou(objects[i], objects[j]) > .5F; }))
      kept.push_back(i);
  std::ranges::sort(kept);
  std::vector<Detected> left;
  for (const std::size_t i : kept)
    left.push_back(objects[i]);
  return left;
}

TEST(crowdnms, clusters_what_ssdobjectdetector_detects) {
  NEED_ELEMENTS("ssdobjectdetector");
  const std::string detector = "ssdobjectdetector score-threshold=0.375 size-threshold=0.5 ";
  Peer raw(detector, width, height, "ssdobjectdetector");
  Peer both(detector + "! crowdnms iou-threshold=0.5", width, height, "ssdobjectdetector");
  std::size_t detected = 0, left = 0;
  for (unsigned seed = 0; seed < 300; seed++) {
    SCOPED_TRACE(seed);
    constexpr Scores kinds[] = {Scores::distinct, Scores::eighths, Scores::saturated};
    const SsdHead head = make_ssd(seed, kinds[seed % 3]);
    const auto expected = by_the_book(head);
    ASSERT_THAT(detected_objects(raw.pass(head.tensors()).get()), ElementsAreArray(expected));
    const auto survivors = clustered(expected);
    ASSERT_THAT(detected_objects(both.pass(head.tensors()).get()), ElementsAreArray(survivors));
    detected += expected.size();
    left += survivors.size();
  }
  EXPECT_GT(left, 1000u);
  EXPECT_LT(left, detected * 9 / 10);
}

}  // namespace
