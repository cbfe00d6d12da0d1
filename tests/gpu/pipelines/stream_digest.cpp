// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * stream_digest N STREAM...: plays N copies of STREAM, a piece of a pipeline without its sink, at once in one process,
 * and prints a line for each: frames, and a digest of all survivors of all frames in their order. The exit status is 1
 * if a frame was out of order, an element failed, or the lines differ.
 */

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "pipeline.hpp"

namespace {

struct Stream {
  std::uint64_t frames = 0;
  std::uint64_t survivors = 0;
  std::uint64_t digest = 14695981039346656037u;  // FNV-1a
  GstClockTime last = GST_CLOCK_TIME_NONE;
  bool disordered = false;

  template <typename T>
  void add(const T* values, std::size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    for (std::size_t i = 0; i < n * sizeof(T); ++i)
      digest = (digest ^ bytes[i]) * 1099511628211u;
  }

  void add_boxes(GstBuffer* buffer) {
    const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
    GstCrowdBoxesMap map;
    if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ))
      return;
    survivors += *map.count;
    add(map.count, 1);
    add(map.boxes, *map.count);
    add(map.scores, *map.count);
    add(map.classes, *map.count);
    add(map.members, *map.count);
    gst_crowd_boxes_unmap(&map);
  }

  void add_regions(GstBuffer* buffer) {
    gpointer state = nullptr;
    while (GstMeta* meta =
               gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      const auto& roi = *reinterpret_cast<const GstVideoRegionOfInterestMeta*>(meta);
      const guint corners[] = {roi.x, roi.y, roi.w, roi.h};
      add(corners, 4);
      survivors++;
    }
  }

  void see(GstBuffer* buffer) {
    const GstClockTime pts = GST_BUFFER_PTS(buffer);
    disordered |= GST_CLOCK_TIME_IS_VALID(last) && pts <= last;
    last = pts;
    frames++;
    add(&pts, 1);
    add_boxes(buffer);
    add_regions(buffer);
  }
};

GstPadProbeReturn see(GstPad*, GstPadProbeInfo* info, gpointer stream) {
  static_cast<Stream*>(stream)->see(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

GstElement* parse(int n, const std::string& description) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += description + " ! fakesink sync=false name=sink" + std::to_string(i) + " ";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(all.c_str(), &error);
  if (error) {
    std::fprintf(stderr, "%s\n", error->message);
    g_clear_error(&error);
    g_clear_pointer(&pipeline, gst_object_unref);
  }
  return pipeline;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const int n = argc > 2 ? std::atoi(argv[1]) : 0;
  if (n < 1) {
    std::fprintf(stderr, "usage: stream_digest N STREAM...\n");
    return 2;
  }
  std::string description;
  for (int i = 2; i < argc; ++i)
    description += std::string(i > 2 ? " " : "") + argv[i];
  GstElement* pipeline = parse(n, description);
  if (!pipeline)
    return 2;
  std::vector<Stream> streams(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), ("sink" + std::to_string(i)).c_str());
    GstPad* pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see, &streams[static_cast<std::size_t>(i)], nullptr);
    gst_object_unref(pad);
    gst_object_unref(sink);
  }
  bool fine = crowd::play_to_end("stream_digest", pipeline);
  gst_object_unref(pipeline);
  for (const Stream& stream : streams) {
    std::printf("%llu frames, %llu survivors, %016llx%s\n", static_cast<unsigned long long>(stream.frames),
                static_cast<unsigned long long>(stream.survivors), static_cast<unsigned long long>(stream.digest),
                stream.disordered ? ", out of order" : "");
    fine &= !stream.disordered && stream.frames == streams[0].frames && stream.digest == streams[0].digest;
  }
  return fine && streams[0].frames > 0 ? 0 : 1;
}
