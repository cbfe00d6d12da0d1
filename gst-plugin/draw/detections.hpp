// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detections.hpp: what crowdoverlay draws, out of the metadata of a buffer. */
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <vector>

#include "scene.hpp"

namespace crowd::draw {

/** By what coordinates of `meta` are multiplied to be pixels of a frame of `width` times `height`. */
struct Scale {
  float x, y;
};
Scale scale_of(const GstCrowdBoxesMeta& meta, int width, int height);

/**
 * The detections of one buffer, sorted into what survived and what did not. Labels belong to the buffer's metadata.
 *
 * - Survivors: the boxes of the first GstCrowdBoxesMeta of survivors; without one, each GstVideoRegionOfInterestMeta
 * that is a detection and that no "nms" structure marks as not kept. A region is a detection if it has no parameters,
 * or is one by meta/detection.hpp; others, say hints for an encoder, are left out. Its rectangle is the region's own,
 * in pixels of the frame.
 * - Candidates: the boxes of the first GstCrowdBoxesMeta, scaled from the frame size that it names to this one. Where
 *   there is none, or none that can be read, the regions marked as not kept: crowdnms mode=annotate gives each box a
 *   region, and no candidate is read twice.
 */
struct Detections {
  std::vector<Detection> survivors;
  std::vector<Detection> candidates;
  Summary summary{};
  const char* problem = nullptr;  ///< why the boxes of a GstCrowdBoxesMeta could not be read; null if they could
  /** Those that were left in device memory, in place of the above; null if they were not. */
  const GstCrowdBoxesMeta* device_survivors = nullptr;
  const GstCrowdBoxesMeta* device_candidates = nullptr;
  /** The one of them, shown or not, whose memory says how many candidates there were; null if `summary` does. */
  const GstCrowdBoxesMeta* device_counted = nullptr;

  /** Reads `buffer`, whose frame has `width` times `height` pixels. Boxes in device memory are left there if
   *  `leave_on_device`, else downloaded. Keeps its memory from call to call. Throws std::bad_alloc; drop the object
   *  then. */
  void read(GstBuffer* buffer, int width, int height, bool leave_on_device = false);
};

}  // namespace crowd::draw
