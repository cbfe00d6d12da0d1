// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What our elements, all of them base transforms, do alike. Header only, for every plugin.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include "deviceoutcome.hpp"

namespace crowd {

/// Stream time of a buffer; GST_CLOCK_TIME_NONE outside time segments and without a timestamp.
inline GstClockTime stream_time_of(const GstBaseTransform* transform, GstBuffer* buffer) {
  const GstSegment* segment = &transform->segment;
  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(buffer))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

/// Sets controlled properties to their values at the buffer's stream time; for GstBaseTransformClass.before_transform.
inline void sync_controlled_properties(GstBaseTransform* transform, GstBuffer* buffer) {
  const GstClockTime time = stream_time_of(transform, buffer);
  if (GST_CLOCK_TIME_IS_VALID(time))
    gst_object_sync_values(GST_OBJECT(transform), time);
}

/// Posts that the device has no memory left, or else that CUDA failed for good, and returns what to end the stream
/// with.
inline GstFlowReturn fail_for_gpu(GstBaseTransform* transform, DeviceOutcome outcome, const char* problem) {
  if (outcome == DeviceOutcome::out_of_memory)
    GST_ELEMENT_ERROR(transform, RESOURCE, NO_SPACE_LEFT,
                      ("The GPU has no memory left (%s). Lower max-candidates of the detector and of crowdnms, use "
                       "smaller frames or fewer streams, or give other programs less of it.",
                       problem),
                      (nullptr));
  else
    GST_ELEMENT_ERROR(transform, RESOURCE, FAILED,
                      ("The GPU failed (%s). Restart the pipeline; if it fails again, the driver's log says why "
                       "(dmesg | grep NVRM).",
                       problem),
                      (nullptr));
  return GST_FLOW_ERROR;
}

/// Takes all candidates off a buffer, as readers look at the first GstCrowdBoxesMeta alone. Whether there were any.
inline bool remove_candidates(GstBuffer* buffer) {
  bool any = false;
  while (GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer)) {
    any = true;
    if (!gst_buffer_remove_meta(buffer, &meta->meta))
      break;
  }
  return any;
}

}  // namespace crowd
