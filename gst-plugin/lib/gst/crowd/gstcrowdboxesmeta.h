/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef GST_CROWD_BOXES_META_H
#define GST_CROWD_BOXES_META_H

/**
 * SECTION:gstcrowdboxesmeta
 * @title: GstCrowdBoxesMeta
 * @short_description: thousands of boxes of a frame in one memory
 *
 * A detector attaches the candidates of a frame as one #GstCrowdBoxesMeta: one #GstMemory, system or CUDA, that holds
 * the number of boxes, their coordinates, scores and classes at the offsets of #GstCrowdBoxesLayout. Copying a buffer
 * copies the meta by reference.
 *
 * Coordinates are float32 x1 y1 x2 y2, half-open (width = x2 - x1). @placement says where they lie in the frame: as they
 * are attached coordinates are pixels of a frame of @frame_width times @frame_height. Boxes may leave the frame. The
 * memory must not be written after the meta is attached.
 *
 * ## Where boxes are
 *
 * A box is where its object is, or it is gone. The API of the meta has the tags video, orientation and size, so elements
 * that copy the picture (videocrop, videoflip, videobox, but alpha or videomedian as well) drop it, unless they say what
 * they do: by GStreamer's scale transform (videoconvert, videoscale; @placement follows) or, from GStreamer 1.28 on, its
 * matrix transform. Uploads to CUDA memory and downloads from it keep the meta.
 *
 * gst_crowd_boxes_meta_get_placement() is for readers: it also knows #GstVideoCropMeta, and refuses boxes of another
 * frame. gst_crowd_boxes_lost() tells a frame whose boxes were dropped on the way from one that never had any: both
 * crowdnms and crowdoverlay then post a warning.
 *
 * Scalers up to GStreamer 1.26 do not say whether they add borders where the aspect ratio changes; see
 * gst_crowd_boxes_borders_before().
 *
 * ## Reading them
 *
 * crowdnms hands survivors on in the same kind of meta, told apart by @kind. Survivors also say how many candidates each
 * of them represents, and how many candidates there were.
 *
 * A reader of boxes in CUDA memory says so when asked by an ALLOCATION query: it adds the meta's API type with a
 * structure "GstCrowdBoxesMeta" whose field `candidates-on-device` (crowdnms) or `survivors-on-device` (crowdoverlay) is
 * %TRUE. Elements before it then leave them there.
 *
 * The number of boxes lives in the memory, hence on the device where the memory is CUDA memory: a detector on the GPU
 * never sends it to the host. gstcrowdcuda.h makes such memories and says which side waits.
 *
 * A count above the capacity is of boxes that there was no room for: readers take as many as there is room for, and
 * crowdnms counts the others as overflow. Read on the host, a count above %GST_CROWD_BOXES_MAX_CAPACITY is one that was
 * never written, and the boxes are dropped. On the device it is overflow like any other: the host, which could refuse
 * the frame, sees it later.
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
 *
 * Other languages attach and read boxes by gstcrowdboxesbytes.h.
 * Rules and methods of crowdnms read more of a candidate, behind all others in the memory: see gstcrowdboxesarrays.h.
 *
 * Structs keep their size: what is added takes the place of reserved fields.
 *
 * Since: 0.1
 */

#include <gst/crowd/gstcrowdversion.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstCrowdBoxesKind:
 * @GST_CROWD_BOXES_CANDIDATES: what a detector found, overlapping
 * @GST_CROWD_BOXES_SURVIVORS: what NMS kept, best-ranked first
 *
 * Values of `kind`. Readers pass over kinds that they do not know.
 */
typedef enum {
  GST_CROWD_BOXES_CANDIDATES = 0,
  GST_CROWD_BOXES_SURVIVORS
} GstCrowdBoxesKind;

