// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// gst-crowd-read-survivors: an application of its own that reads what crowdnms found. It needs nothing of gst-crowd:
// survivors are standard region-of-interest metas. It runs a pipeline with an appsink called `survivors` and prints a
// line of JSON for each frame, or for the first ones only, see survivors.hpp. crowdinject replays these lines.

#include <gst/app/gstappsink.h>
#include <gst/gst.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "pipeline.hpp"
#include "survivors.hpp"

namespace {

constexpr char kProgram[] = "gst-crowd-read-survivors";
constexpr GstClockTime kPatience = 100 * GST_MSECOND;  // between two looks for an error

/** Prints the frame's line at once; false, and a message, where that fails. Not g_print(): it converts to the locale.
 */
bool print_frame(guint64 frame, GstSample* sample) {
  const std::string line = crowd::survivors_line(frame, sample);
  if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0)
    return true;
  g_printerr("%s: the survivors cannot be written: %s\n", kProgram, g_strerror(errno));
  return false;
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
      const bool printed = print_frame(frame++, sample);
      gst_sample_unref(sample);
      if (!printed)
        return 1;
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
