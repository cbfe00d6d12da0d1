// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * gst-crowd-device-detector PIPELINE...: plays a pipeline with a detector of your own on the GPU, here one that finds
 * bright blocks (bright-blocks.cu), behind the element named `frames`, which gives NV12 in CUDA memory. Its candidates
 * never leave the device: see gst/crowd/gstcrowdcuda.h.
 */

#include <gst/crowd/gstcrowdcuda.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "bright-blocks.hpp"
#include "pipeline.hpp"

namespace {

constexpr char program[] = "gst-crowd-device-detector";
constexpr guint capacity = 4096;
constexpr int threshold = 170;
constexpr auto on_device = static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);  // GST_MAP_CUDA

struct Detector {
  GstMemory* kept = nullptr;  ///< used again as soon as no other reference is left
  unsigned frames = 0;

  GstMemory* acquire(GstMemory* frame) {
    if (!kept || GST_MINI_OBJECT_REFCOUNT_VALUE(kept) > 1) {
      g_clear_pointer(&kept, gst_memory_unref);
      kept = gst_crowd_cuda_boxes_memory_new(frame, capacity);
    }
    return kept ? gst_memory_ref(kept) : nullptr;
  }
};

bool detect(const GstVideoFrame& frame, GstMemory* boxes, void* stream) {
  GstCrowdBoxesMap map;
  const auto flags = static_cast<GstMapFlags>(int{GST_MAP_WRITE} | int{on_device});
  if (!gst_crowd_boxes_map_memory(&map, boxes, capacity, flags))
    return false;
  const DeviceCandidates candidates = {map.count, &map.boxes->x1, map.scores, map.classes, capacity};
  const auto* luma = static_cast<const unsigned char*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const bool launched = find_bright_blocks(luma, GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), GST_VIDEO_FRAME_WIDTH(&frame),
                                           GST_VIDEO_FRAME_HEIGHT(&frame), threshold, candidates, stream);
  gst_crowd_boxes_unmap(&map);
  return launched;
}

GstPadProbeReturn attach_candidates(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  auto& detector = *static_cast<Detector*>(data);
  detector.frames++;
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  GstCaps* caps = gst_pad_get_current_caps(pad);
  GstVideoInfo video;
  GstVideoFrame frame;
  const auto flags = static_cast<GstMapFlags>(int{GST_MAP_READ} | int{on_device});
  if (caps && gst_video_info_from_caps(&video, caps) && gst_crowd_cuda_push(memory)) {
    GstMemory* boxes = detector.acquire(memory);
    bool found = false;
    if (boxes && gst_video_frame_map(&frame, &video, buffer, flags)) {
      found = detect(frame, boxes, gst_crowd_cuda_stream(memory));
      gst_video_frame_unmap(&frame);  // a frame that is mapped holds the buffer, which is not writable then
    }
    if (found)
      gst_buffer_add_crowd_boxes_meta(buffer, gst_memory_ref(boxes), capacity, static_cast<guint>(video.width),
                                      static_cast<guint>(video.height), nullptr);
    g_clear_pointer(&boxes, gst_memory_unref);
    gst_crowd_cuda_pop();
  }
  g_clear_pointer(&caps, gst_caps_unref);
  return GST_PAD_PROBE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  crowd::find_plugins();
  GstElement* pipeline = crowd::parse_pipeline(program, {argv + 1, argv + argc});
  if (!pipeline)
    return 1;
  GstElement* frames = gst_bin_get_by_name(GST_BIN(pipeline), "frames");
  if (!frames) {
    g_printerr("usage: %s PIPELINE, with an element name=frames\n", program);
    gst_object_unref(pipeline);
    return 2;
  }
  Detector detector;
  GstPad* pad = gst_element_get_static_pad(frames, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, attach_candidates, &detector, nullptr);
  gst_object_unref(pad);
  gst_object_unref(frames);
  const bool ended = crowd::play_to_end(program, pipeline);
  g_clear_pointer(&detector.kept, gst_memory_unref);
  gst_object_unref(pipeline);
  g_print("done: %u frames\n", detector.frames);
  return ended ? 0 : 1;
}
