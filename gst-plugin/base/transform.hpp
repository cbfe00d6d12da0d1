// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What our elements, all of them base transforms, do alike. Header only, for every plugin.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include "base/deviceoutcome.hpp"
#include "base/runwarning.hpp"

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

/// What to put before an element that takes frames of `taken`, but not of `caps`; null if nothing is known to help.
inline const char* remedy_for(GstCaps* caps, GstCaps* taken) {
  const GstCapsFeatures* features = gst_caps_is_empty(caps) ? nullptr : gst_caps_get_features(caps, 0);
  if (!features || !gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw"))
    return nullptr;
  GstCaps* any_format = gst_caps_copy(caps);
  for (const char* field : {"format", "colorimetry", "chroma-site"})
    gst_structure_remove_field(gst_caps_get_structure(any_format, 0), field);
  const bool format_is_wrong = gst_caps_can_intersect(any_format, taken);
  gst_caps_set_features_simple(any_format, nullptr);
  const bool memory_is_wrong = gst_caps_can_intersect(any_format, taken);
  gst_caps_unref(any_format);
  if (gst_caps_features_contains(features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
    return format_is_wrong ? "videoconvert" : nullptr;
  if (gst_caps_features_contains(features, "memory:CUDAMemory"))
    return format_is_wrong   ? "cudaconvert, or cudadownload and videoconvert,"
           : memory_is_wrong ? "cudadownload"
                             : nullptr;
  return memory_is_wrong ? "the element that downloads this memory, say gldownload, and videoconvert" : nullptr;
}

/// Posts an error that names the remedy where the caps of a stream are none that the element takes. The pad refuses
/// them in any case, before the element sees them: only a probe does.
inline void explain_refused_caps(GstBaseTransform* transform) {
  const auto look = [](GstPad* pad, GstPadProbeInfo* info, gpointer element) {
    GstEvent* event = gst_pad_probe_info_get_event(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
      return GST_PAD_PROBE_OK;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    GstCaps* taken = gst_pad_get_pad_template_caps(pad);
    const char* remedy = gst_caps_can_intersect(caps, taken) ? nullptr : remedy_for(caps, taken);
    gst_caps_unref(taken);
    // A refused event is sent again before whatever follows it.
    constexpr char reported[] = "crowd-refused-caps";
    gpointer sequence = GUINT_TO_POINTER(gst_event_get_seqnum(event));
    if (!remedy || g_object_get_data(G_OBJECT(pad), reported) == sequence)
      return GST_PAD_PROBE_OK;
    g_object_set_data(G_OBJECT(pad), reported, sequence);
    const char* name = gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(gst_element_get_factory(GST_ELEMENT(element))));
    gchar* frames = gst_caps_to_string(caps);
    GST_ELEMENT_ERROR(element, CORE, NEGOTIATION,
                      ("%s does not take these frames: put %s before %s.", name, remedy, name), ("%s", frames));
    g_free(frames);
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(transform), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look, transform,
                    nullptr);
}

/// Posts why no further frame can be done on the device, and returns what to end the stream with.
inline GstFlowReturn fail_for_gpu(GstBaseTransform* transform, DeviceOutcome outcome, const char* problem) {
  if (outcome == DeviceOutcome::out_of_memory)
    GST_ELEMENT_ERROR(transform, RESOURCE, NO_SPACE_LEFT,
                      ("The GPU has no memory left (%s). Lower max-candidates of the detector and of crowdnms, use "
                       "smaller frames or fewer streams, or give other programs less of it.",
                       problem),
                      (nullptr));
  else if (outcome == DeviceOutcome::unusable)
    GST_ELEMENT_ERROR(transform, RESOURCE, SETTINGS, ("%s", problem), (nullptr));
  else
    GST_ELEMENT_ERROR(transform, RESOURCE, FAILED,
                      ("The GPU failed (%s). Restart the pipeline; if it fails again, the driver's log says why "
                       "(dmesg | grep NVRM).",
                       problem),
                      (nullptr));
  return GST_FLOW_ERROR;
}

/// For elements whose candidates take the place of those that a frame carried.
inline void warn_of_replaced(gpointer element, RunWarning& warning) {
  warning.post(element, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "Frames already carry candidates, which are replaced. Use one source of candidates.");
}

/// Takes all candidates off a buffer, as readers look at the first GstCrowdBoxesMeta alone. Whether there were any.
inline bool remove_candidates(GstBuffer* buffer) {
  bool any = false;
  while (GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_boxes_meta(buffer)) {
    any = true;
    if (!gst_buffer_remove_crowd_boxes_meta(buffer, meta))
      break;
  }
  return any;
}

}  // namespace crowd
