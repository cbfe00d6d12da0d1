// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * What a buffer costs the host in crowdnms where candidates and survivors stay on the device: the time of
 * gst_pad_push() into the element, beside that into identity, in the same run. The GPU is idle whenever a buffer comes.
 *
 *     bench_element [CANDIDATES [PAUSE]]
 *
 * PAUSE, in microseconds, lies between buffers: 0 is a loop that has everything in the caches, some hundreds are a
 * pipeline that does something else between.
 */

#include <cuda_runtime.h>
#include <gst/crowd/gstcrowdcuda.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr guint width = 1920, height = 1080;
constexpr int warm_up = 200, measured = 2000;

GstMemory* new_frame(GstCudaContext* context) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, width, height);
  GstAllocator* allocator = gst_allocator_find(GST_CUDA_MEMORY_TYPE_NAME);
#if GST_CHECK_VERSION(1, 24, 0)
  GstMemory* memory = gst_cuda_allocator_alloc(GST_CUDA_ALLOCATOR_CAST(allocator), context, nullptr, &info);
#else
  GstMemory* memory = gst_cuda_allocator_alloc(GST_CUDA_ALLOCATOR_CAST(allocator), context, &info);
#endif
  gst_object_unref(allocator);
  return memory;
}

/// Windows jittered around one face for each twenty of them.
GstMemory* new_candidates(GstMemory* frame, guint n) {
  GstMemory* memory = gst_crowd_cuda_boxes_memory_new(frame, n);
  GstCrowdBoxesMap map;
  gst_crowd_boxes_map_memory(&map, memory, n, GST_MAP_WRITE);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(0, 1);
  float x = 0, y = 0;
  for (guint i = 0; i < n; ++i) {
    if (i % 20 == 0) {
      x = unit(random) * (width - 60);
      y = unit(random) * (height - 60);
    }
    const float left = x + 6 * unit(random), top = y + 6 * unit(random);
    map.boxes[i] = {left, top, left + 50, top + 50};
    map.scores[i] = unit(random);
    map.classes[i] = 0;
  }
  *map.count = n;
  gst_crowd_boxes_unmap(&map);
  return memory;
}

GstFlowReturn take(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

/// Reads survivors in device memory, as crowdoverlay does.
gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default(pad, parent, query);
  GstStructure* params = gst_structure_new("GstCrowdBoxesMeta", "survivors-on-device", G_TYPE_BOOLEAN, TRUE, nullptr);
  gst_query_add_allocation_meta(query, GST_CROWD_BOXES_META_API_TYPE, params);
  gst_structure_free(params);
  return TRUE;
}

/// An element between two pads of ours.
struct Stage {
  GstElement* element;
  GstPad* source = gst_pad_new("source", GST_PAD_SRC);
  GstPad* sink = gst_pad_new("sink", GST_PAD_SINK);

  Stage(const char* name, GstCudaContext* context) : element(gst_element_factory_make(name, nullptr)) {
    gst_object_ref_sink(element);
    GstContext* shared = gst_context_new_cuda_context(context);
    gst_element_set_context(element, shared);
    gst_context_unref(shared);
    gst_pad_set_chain_function(sink, take);
    gst_pad_set_query_function(sink, answer);
    GstPad* in = gst_element_get_static_pad(element, "sink");
    GstPad* out = gst_element_get_static_pad(element, "src");
    gst_pad_link(source, in);
    gst_pad_link(out, sink);
    gst_object_unref(in);
    gst_object_unref(out);
    gst_pad_set_active(sink, TRUE);
    gst_pad_set_active(source, TRUE);
    gst_element_set_state(element, GST_STATE_PLAYING);
    gst_pad_push_event(source, gst_event_new_stream_start("bench"));
    GstCaps* caps =
        gst_caps_from_string("video/x-raw(memory:CUDAMemory),format=NV12,width=1920,height=1080,framerate=25/1");
    gst_pad_push_event(source, gst_event_new_caps(caps));
    gst_caps_unref(caps);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source, gst_event_new_segment(&segment));
  }
  ~Stage() {
    gst_element_set_state(element, GST_STATE_NULL);
    gst_pad_set_active(sink, FALSE);
    gst_pad_set_active(source, FALSE);
    gst_object_unref(element);
    gst_object_unref(source);
    gst_object_unref(sink);
  }
};

std::vector<double> time_pushes(Stage& stage, GstMemory* frame, GstMemory* candidates, guint n, int pause) {
  std::vector<double> times;
  for (int i = 0; i < warm_up + measured; ++i) {
    GstBuffer* buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_memory_ref(frame));
    gst_buffer_add_crowd_boxes_meta(buffer, gst_memory_ref(candidates), n, width, height, nullptr);
    if (pause)
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
    const auto begin = std::chrono::steady_clock::now();
    gst_pad_push(stage.source, buffer);
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    if (i >= warm_up)
      times.push_back(taken.count());
    gst_crowd_cuda_push(frame);
    cudaStreamSynchronize(nullptr);
    gst_crowd_cuda_pop();
  }
  std::ranges::sort(times);
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const auto n = static_cast<guint>(argc > 1 ? std::atoi(argv[1]) : 4096);
  const int pause = argc > 2 ? std::atoi(argv[2]) : 0;
  if (!gst_cuda_load_library()) {
    std::puts("no NVIDIA driver here");
    return 77;
  }
  gst_cuda_memory_init_once();
  GstCudaContext* context = gst_cuda_context_new(0);
  if (!context) {
    std::puts("no NVIDIA GPU here");
    return 77;
  }
  GstMemory* frame = new_frame(context);
  GstMemory* candidates = new_candidates(frame, n);
  std::printf("%u candidates, %d us between buffers; host time of gst_pad_push(), us\n", n, pause);
  for (const char* name : {"identity", "crowdnms"}) {
    Stage stage(name, context);
    const std::vector<double> times = time_pushes(stage, frame, candidates, n, pause);
    std::printf("%-10s median %6.2f  90 %% within %6.2f  99 %% within %6.2f\n", name, times[times.size() / 2],
                times[times.size() * 9 / 10], times[times.size() * 99 / 100]);
  }
  gst_memory_unref(candidates);
  gst_memory_unref(frame);
  gst_object_unref(context);
  return 0;
}