/**
 * GstCrowdBoxesBorders:
 * @GST_CROWD_BOXES_BORDERS_UNKNOWN: nothing is known, or scalers differ
 * @GST_CROWD_BOXES_BORDERS_NONE: pictures are stretched
 * @GST_CROWD_BOXES_BORDERS_ADDED: pictures keep their aspect ratio between borders
 *
 * What scalers do where the aspect ratio changes.
 */
typedef enum {
  GST_CROWD_BOXES_BORDERS_UNKNOWN = 0,
  GST_CROWD_BOXES_BORDERS_NONE,
  GST_CROWD_BOXES_BORDERS_ADDED
} GstCrowdBoxesBorders;

typedef struct _GstCrowdBox GstCrowdBox;
typedef struct _GstCrowdBoxesPlacement GstCrowdBoxesPlacement;
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
 * GstCrowdBoxesLayout: (skip)
 * @count: offset of the number of boxes, one guint32. Always 0. It may exceed the capacity: a detector that counts on
 *   a device need not clip it; readers take the first `capacity` boxes and count the rest as overflow
 * @candidates: offset of one guint32, survivors only: the number of candidates that they were chosen from
 * @boxes: offset of #GstCrowdBox [capacity], a multiple of 256
 * @scores: offset of gfloat [capacity], a multiple of 256
 * @classes: offset of gint32 [capacity], a multiple of 256
 * @members: offset of guint32 [capacity], a multiple of 256, survivors only: how many candidates each of them
 *   represents, itself included. Detectors leave it alone
 * @size: bytes in all
 * @densities: offset of that one of #GstCrowdBoxesArrays, a multiple of 256; 0 without. Since: 0.1
 * @proposals: likewise
 * @visible: likewise
 * @features: likewise
 * @models: likewise
 *
 * Where things lie in the memory of a meta, in bytes from its start. A function of the capacity alone, but for @size and
 * the five that follow it.
 */
struct _GstCrowdBoxesLayout {
  gsize count;
  gsize candidates;
  gsize boxes;
  gsize scores;
  gsize classes;
  gsize members;
  gsize size;
  gsize densities;
  gsize proposals;
  gsize visible;
  gsize features;
  gsize models;

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING - 1];
};

/**
 * GstCrowdBoxesPlacement:
 * @xx: pixels in x for a unit of a coordinate in x
 * @xy: pixels in x for a unit of a coordinate in y
 * @x0: pixel in x of coordinates 0 0
 * @yx: pixels in y for a unit of a coordinate in x
 * @yy: pixels in y for a unit of a coordinate in y
 * @y0: pixel in y of coordinates 0 0
 *
 * From coordinates to pixels: x' = xx * x + xy * y + x0, y' = yx * x + yy * y + y0. Edges stay parallel to those of the
 * frame: either @xy and @yx are 0, or @xx and @yy are. A factor below 0 swaps the edges of a box.
 */
struct _GstCrowdBoxesPlacement {
  gdouble xx, xy, x0;
  gdouble yx, yy, y0;
};

/**
 * GstCrowdBoxesMeta:
 * @meta: parent
 * @memory: holds the boxes in #GstCrowdBoxesLayout order; owned by the meta
 * @capacity: number of boxes that the memory has room for
 * @frame_width: width in pixels of the frame that the boxes are on; 0 if unknown: then it is not checked
 * @frame_height: its height
 * @labels: (nullable) (element-type utf8): name of each class, shared and immutable; owned by the meta
 * @kind: what the boxes are, a #GstCrowdBoxesKind; set by the function that attaches them, and not to be changed
 * @placement: from coordinates to pixels of that frame; the identity unless set otherwise. A detector whose coordinates
 *   are those of its model's input sets it
 * @frame_x: left edge of that frame in the buffer's picture, of which a #GstVideoCropMeta shows a part
 * @frame_y: its upper edge
 * @confidence_slope: the confidence of a score s, a probability, is 1 / (1 + exp (-(@confidence_slope * s +
 *   @confidence_offset))); 0 (the default) where scores are probabilities already
 * @confidence_offset: see there
 * @arrays: what else @memory holds, #GstCrowdBoxesArrays or-ed; 0 (the default): nothing. Since: 0.1
 * @feature_length: numbers of a candidate in its features; 0 without. Since: 0.1
 *
 * Set what else differs from the default after gst_buffer_add_crowd_boxes_meta(), but the size of the frame.
 */
