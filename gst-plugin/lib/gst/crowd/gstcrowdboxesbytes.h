/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_BOXES_BYTES_H
#define GST_CROWD_BOXES_BYTES_H

/**
 * SECTION:gstcrowdboxesbytes
 * @title: Boxes as bytes
 * @short_description: for languages that do not write into a mapped memory
 *
 * A detector in Python attaches what numpy holds, and reads boxes back into numpy, bit for bit. Numbers are in the byte
 * order of the machine; boxes lie one after the other.
 *
 * |[<!-- language="Python" -->
 * def to_bytes(array, dtype):
 *     return GLib.Bytes.new(numpy.ascontiguousarray(array, dtype).tobytes())
 *
 * GstCrowd.buffer_add_crowd_boxes_meta_from_bytes(
 *     buffer, to_bytes(boxes, "f4"), to_bytes(scores, "f4"), None, ["person"], width, height)
 * boxes, scores, classes, members, candidates = meta.get_bytes()
 * boxes = numpy.frombuffer(boxes.get_data(), "f4").reshape(-1, 4)
 * ]|
 *
 * A detector in a pad probe has no writable buffer: the probe holds it for others. A transform element that works in
 * place, such as a subclass of GstBase.BaseTransform, has.
 *
 * Since: 0.1
 */

#include <gst/crowd/gstcrowdboxesmeta.h>

G_BEGIN_DECLS

/**
 * GST_CROWD_ERROR:
 *
 * Domain of errors, see #GstCrowdError.
 *
 * Since: 0.1
 */
#define GST_CROWD_ERROR (gst_crowd_error_quark ())

/**
 * GstCrowdError:
 * @GST_CROWD_ERROR_LENGTH: arrays are not of the lengths that belong together
 * @GST_CROWD_ERROR_NOT_WRITABLE: the buffer is not writable
 * @GST_CROWD_ERROR_MEMORY: a memory is too large, cannot be mapped or holds no boxes
 *
 * What was wrong. The message of the error says what to do.
 *
 * Since: 0.1
 */
typedef enum {
  GST_CROWD_ERROR_LENGTH,
  GST_CROWD_ERROR_NOT_WRITABLE,
  GST_CROWD_ERROR_MEMORY
} GstCrowdError;

GST_CROWD_API GQuark gst_crowd_error_quark (void);

/**
 * gst_buffer_add_crowd_boxes_meta_from_bytes:
 * @buffer: a writable buffer
 * @boxes: #GstCrowdBox [n]: float32 x1 y1 x2 y2 of each, 16 bytes a box; n may be 0
 * @scores: float32 [n]
 * @classes: (nullable): int32 [n]; %NULL where all are of class 0
 * @labels: (nullable) (array zero-terminated=1): name of each class, from 0
 * @frame_width: width in pixels of the frame of @buffer, which coordinates are pixels of; 0 if unknown
 * @frame_height: its height
 * @error: return location for a #GstCrowdError
 *
 * Attaches candidates, as gst_buffer_add_crowd_boxes_meta() does, in a memory of its own. Everything is copied once.
 * Values are not looked at: crowdnms counts what is NaN or empty as invalid.
 *
 * Set placement and confidence_slope of the meta afterwards, where they differ from the default.
 *
 * Returns: (transfer none): the meta on @buffer, valid as long as it is there; %NULL if @error is set, nothing is
 * attached then
 *
 * Since: 0.1
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_add_crowd_boxes_meta_from_bytes (GstBuffer *buffer, GBytes *boxes,
    GBytes *scores, GBytes *classes, const gchar *const *labels, guint frame_width, guint frame_height,
    GError **error);

/**
 * gst_crowd_boxes_meta_get_bytes:
 * @meta: candidates or survivors
 * @boxes: (out) (transfer full) (optional): #GstCrowdBox [n], float32 x1 y1 x2 y2 of each
 * @scores: (out) (transfer full) (optional): float32 [n], the detector's own
 * @classes: (out) (transfer full) (optional): int32 [n]
 * @members: (out) (transfer full) (optional) (nullable): uint32 [n], how many candidates each survivor represents, itself
 *   included; %NULL for candidates
 * @candidates: (out) (optional): the number of candidates that survivors were chosen from; of candidates their number,
 *   which is above n where there was no room for all
 * @error: return location for a #GstCrowdError
 *
 * Copies what @meta holds; survivors come best first. CUDA memory is downloaded. Coordinates are those that the detector
 * attached: gst_crowd_boxes_meta_get_placement() says where they lie in the frame if something scaled it since.
 *
 * Returns: (skip): %FALSE if @error is set, and nothing else is then
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_meta_get_bytes (const GstCrowdBoxesMeta *meta, GBytes **boxes, GBytes **scores,
    GBytes **classes, GBytes **members, guint *candidates, GError **error);

/**
 * gst_crowd_boxes_meta_get_label:
 * @meta: candidates or survivors
 * @class_id: a class of its boxes
 *
 * Returns: (transfer none) (nullable): the name of this class; %NULL if it has none
 *
 * Since: 0.1
 */
GST_CROWD_API const gchar *gst_crowd_boxes_meta_get_label (const GstCrowdBoxesMeta *meta, gint class_id);

G_END_DECLS

#endif /* GST_CROWD_BOXES_BYTES_H */
