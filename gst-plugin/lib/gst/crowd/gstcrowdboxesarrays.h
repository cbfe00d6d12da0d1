/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_BOXES_ARRAYS_H
#define GST_CROWD_BOXES_ARRAYS_H

/**
 * SECTION:gstcrowdboxesarrays
 * @title: More of each candidate
 * @short_description: what rules and methods of crowdnms read beside boxes
 *
 * Arrays behind those that every memory of boxes has, see #GstCrowdBoxesLayout. Values are not looked at when they are
 * attached. A visible box is in the coordinates of boxes, and placed with them. A density that is NaN counts as 0, and
 * features with a NaN as unlike all others; crowdnms warns of candidates with either once, and counts them, where it
 * reads them on the host. Where it weighs models, it counts candidates of a model that has no weight as invalid.
 *
 * |[<!-- language="C" -->
 * GstMemory *memory = gst_crowd_boxes_memory_new_with (capacity, GST_CROWD_BOXES_FEATURES, 32);
 * if (memory && gst_crowd_boxes_map_memory_with (&map, memory, capacity, GST_CROWD_BOXES_FEATURES, 32, GST_MAP_WRITE)) {
 *   ...
 *   gst_crowd_boxes_unmap (&map);
 *   meta = gst_buffer_add_crowd_boxes_meta (buffer, memory, capacity, width, height, NULL);
 *   meta->arrays = GST_CROWD_BOXES_FEATURES;
 *   meta->feature_length = 32;
 * }
 * ]|
 *
 * or, in Python, after buffer_add_crowd_boxes_meta_from_bytes():
 *
 * |[<!-- language="Python" -->
 * meta.set_array_bytes(to_bytes(densities, "f4"), None, None, to_bytes(features, "f4"))
 * densities, proposals, visible, features, models = meta.get_array_bytes()
 * features = numpy.frombuffer(features.get_data(), "f4").reshape(-1, meta.feature_length)
 * ]|
 *
 * Survivors have no such arrays.
 *
 * Since: 0.1
 */

#include <gst/crowd/gstcrowdboxesmeta.h>

G_BEGIN_DECLS

/**
 * GstCrowdBoxesArrays:
 * @GST_CROWD_BOXES_NO_ARRAYS: none
 * @GST_CROWD_BOXES_DENSITIES: gfloat [capacity]: the largest overlap (IoU) of a candidate's object with another object,
 *   from 0 to 1; for rule adaptive
 * @GST_CROWD_BOXES_PROPOSALS: guint32 [capacity]: which proposal made the candidate; for rule set
 * @GST_CROWD_BOXES_VISIBLE: #GstCrowdBox [capacity]: the visible part of each box; for rule visible
 * @GST_CROWD_BOXES_FEATURES: gfloat [capacity * feature_length]: feature_length numbers of a candidate, then those of
 *   the next; for rule feature
 * @GST_CROWD_BOXES_MODELS: guint32 [capacity]: which of several models, or tiles, found the candidate: the place of its
 *   weight in model-weights, from 0 to 15; for methods nmw and wbf with model-weights
 *
 * What a memory of candidates holds beside boxes, scores and classes.
 *
 * Since: 0.1
 */
typedef enum { /*< flags >*/
  GST_CROWD_BOXES_NO_ARRAYS = 0,
  GST_CROWD_BOXES_DENSITIES = 1 << 0,
  GST_CROWD_BOXES_PROPOSALS = 1 << 1,
  GST_CROWD_BOXES_VISIBLE = 1 << 2,
  GST_CROWD_BOXES_FEATURES = 1 << 3,
  GST_CROWD_BOXES_MODELS = 1 << 4
} GstCrowdBoxesArrays;

/**
 * GST_CROWD_BOXES_MAX_FEATURE_LENGTH:
 *
 * Maximum number of values in the features of a candidate.
 *
 * Since: 0.1
 */
#define GST_CROWD_BOXES_MAX_FEATURE_LENGTH 4096u

