/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:gstcrowdboxesmeta
 * @title: GstCrowdBoxesMeta
 * @short_description: thousands of boxes of a frame in one memory
 *
 * A detector attaches the candidates of a frame as one #GstCrowdBoxesMeta: one #GstMemory, system or CUDA, that holds
 * the number of boxes, their coordinates, scores and classes at the offsets of #GstCrowdBoxesLayout. Copying a buffer
 * copies the meta by reference, and its API has no tags, so converters and scalers keep it.
 *
 * Coordinates are float32 x1 y1 x2 y2 in pixels, half-open (width = x2 - x1), of a frame of @frame_width times
 * @frame_height: the one the meta was attached to. A reader whose frame has another size, because a scaler came between,
 * scales them. Boxes may leave the frame. The memory must not be written after the meta is attached.
 *
 * crowdnms hands survivors on in the same kind of meta, told apart by @kind. Survivors also say how many candidates each
 * of them stands for, and how many candidates there were.
 *
 * Whoever reads boxes from CUDA memory says so when asked by an ALLOCATION query: it adds the meta's API type with a
 * structure "GstCrowdBoxesMeta" whose field `candidates-on-device` (crowdnms) or `survivors-on-device` (crowdoverlay) is
 * %TRUE. Elements before it then leave them there.
 *
 * The number of boxes lives in the memory, hence on the device where the memory is CUDA memory: a detector on the GPU
 * never tells it to the host. gstcrowdcuda.h makes such memories and says who waits for whom.
 *
 * A count above the capacity is of boxes that there was no room for: readers take as many as there is room for, and
 * crowdnms counts the others as overflow. Read on the host, a count above %GST_CROWD_BOXES_MAX_CAPACITY is one that was
 * never written, and the boxes are dropped. On the device it is overflow like any other: the host, which could refuse
 * the frame, hears of it later.
 *
 * |[<!-- language="C" -->
 * GstCrowdBoxesMap map;
 * GstMemory *memory = gst_crowd_boxes_memory_new (capacity);
 * if (memory && gst_crowd_boxes_map_memory (&map, memory, capacity, GST_MAP_WRITE)) {
 *   for (guint i = 0; i < n; i++) { map.boxes[i] = ...; map.scores[i] = ...; map.classes[i] = 0; }
 *   *map.count = n;
 *   gst_crowd_boxes_unmap (&map);
 *   gst_buffer_add_crowd_boxes_meta (buffer, memory, capacity, width, height, NULL);
 * }
 * ]|
 */

#ifndef GST_CROWD_BOXES_META_H
#define GST_CROWD_BOXES_META_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CROWD_API __attribute__ ((visibility ("default")))

/**
 * GstCrowdBoxesKind:
 * @GST_CROWD_BOXES_CANDIDATES: what a detector found, overlapping
 * @GST_CROWD_BOXES_SURVIVORS: what NMS kept, best-ranked first
 */
typedef enum {
  GST_CROWD_BOXES_CANDIDATES = 0,
  GST_CROWD_BOXES_SURVIVORS
} GstCrowdBoxesKind;

typedef struct _GstCrowdBox GstCrowdBox;
typedef struct _GstCrowdBoxesLayout GstCrowdBoxesLayout;
typedef struct _GstCrowdBoxesMap GstCrowdBoxesMap;
typedef struct _GstCrowdBoxesMeta GstCrowdBoxesMeta;

/**
 * GstCrowdBox:
 * @x1: left edge, pixels
 * @y1: top edge, pixels
 * @x2: right edge, exclusive
 * @y2: bottom edge, exclusive
 */
struct _GstCrowdBox {
  gfloat x1, y1, x2, y2;
};

/**
 * GstCrowdBoxesLayout:
 * @count: offset of the number of boxes, one guint32. Always 0. It may exceed the capacity: a detector that counts on
 *   a device need not clip it; readers take the first `capacity` boxes and count the rest as overflow
 * @candidates: offset of one guint32, survivors only: the number of candidates that they were chosen from
 * @boxes: offset of #GstCrowdBox [capacity], a multiple of 256
 * @scores: offset of gfloat [capacity], a multiple of 256
 * @classes: offset of gint32 [capacity], a multiple of 256
 * @members: offset of guint32 [capacity], a multiple of 256, survivors only: how many candidates each of them stands
 *   for, itself included. Detectors leave it alone
 * @size: bytes in all
 *
 * Where things lie in the memory of a meta, in bytes from its start. A function of the capacity alone.
 */
struct _GstCrowdBoxesLayout {
  gsize count;
  gsize candidates;
  gsize boxes;
  gsize scores;
  gsize classes;
  gsize members;
  gsize size;
};

/**
 * GstCrowdBoxesMeta:
 * @meta: parent
 * @memory: holds the boxes in #GstCrowdBoxesLayout order; owned by the meta
 * @capacity: most boxes the memory has room for
 * @frame_width: width in pixels of the frame that the coordinates refer to; 0 if unknown: no scaling then
 * @frame_height: its height
 * @labels: (nullable) (element-type utf8): name of each class, shared and immutable; owned by the meta
 * @kind: what the boxes are; #GST_CROWD_BOXES_CANDIDATES unless the one who attaches it says otherwise
 */
