/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * gstcrowdtrail.h: what a frame was given, in a meta without tags, which elements copy whatever they do to the picture.
 * Boxes and regions have tags and are dropped where the picture changes, so a trail without them shows a loss. Not
 * installed: other people's detectors leave a trail by gst_buffer_add_crowd_boxes_meta().
 */

#ifndef GST_CROWD_TRAIL_H
#define GST_CROWD_TRAIL_H

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstCrowdTrail:
 * @boxes: a bit for each #GstCrowdBoxesKind that was attached
 * @regions: number of #GstVideoRegionOfInterestMeta with a detection that crowdnms left
 * @objects: whether crowdnms left objects of GstAnalytics
 * @marked: whether each of these says by its structure "nms" if it is kept (mode=annotate)
 * @frame: that regions and objects were left on, see crowd::meta::Frame
 * @par_n: numerator of the shape of its pixels, width over height
 * @par_d: its denominator
 */
typedef struct {
  guint boxes;
  guint regions;
  gboolean objects;
  gboolean marked;
  struct {
    guint width, height;
    guint x, y;
    guint picture_width, picture_height;
  } frame;
  gint par_n, par_d;
} GstCrowdTrail;

/** The trail of a buffer, or NULL. Of a writable buffer it may be written. */
GST_CROWD_API GstCrowdTrail* gst_crowd_trail_get(GstBuffer* buffer);

/** Whether a meta is a trail. */
GST_CROWD_API gboolean gst_crowd_trail_is(const GstMeta* meta);

/** Puts a trail behind all metas that a writable buffer has by now, in place of the one it had: whatever copies metas
 *  copies the trail last. */
GST_CROWD_API void gst_crowd_trail_set(GstBuffer* buffer, const GstCrowdTrail* trail);

G_END_DECLS

#endif /* GST_CROWD_TRAIL_H */
