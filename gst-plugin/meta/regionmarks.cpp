// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/regionmarks.hpp"

#include <algorithm>

#include "base/detection.hpp"
#include "lib/gstcrowdtrail.h"

namespace crowd::meta {

void mark(GstVideoRegionOfInterestMeta* roi, const Cluster& cluster, float score) {
  const RegionQuarks& q = quarks();
  GstStructure* nms = find_param(*roi, q.nms);
  if (!nms) {
    nms = gst_structure_new_id_empty(q.nms);
    gst_video_region_of_interest_meta_add_param(roi, nms);
  }
  const guint suppressed = cluster.members ? cluster.members - 1 : 0;
  gst_structure_id_set(nms, q.cluster_id, G_TYPE_INT, cluster.id, q.members, G_TYPE_UINT, cluster.members, q.score,
                       G_TYPE_DOUBLE, double(score), q.suppressed, G_TYPE_UINT, suppressed, q.kept, G_TYPE_BOOLEAN,
                       gboolean(cluster.kept), nullptr);
}

int largest_region_id(GstBuffer* buffer) {
  int largest = 0;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    largest = std::max(largest, reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->id);
  return largest;
}

namespace {

void set_frame(GstCrowdTrail& trail, GstBuffer* buffer, FrameSize size) {
  const PictureFrame frame = frame_of(buffer, size.width, size.height);
  trail.frame = {frame.width, frame.height, frame.x, frame.y, frame.picture_width, frame.picture_height};
  trail.par_n = size.par_n;
  trail.par_d = size.par_d;
}

}  // namespace

void leave_trail_of_objects(GstBuffer* buffer, FrameSize size) {
  const GstCrowdTrail* before = gst_crowd_trail_get(buffer);
  GstCrowdTrail trail = before ? *before : GstCrowdTrail{};
  trail.objects = TRUE;
  set_frame(trail, buffer, size);
  gst_crowd_trail_set(buffer, &trail);
}

void leave_trail(GstBuffer* buffer, FrameSize size, guint regions, Mode mode) {
  const GstCrowdTrail* before = gst_crowd_trail_get(buffer);
  if (!before && regions == 0)
    return;
  GstCrowdTrail trail = before ? *before : GstCrowdTrail{};
  trail.regions = regions;
  // Those of a crowdnms before this one are of survivors that these replace.
  if (!gst_buffer_get_crowd_survivors_meta(buffer))
    trail.boxes &= ~(1u << GST_CROWD_BOXES_SURVIVORS);
  trail.marked = mode == Mode::annotate;
  set_frame(trail, buffer, size);
  gst_crowd_trail_set(buffer, &trail);
}

}  // namespace crowd::meta
