// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's elements before and behind crowdnms: what they detect it clusters, what it leaves they draw and track.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "heads.hpp"
#include "peers.hpp"

namespace {

using namespace crowd::test;
using testing::SizeIs;

constexpr unsigned width = 640, height = 480;

struct Box {
  int x, y, width, height;
};

/// Clusters of five candidates around each box.
Ref<GstBuffer> frame_of(const Peer& peer, std::span<const Box> boxes, int moved = 0) {
  std::vector<Candidate> candidates;
  for (const auto& [x, y, w, h] : boxes)
    for (int i = 0; i < 5; i++) {
      const float at_x = float(x + moved + i), at_y = float(y + i);
      candidates.push_back({at_x, at_y, at_x + float(w), at_y + float(h), 1 - .125F * float(i)});
    }
  Ref<GstBuffer> buffer = peer.frame();
  const Ref<GPtrArray> labels = make_labels(std::vector<std::string>{"person"});
  add_boxes(buffer.get(), candidates, {.frame_width = width, .frame_height = height, .labels = labels.get()});
  return buffer;
}

/// How far a pixel is from the outline of a box.
int distance(const Box& box, int x, int y) {
  const int right = box.x + box.width, bottom = box.y + box.height;
  if (x < box.x || x > right || y < box.y || y > bottom)
    return std::max({box.x - x, x - right, box.y - y, y - bottom});
  return std::min({x - box.x, right - x, y - box.y, bottom - y});
}

TEST(objectdetectionoverlay, draws_what_crowdnms_leaves) {
  NEED_ELEMENTS("objectdetectionoverlay");
  Peer peer("crowdnms ! objectdetectionoverlay draw-labels=false object-detection-outline-color=4294967295", width,
            height);
  const Box boxes[] = {{40, 30, 80, 160}, {200, 100, 60, 60}, {420, 300, 150, 100}};
  const auto drawn = peer.pass(frame_of(peer, boxes));
  ASSERT_THAT(detected_objects(drawn.get()), SizeIs(3));
  std::vector<guint8> luma(gsize{width} * height);
  gst_buffer_extract(drawn.get(), 0, luma.data(), luma.size());
  constexpr int stroke = 3;
  std::map<const Box*, int> bright;
  for (int y = 0; y < int(height); y++)
    for (int x = 0; x < int(width); x++) {
      const auto* near = std::ranges::find_if(boxes, [&](const Box& box) { return distance(box, x, y) <= stroke; });
      if (luma[std::size_t(y) * width + std::size_t(x)] > 100) {
        ASSERT_NE(near, std::end(boxes)) << x << " " << y;
        bright[near]++;
      }
    }
  for (const Box& box : boxes)
    EXPECT_GE(bright[&box], 2 * (box.width + box.height) - 8);
}

/// Ids of the tracks of a buffer's objects.
std::set<guint64> tracks_of(GstBuffer* buffer) {
  std::set<guint64> ids;
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (meta && gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_tracking_mtd_get_mtd_type(), &mtd)) {
    guint64 id = 0;
    GstClockTime first = 0, last = 0;
    gboolean lost = FALSE;
    gst_analytics_tracking_mtd_get_info(&mtd, &id, &first, &last, &lost);
    ids.insert(id);
  }
  return ids;
}

TEST(ioutracker, follows_what_crowdnms_leaves) {
  NEED_ELEMENTS("ioutracker");
  Peer peer("crowdnms ! ioutracker", width, height);
  const Box boxes[] = {{40, 30, 80, 160}, {200, 100, 60, 60}};
  std::set<guint64> before;
  for (int frame = 0; frame < 10; frame++) {
    SCOPED_TRACE(frame);
    const auto tracked = peer.pass(frame_of(peer, boxes, 2 * frame));
    ASSERT_THAT(detected_objects(tracked.get()), SizeIs(2));
    const auto tracks = tracks_of(tracked.get());
    ASSERT_THAT(tracks, SizeIs(2));
    if (frame > 0) {
      EXPECT_EQ(tracks, before);
    }
    before = tracks;
  }
}

TEST(crowdnms, clusters_what_yolov8tensordec_detects) {
  NEED_ELEMENTS("yolov8tensordec");
  Peer raw("yolov8tensordec class-confidence-threshold=0.2 iou-threshold=1 max-detections=10000", width, height,
           "yolov8tensordec");
  Peer clustered(
      "yolov8tensordec class-confidence-threshold=0.2 iou-threshold=1 max-detections=10000 ! "
      "crowdnms iou-threshold=0.5 class-agnostic=true meta-output=analytics",
      width, height, "yolov8tensordec");
  Peer decoder("yolov8tensordec class-confidence-threshold=0.2 iou-threshold=0.5 max-detections=10000", width, height,
               "yolov8tensordec");
  unsigned compared = 0;
  for (unsigned seed = 0; seed < 50; seed++) {
    SCOPED_TRACE(seed);
    YoloHead head = make_head(seed, width, height);
    // Within the frame, where the decoder's overlap is that of the boxes.
    for (std::size_t i = 0; i < head.places; i++) {
      head.at(0, i) = std::clamp(head.at(0, i), 140.F, 500.F);
      head.at(1, i) = std::clamp(head.at(1, i), 170.F, 310.F);
      head.at(2, i) = std::max(head.at(2, i), 1.F);
      head.at(3, i) = std::max(head.at(3, i), 1.F);
    }
    const auto before = detected_objects(raw.pass(head.tensors()).get());
    const auto after = detected_objects(clustered.pass(head.tensors()).get());
    EXPECT_LT(after.size(), before.size());
    EXPECT_EQ(after, detected_objects(decoder.pass(head.tensors()).get()));
    compared += unsigned(after.size());
  }
  EXPECT_GT(compared, 500u);
}

}  // namespace
