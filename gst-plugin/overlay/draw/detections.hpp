// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detections.hpp: what crowdoverlay draws, out of the metadata of a buffer. */
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <vector>

#include "meta/objects.hpp"
#include "overlay/draw/composer.hpp"

namespace crowd::draw {

using ShownFrame = meta::ShownSize;

/**
 * The detections of one buffer, sorted into what survived and what did not. Labels belong to the buffer's metadata.
 *
 * - Survivors: the boxes of the first GstCrowdBoxesMeta of survivors; without one, the objects of another kind of
 * metadata that are kept, see meta/objects.hpp.
 * - Candidates: the boxes of the first GstCrowdBoxesMeta of candidates. Where there is none, or none that can be read,
 * the objects that are not kept: crowdnms mode=annotate leaves each box as one, and no candidate is read twice.
 *
 * Boxes that are not of the shown frame are left out, and `problem` says so.
 */
struct Detections {
  std::vector<Detection> survivors;
  std::vector<Detection> candidates;
  Summary summary{};
  const char* problem = nullptr;  ///< what is not among them, and why; null: nothing
  /** Those that were left in device memory, in place of the above; null if they were not. */
  const GstCrowdBoxesMeta* device_survivors = nullptr;
  const GstCrowdBoxesMeta* device_candidates = nullptr;
  Placement survivors_placement, candidates_placement;  ///< of those in device memory
  /** The one of them, shown or not, whose memory says how many candidates there were; null if `summary` does. */
  const GstCrowdBoxesMeta* device_counted = nullptr;

  /** Reads `buffer`. Boxes in device memory are left there if `leave_on_device`, else downloaded. That candidates were
   *  lost is a problem if they are needed. Keeps its memory from call to call, and what it knows of the stream. Throws
   *  std::bad_alloc; drop the object then. */
  void read(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device = false, bool candidates_needed = false);

 private:
  void read_objects(GstBuffer* buffer, const ShownFrame& frame);
  void read_survivors(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device);
  void read_candidates(GstBuffer* buffer, const ShownFrame& frame, bool leave_on_device, bool needed);

  meta::ObjectReaders readers_;
  meta::Objects objects_;
};

}  // namespace crowd::draw