/**
 * gst_crowd_boxes_layout_init_with: (skip)
 * @layout: (out): where to put the offsets
 * @capacity: number of boxes, at most %GST_CROWD_BOXES_MAX_CAPACITY
 * @arrays: #GstCrowdBoxesArrays, or-ed
 * @feature_length: numbers of a candidate in its features, from 1 to %GST_CROWD_BOXES_MAX_FEATURE_LENGTH; 0 without
 *
 * Returns: %FALSE if @capacity or @feature_length is too large, if @arrays has bits of others, if @feature_length and
 * %GST_CROWD_BOXES_FEATURES do not come together, or if the size is more than a gsize of this machine holds
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_layout_init_with (GstCrowdBoxesLayout *layout, guint capacity, guint arrays,
    guint feature_length);

/**
 * gst_crowd_boxes_memory_new_with: (skip)
 * @capacity: number of boxes
 * @arrays: #GstCrowdBoxesArrays, or-ed
 * @feature_length: numbers of a candidate in its features; 0 without
 *
 * Returns: (transfer full) (nullable): as gst_crowd_boxes_memory_new(), with room for these arrays as well; %NULL where
 * gst_crowd_boxes_layout_init_with() fails, too
 *
 * Since: 0.1
 */
GST_CROWD_API GstMemory *gst_crowd_boxes_memory_new_with (guint capacity, guint arrays, guint feature_length);

/**
 * gst_crowd_boxes_map_at_with: (skip)
 * @map: (out): pointers behind @base
 * @base: as in gst_crowd_boxes_map_at()
 * @capacity: its capacity
 * @arrays: #GstCrowdBoxesArrays that it has, or-ed
 * @feature_length: numbers of a candidate in its features; 0 without
 *
 * Returns: %FALSE where gst_crowd_boxes_layout_init_with() fails
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_map_at_with (GstCrowdBoxesMap *map, gpointer base, guint capacity, guint arrays,
    guint feature_length);

/**
 * gst_crowd_boxes_map_memory_with: (skip)
 * @map: (out): pointers into @memory
 * @memory: a memory in #GstCrowdBoxesLayout order
 * @capacity: its capacity
 * @arrays: #GstCrowdBoxesArrays that it has, or-ed
 * @feature_length: numbers of a candidate in its features; 0 without
 * @flags: as in gst_crowd_boxes_map_memory()
 *
 * Returns: %FALSE as gst_crowd_boxes_map_memory(), and where gst_crowd_boxes_layout_init_with() fails
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_map_memory_with (GstCrowdBoxesMap *map, GstMemory *memory, guint capacity,
    guint arrays, guint feature_length, GstMapFlags flags);

/**
 * gst_crowd_boxes_meta_set_array_bytes:
 * @meta: candidates on a writable buffer, n of them
 * @densities: (nullable): float32 [n]
 * @proposals: (nullable): uint32 [n]
 * @visible: (nullable): #GstCrowdBox [n]: float32 x1 y1 x2 y2 of each
 * @features: (nullable): float32 [n * feature_length], from 1 to %GST_CROWD_BOXES_MAX_FEATURE_LENGTH numbers of a
 *   candidate, then those of the next; none where n is 0
 * @models: (nullable): uint32 [n]
 * @error: return location for a #GstCrowdError
 *
 * Gives candidates these arrays in place of those they had: the boxes are copied into a memory with room for n of them,
 * in system memory, and @capacity, @arrays and @feature_length of @meta say what it holds.
 *
 * Returns: %FALSE if @error is set, and nothing is changed then
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_meta_set_array_bytes (GstCrowdBoxesMeta *meta, GBytes *densities,
    GBytes *proposals, GBytes *visible, GBytes *features, GBytes *models, GError **error);

/**
 * gst_crowd_boxes_meta_get_array_bytes:
 * @meta: candidates
 * @densities: (out) (transfer full) (optional) (nullable): float32 [n]; %NULL where there are none, as the others
 * @proposals: (out) (transfer full) (optional) (nullable): uint32 [n]
 * @visible: (out) (transfer full) (optional) (nullable): #GstCrowdBox [n]
 * @features: (out) (transfer full) (optional) (nullable): float32 [n * feature_length]
 * @models: (out) (transfer full) (optional) (nullable): uint32 [n]
 * @error: return location for a #GstCrowdError
 *
 * Copies what @meta holds, in the order of gst_crowd_boxes_meta_get_bytes(). CUDA memory is downloaded.
 *
 * Returns: (skip): %FALSE if @error is set, and nothing else is then
 *
 * Since: 0.1
 */
GST_CROWD_API gboolean gst_crowd_boxes_meta_get_array_bytes (const GstCrowdBoxesMeta *meta, GBytes **densities,
    GBytes **proposals, GBytes **visible, GBytes **features, GBytes **models, GError **error);

G_END_DECLS

#endif /* GST_CROWD_BOXES_ARRAYS_H */
