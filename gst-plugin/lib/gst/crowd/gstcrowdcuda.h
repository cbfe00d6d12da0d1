/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:gstcrowdcuda
 * @title: Candidates on the GPU
 * @short_description: the way into the zero-copy path for your own detector
 *
 * A detector that works on `video/x-raw(memory:CUDAMemory)` leaves its candidates in CUDA memory, their number included,
 * and nothing of them reaches the host. For each frame:
 *
 * 1. gst_crowd_cuda_boxes_memory_new() makes the memory in the frame's context. It waits for the device, so keep a few
 *    and use one again as soon as yours is the only reference (its mini object's refcount is 1);
 * 2. map it with gst_crowd_boxes_map_memory() and `GST_MAP_WRITE | GST_MAP_CUDA`: the pointers are device pointers. The
 *    mapping marks the memory as changed on the device; it is cheap, neither waits nor copies, and is done for each frame;
 * 3. with the context current, launch on gst_crowd_cuda_stream() of the frame what writes boxes, scores, classes and the
 *    count, which may exceed the capacity. The host does not wait: boxes are read in the order of that stream.
 *    Write the count of each frame, 0 too: it is undefined in a new memory, and that of an earlier frame in one that is
 *    used again. A count that was never written is not found out on the device: all the room is then taken for boxes,
 *    whatever it holds, and `stats` of crowdnms show an absurd overflow;
 * 4. unmap, and gst_buffer_add_crowd_boxes_meta() with the size of the frame.
 *
 * A detector that launches on a stream of its own makes that one wait for the frame's stream before it reads the frame,
 * and the frame's stream wait for its own afterwards (cudaEventRecord, cudaStreamWaitEvent).
 *
 * `pipelines/tools/device-detector.cpp` is an example.
 *
 * Thread-safety: any thread, one at a time for each memory.
 */

#ifndef GST_CROWD_CUDA_H
#define GST_CROWD_CUDA_H

#include <gst/crowd/gstcrowdboxesarrays.h>

G_BEGIN_DECLS

/**
 * gst_crowd_cuda_boxes_memory_new:
 * @beside: a CUDA memory, that of the frame
 * @capacity: number of boxes
 *
 * Returns: (transfer full) (nullable): CUDA memory with room for @capacity boxes, in the context of @beside and ordered on
 *   its stream, with undefined contents, the count included; %NULL if @beside is no CUDA memory or the device has no room
 */
GST_CROWD_API GstMemory *gst_crowd_cuda_boxes_memory_new (GstMemory *beside, guint capacity);

/**
 * gst_crowd_cuda_boxes_memory_new_with:
 * @beside: a CUDA memory, that of the frame
 * @capacity: number of boxes
 * @arrays: #GstCrowdBoxesArrays, or-ed
 * @feature_length: numbers of a candidate in its features; 0 without
 *
 * Returns: (transfer full) (nullable): as gst_crowd_cuda_boxes_memory_new(), with room for these arrays as well; %NULL
 *   where gst_crowd_boxes_layout_init_with() fails or its size is 2 GiB or more, too. Map it with gst_crowd_boxes_map_memory_with()
 *
 * Since: 0.1
 */
GST_CROWD_API GstMemory *gst_crowd_cuda_boxes_memory_new_with (GstMemory *beside, guint capacity, guint arrays,
    guint feature_length);

/**
 * gst_crowd_cuda_stream:
 * @memory: a CUDA memory
 *
 * Up to GStreamer 1.22 the answer is always %NULL. Elements of this plugin work on streams of their own there, which the
 * default stream follows; from the first call on, for any memory of a context, they use the default stream in that
 * context. So call it also where you know the answer, before you launch what reads or writes @memory, and before you let
 * GStreamer copy a memory with gst_memory_copy() or gst_buffer_copy_deep(), which launches that on the default stream.
 *
 * Returns: (transfer none) (nullable): the stream (CUstream, cudaStream_t) that work on @memory is ordered on. %NULL is
 *   the legacy default stream of its context
 */
GST_CROWD_API gpointer gst_crowd_cuda_stream (GstMemory *memory);

/**
 * gst_crowd_cuda_push:
 * @memory: a CUDA memory
 *
 * Makes the context of @memory current in this thread, until gst_crowd_cuda_pop().
 *
 * Returns: %FALSE if the driver refuses; then do not pop
 */
GST_CROWD_API gboolean gst_crowd_cuda_push (GstMemory *memory);
GST_CROWD_API void gst_crowd_cuda_pop (void);

G_END_DECLS

#endif /* GST_CROWD_CUDA_H */