struct _GstCrowdBoxesMeta {
  GstMeta meta;
  GstMemory *memory;
  guint capacity;
  guint frame_width;
  guint frame_height;
  GPtrArray *labels;
  guint kind;
  GstCrowdBoxesPlacement placement;
  guint frame_x;
  guint frame_y;
  gfloat confidence_slope;
  gfloat confidence_offset;
  guint arrays;
  guint feature_length;

  /*< private >*/
  guint picture_width;
  guint picture_height;
  GstCrowdBoxesPlacement placement_with_borders;
  gboolean borders_matter;
  gpointer _gst_reserved[GST_PADDING - 1];
};

/**
 * GstCrowdBoxesMap: (skip)
 *
 * Host view of a memory of boxes, between gst_crowd_boxes_map_memory() and gst_crowd_boxes_unmap(). Arrays that it was
 * not mapped with are %NULL.
 */
struct _GstCrowdBoxesMap {
  guint32 *count;
  guint32 *candidates;
  GstCrowdBox *boxes;
  gfloat *scores;
  gint32 *classes;
  guint32 *members;
  guint capacity;
  guint feature_length;
  GstMemory *memory;
  GstMapInfo info;
  gfloat *densities;
  guint32 *proposals;
  GstCrowdBox *visible;
  gfloat *features;
  guint32 *models;

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING - 1];
};

#define GST_CROWD_BOXES_META_API_TYPE (gst_crowd_boxes_meta_api_get_type ())
#define GST_CROWD_BOXES_META_INFO (gst_crowd_boxes_meta_get_info ())

/**
 * GST_CROWD_BOXES_MAX_CAPACITY:
 *
 * Maximum number of boxes in a memory.
 */
#define GST_CROWD_BOXES_MAX_CAPACITY (1u << 24)

GST_CROWD_API GType gst_crowd_boxes_meta_api_get_type (void);
GST_CROWD_API const GstMetaInfo *gst_crowd_boxes_meta_get_info (void);

/**
 * gst_crowd_boxes_layout_init: (skip)
 * @layout: (out): where to put the offsets
 * @capacity: number of boxes, at most %GST_CROWD_BOXES_MAX_CAPACITY
 *
 * Returns: %FALSE if @capacity is too large
 */
GST_CROWD_API gboolean gst_crowd_boxes_layout_init (GstCrowdBoxesLayout *layout, guint capacity);

/**
 * gst_crowd_boxes_memory_new: (skip)
 * @capacity: number of boxes
 *
 * Returns: (transfer full) (nullable): system memory with room for @capacity boxes and a count of 0, aligned to 256
 * bytes; %NULL if @capacity is too large or there is not so much memory
 */
GST_CROWD_API GstMemory *gst_crowd_boxes_memory_new (guint capacity);

/**
 * gst_crowd_boxes_map_at: (skip)
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
 * gst_crowd_boxes_map_memory: (skip)
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

/**
 * gst_crowd_boxes_unmap: (skip)
 * @map: what gst_crowd_boxes_map_memory() mapped
 */
GST_CROWD_API void gst_crowd_boxes_unmap (GstCrowdBoxesMap *map);

