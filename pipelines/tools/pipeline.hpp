// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace crowd {

/** Makes gst-crowd's elements and presets known to GStreamer, where they are installed in a place that it does not look
 * at. */
void find_plugins();

/** The pipeline that the words describe (transfer full), always a GstPipeline; null, with a message printed in the name
 *  of `program`, if there is none. */
GstElement* parse_pipeline(const char* program, const std::vector<std::string>& words);

/** The first element of the pipeline that a factory made, from the sink up (transfer full, nullable). */
GstElement* find_element(GstBin* pipeline, const char* factory);

/** Calls `visit` with every element of the pipeline, those that were added first before others. */
void for_each_element(GstBin* pipeline, const std::function<void(GstElement*)>& visit);

/** One of the sinks of the pipeline (transfer full, nullable). */
GstElement* any_sink(GstBin* pipeline);

/** How many frames the pipeline was told to make: the least num-buffers of its sources. */
std::optional<std::uint64_t> frame_limit(GstBin* pipeline);

/** Ends the stream at a sink pad after `frames` buffers. */
void end_after(GstPad* pad, std::uint64_t frames);

/** Plays the pipeline to the end of its stream and stops it. False if an element failed, which is printed. */
bool play_to_end(const char* program, GstElement* pipeline);

/** Prints a warning of a bus in the name of `program`. */
void print_warning(const char* program, GstMessage* message);

/** Prints an error message of a bus in the name of `program`, and how to learn more. */
void print_error(const char* program, GstMessage* message);

}  // namespace crowd
