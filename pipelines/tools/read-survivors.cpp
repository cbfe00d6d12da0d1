// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// read-survivors: an application of its own that reads what crowdnms found. It needs nothing of gst-crowd: survivors
// are standard region-of-interest metas. It runs a pipeline with an appsink called `survivors` and prints a line of
// JSON for each frame, or for the first ones only.

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/gstvideometa.h>

#include <cstdio>
#include <string>
#include <vector>

#include "pipeline.hpp"

namespace {

constexpr char kProgram[] = "read-survivors";
constexpr GstClockTime kPatience = 100 * GST_MSECOND;  // between two looks for an error

struct Survivor {
  std::string label;
  guint x, y, width, height;
  double confidence = 0.0;
  guint members = 1;
  bool kept = true;
};

Survivor read_survivor(const GstVideoRegionOfInterestMeta* roi) {
  Survivor survivor{g_quark_to_string(roi->roi_type), roi->x, roi->y, roi->w, roi->h};
  auto* meta = const_cast<GstVideoRegionOfInterestMeta*>(roi);
  if (const GstStructure* detection = gst_video_region_of_interest_meta_get_param(meta, "detection"))
    gst_structure_get_double(detection, "confidence", &survivor.confidence);
  if (const GstStructure* nms = gst_video_region_of_interest_meta_get_param(meta, "nms")) {
    gboolean kept = TRUE;
    gst_structure_get_uint(nms, "members", &survivor.members);
    gst_structure_get_boolean(nms, "kept", &kept);
    survivor.kept = kept;
  }
  return survivor;
}

std::vector<Survivor> read_survivors(GstBuffer* buffer) {
  std::vector<Survivor> survivors;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const Survivor survivor = read_survivor(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta));
    if (survivor.kept)
      survivors.push_back(survivor);
  }
  return survivors;
}

std::string json_text(const std::string& text) {
  g_autofree gchar* escaped = g_strescape(text.c_str(), nullptr);
  return std::string("\"") + escaped + "\"";
}

void print_frame(guint64 frame, GstBuffer* buffer) {
  g_print("{\"frame\": %" G_GUINT64_FORMAT ", \"pts\": %" G_GINT64_FORMAT ", \"survivors\": [", frame,
          GST_BUFFER_PTS_IS_VALID(buffer) ? static_cast<gint64>(GST_BUFFER_PTS(buffer)) : -1);
  const char* separator = "";
  for (const Survivor& survivor : read_survivors(buffer)) {
    gchar confidence[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(confidence, sizeof confidence, survivor.confidence);
    g_print("%s{\"label\": %s, \"box\": [%u, %u, %u, %u], \"confidence\": %s, \"members\": %u}", separator,
            json_text(survivor.label).c_str(), survivor.x, survivor.y, survivor.width, survivor.height, confidence,
            survivor.members);
    separator = ", ";
  }
  g_print("]}\n");
}

/** The error that the pipeline has met, printed; false if there is none. */
bool print_pipeline_error(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (!message)
    return false;
  crowd::print_error(kProgram, message);
  gst_message_unref(message);
  return true;
}

/** Reads frames until there are enough or the stream ends or breaks; the exit status. */
int read_frames(GstElement* pipeline, GstAppSink* sink, guint64 enough) {
  for (guint64 frame = 0; frame < enough;) {
    if (GstSample* sample = gst_app_sink_try_pull_sample(sink, kPatience)) {
      print_frame(frame++, gst_sample_get_buffer(sample));
      gst_sample_unref(sample);
    } else if (print_pipeline_error(pipeline)) {
      return 1;
    } else if (gst_app_sink_is_eos(sink)) {
      return 0;
    }
  }
  return 0;
}

int run(const std::vector<std::string>& words, guint64 frames) {
  crowd::find_plugins();
  GstElement* pipeline = crowd::parse_pipeline(kProgram, words);
  if (!pipeline)
    return 1;
  int status = 1;
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "survivors");
  if (sink && GST_IS_APP_SINK(sink)) {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    status = read_frames(pipeline, GST_APP_SINK(sink), frames);
    gst_element_set_state(pipeline, GST_STATE_NULL);
  } else {
    g_printerr("%s: the pipeline needs an appsink name=survivors\n", kProgram);
  }
  gst_clear_object(&sink);
  gst_object_unref(pipeline);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::vector<std::string> words(argv + 1, argv + argc);
  guint64 frames = G_MAXUINT64;
  if (words.size() > 1 && words[0] == "--frames") {
    frames = g_ascii_strtoull(words[1].c_str(), nullptr, 10);
    words.erase(words.begin(), words.begin() + 2);
  }
  int status = 2;
  if (words.empty() || frames == 0)
    g_printerr("usage: %s [--frames N] PIPELINE, with an appsink name=survivors\n", kProgram);
  else
    status = run(words, frames);
  gst_deinit();
  return status;
}