/**
 * gst_buffer_add_crowd_boxes_meta: (skip)
 * @buffer: a writable buffer
 * @memory: (transfer full): boxes in #GstCrowdBoxesLayout order
 * @capacity: number of boxes that @memory has room for
 * @frame_width: width in pixels of the frame of @buffer, which coordinates are pixels of; 0 if unknown
 * @frame_height: its height
 * @labels: (nullable) (transfer none) (element-type utf8): name of each class
 *
 * Attaches candidates. For survivors use gst_buffer_add_crowd_survivors_meta(). The size of @memory is not checked here
 * but by readers, since it may be shared and resized.
 *
 * Returns: (transfer none): the meta on @buffer
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_add_crowd_boxes_meta (GstBuffer *buffer, GstMemory *memory,
    guint capacity, guint frame_width, guint frame_height, GPtrArray *labels);

/**
 * gst_buffer_add_crowd_survivors_meta: (skip)
 * @buffer: a writable buffer
 * @memory: (transfer full): boxes in #GstCrowdBoxesLayout order
 * @capacity: number of boxes that @memory has room for
 * @frame_width: width in pixels of the frame of @buffer, which coordinates are pixels of; 0 if unknown
 * @frame_height: its height
 * @labels: (nullable) (transfer none) (element-type utf8): name of each class
 *
 * Attaches survivors, as gst_buffer_add_crowd_boxes_meta() attaches candidates.
 *
 * Returns: (transfer none): the meta on @buffer
 */
GST_CROWD_API GstCrowdBoxesMeta *gst_buffer_add_crowd_survivors_meta (GstBuffer *buffer, GstMemory *memory,
    guint capacity, guint frame_width, guint frame_height, GPtrArray *labels);

/**
 * gst_buffer_remove_crowd_boxes_meta:
 * @buffer: a writable buffer
 * @meta: a meta of @buffer
 *
 * Takes boxes off a buffer for good. With gst_buffer_remove_meta() alone, gst_crowd_boxes_lost() would say that they
 * were lost.
 *
 * Returns: %FALSE if the meta is locked
 */
GST_CROWD_API gboolean gst_buffer_remove_crowd_boxes_meta (GstBuffer *buffer, GstCrowdBoxesMeta *meta);

/**
 * gst_crowd_boxes_lost:
 * @buffer: a buffer
 * @kind: which boxes
 *
 * Returns: %TRUE if boxes of this kind were attached to the frame and dropped on the way to here, by an element that
 * changes the picture without saying how
 */
GST_CROWD_API gboolean gst_crowd_boxes_lost (GstBuffer *buffer, GstCrowdBoxesKind kind);

/**
 * gst_crowd_boxes_meta_get_placement:
 * @meta: a meta of @buffer
 * @buffer: the buffer
 * @width: width in pixels of the frame, as its caps say; 0 if unknown: the size is not checked then
 * @height: its height
 * @borders: what scalers before the reader do, see gst_crowd_boxes_borders_before()
 * @placement: (out): from coordinates to pixels of the frame that is shown
 *
 * Where boxes lie in the frame. #GstVideoCropMeta of the buffer is followed: a frame is what is shown of it.
 *
 * Returns: %FALSE if that is not known, because the boxes are of another frame, or because a scaler changed the aspect
 * ratio and @borders is %GST_CROWD_BOXES_BORDERS_UNKNOWN. The boxes are then to be dropped
 */
GST_CROWD_API gboolean gst_crowd_boxes_meta_get_placement (const GstCrowdBoxesMeta *meta, GstBuffer *buffer,
    guint width, guint height, GstCrowdBoxesBorders borders, GstCrowdBoxesPlacement *placement);

/**
 * gst_crowd_boxes_borders_before:
 * @sink_pad: sink pad of the reader
 *
 * Asks the elements upstream of a pad, as far as they can be reached, for their property `add-borders`. Up to GStreamer
 * 1.26 a scaler passes the sizes alone on to metadata. Call it where caps are set, it takes some microseconds.
 *
 * Returns: what all of them do
 */
GST_CROWD_API GstCrowdBoxesBorders gst_crowd_boxes_borders_before (GstPad *sink_pad);

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