struct _GstCrowdBoxesMeta {
  GstMeta meta;
  GstMemory *memory;
  guint capacity;
  guint frame_width;
  guint frame_height;
  GPtrArray *labels;
  GstCrowdBoxesKind kind;
};

/**
 * GstCrowdBoxesMap:
 *
 * Host view of a memory of boxes, between gst_crowd_boxes_map_memory() and gst_crowd_boxes_unmap().
 */
struct _GstCrowdBoxesMap {
  guint32 *count;
  guint32 *candidates;
  GstCrowdBox *boxes;
  gfloat *scores;
  gint32 *classes;
  guint32 *members;
  guint capacity;
  GstMemory *memory;
  GstMapInfo info;
};

#define GST_CROWD_BOXES_META_API_TYPE (gst_crowd_boxes_meta_api_get_type ())
#define GST_CROWD_BOXES_META_INFO (gst_crowd_boxes_meta_get_info ())
/** Most boxes a memory may hold. */
#define GST_CROWD_BOXES_MAX_CAPACITY (1u << 24)

GST_CROWD_API GType gst_crowd_boxes_meta_api_get_type (void);
GST_CROWD_API const GstMetaInfo *gst_crowd_boxes_meta_get_info (void);

/**
 * gst_crowd_boxes_layout_init:
 * @layout: (out): where to put the offsets
 * @capacity: number of boxes, at most %GST_CROWD_BOXES_MAX_CAPACITY
 *
 * Returns: %FALSE if @capacity is too large
 */
GST_CROWD_API gboolean gst_crowd_boxes_layout_init (GstCrowdBoxesLayout *layout, guint capacity);

/**
 * gst_crowd_boxes_memory_new:
 * @capacity: number of boxes
 *
 * Returns: (transfer full) (nullable): system memory with room for @capacity boxes and a count of 0, aligned to 256
 * bytes; %NULL if @capacity is too large
 */
GST_CROWD_API GstMemory *gst_crowd_boxes_memory_new (guint capacity);

/**
 * gst_crowd_boxes_map_at:
 * @map: (out): pointers behind @base
 * @base: where a memory in #GstCrowdBoxesLayout order begins, at a multiple of 4 bytes
 * @capacity: its capacity, at most %GST_CROWD_BOXES_MAX_CAPACITY
 *
 * For memory that is no #GstMemory, say what is uploaded from. There is nothing to unmap. Pointers are only computed.
 *
 * Returns: %FALSE if @capacity is too large
 */
GST_CROWD_API gboolean gst_crowd_boxes_map_at (GstCrowdBoxesMap *map, gpointer base, guint capacity);

/**
 * gst_crowd_boxes_map_memory:
 * @map: (out): pointers into @memory
 * @memory: a memory in #GstCrowdBoxesLayout order
 * @capacity: its capacity
 * @flags: %GST_MAP_READ or %GST_MAP_WRITE. CUDA memory is downloaded, unless %GST_MAP_CUDA is added: the pointers are
 *   then device pointers
 *
 * Returns: %FALSE if @memory cannot be mapped, is smaller than @capacity boxes need or does not begin at a multiple of 4
 *   bytes; @map is then not to be unmapped
 */
GST_CROWD_API gboolean gst_crowd_boxes_map_memory (GstCrowdBoxesMap *map, GstMemory *memory, guint capacity,
    GstMapFlags flags);
GST_CROWD_API void gst_crowd_boxes_unmap (GstCrowdBoxesMap *map);

/**
 * gst_buffer_add_crowd_boxes_meta:
 * @buffer: a writable buffer
 * @memory: (transfer full): boxes in #GstCrowdBoxesLayout order
 * @capacity: most boxes @memory has room for
 * @frame_width: width in pixels of the frame that the coordinates refer to, 0 if unknown
 * @frame_height: its height
 * @labels: (nullable) (transfer none) (element-type utf8): name of each class
 *
 * Attaches candidates. For survivors set `kind` of what is returned. The size of @memory is not checked here but by
 * whoever reads it, since it may be shared and resized.
 *
 * Returns: (transfer none): the meta on @buffer
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_add_crowd_boxes_meta (GstBuffer *buffer, GstMemory *memory,
    guint capacity, guint frame_width, guint frame_height, GPtrArray *labels);

/**
 * gst_buffer_get_crowd_boxes_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the first #GstCrowdBoxesMeta of @buffer that holds candidates
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_get_crowd_boxes_meta (GstBuffer *buffer);

/**
 * gst_buffer_get_crowd_survivors_meta:
 * @buffer: a buffer
 *
 * Returns: (transfer none) (nullable): the first #GstCrowdBoxesMeta of @buffer that holds survivors
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_get_crowd_survivors_meta (GstBuffer *buffer);

G_END_DECLS

#endif /* GST_CROWD_BOXES_META_H */
