// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace crowd {
namespace {

constexpr double kNsPerMs = 1e6;

template <typename... Values>
std::string format(const char* text, Values... values) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), text, values...);
  return line.data();
}

double ms(std::uint64_t ns) {
  return static_cast<double>(ns) / kNsPerMs;
}

double mean(std::uint64_t total, std::uint64_t frames) {
  return frames ? static_cast<double>(total) / static_cast<double>(frames) : 0.0;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<unsigned long>(seconds + 0.5);
  return format("%lu:%02lu", whole / 60, whole % 60);
}

std::uint64_t count_of(const GstStructure* structure, const char* field) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (!value)
    return 0;
  if (G_VALUE_HOLDS_UINT(value))
    return g_value_get_uint(value);
  return G_VALUE_HOLDS_UINT64(value) ? g_value_get_uint64(value) : 0;
}

std::string text_of(const GstStructure* structure, const char* field) {
  const gchar* text = gst_structure_get_string(structure, field);
  return text ? text : "unknown";
}

/** How many frames of the current rate of an element's sink pad a duration holds. */
std::optional<std::uint64_t> frames_in(GstElement* element, gint64 duration) {
  GstPad* pad = gst_element_get_static_pad(element, "sink");
  GstCaps* caps = pad ? gst_pad_get_current_caps(pad) : nullptr;
  gst_clear_object(&pad);
  gint numerator = 0;
  gint denominator = 1;
  if (caps)
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &numerator, &denominator);
  gst_clear_caps(&caps);
  if (numerator <= 0 || denominator <= 0)
    return std::nullopt;
  return gst_util_uint64_scale_round(static_cast<guint64>(duration), static_cast<guint64>(numerator),
                                     static_cast<guint64>(denominator) * GST_SECOND);
}

std::uint64_t nms_quantile(const Tally& tally, double share) {
  return std::min(tally.nms_times.quantile(share), tally.most.nms_ns);
}

std::string last_nms(const Tally& tally) {
  return tally.last.on_device ? "on the device" : format("%.3f ms", ms(tally.last.nms_ns));
}

/** Of frames clustered in system memory, of those in CUDA memory, or a line of each. */
std::string nms_times(const Tally& tally, const GstStructure* stats) {
  const std::string backend = text_of(stats, "backend");
  std::string text;
  if (tally.frames_on_device < tally.frames || tally.frames == 0)
    text = format("nms         median %.3f ms, 99 %% within %.3f ms, longest %.3f ms, backend %s\n",
                  ms(nms_quantile(tally, 0.5)), ms(nms_quantile(tally, 0.99)), ms(tally.most.nms_ns), backend.c_str());
  if (tally.frames_on_device == 0)
    return text;
  const std::uint64_t timed = count_of(stats, "device-frames-timed");
  if (timed == 0)
    return text + "nms         on the device, too few frames to be timed, backend " + backend + "\n";
  return text + format("nms         on the device %.3f ms a frame, mean of %llu timed, backend %s\n",
                       mean(count_of(stats, "device-time"), timed) / kNsPerMs, static_cast<unsigned long long>(timed),
                       backend.c_str());
}

}  // namespace

std::optional<FrameCounts> read_frame_counts(const GstStructure* message) {
  if (!message || !gst_structure_has_name(message, "crowdnms"))
    return std::nullopt;
  gboolean on_device = FALSE;
  gst_structure_get_boolean(message, "on-device", &on_device);
  return FrameCounts{count_of(message, "candidates"), count_of(message, "survivors"), count_of(message, "nms-time"),
                     on_device != FALSE};
}

Progress query_progress(GstElement* element, std::uint64_t frames, std::optional<std::uint64_t> limit) {
  Progress progress{std::nullopt, limit};
  gint64 position = 0;
  gint64 duration = 0;
  if (gst_element_query_duration(element, GST_FORMAT_TIME, &duration) && duration > 0) {
    if (gst_element_query_position(element, GST_FORMAT_TIME, &position))
      progress.share = std::clamp(static_cast<double>(position) / static_cast<double>(duration), 0.0, 1.0);
    if (const auto own = frames_in(element, duration))
      progress.frames = std::min(*own, limit.value_or(*own));
  }
  if (progress.frames)
    progress.share = std::min(1.0, static_cast<double>(frames) / static_cast<double>(*progress.frames));
  return progress;
}

std::string progress_line(const Tally* tally, const Progress& progress, double fps, double seconds) {
  std::string line;
  if (tally) {
    line = format("frame %5llu", static_cast<unsigned long long>(tally->frames));
    if (progress.frames)
      line += format("/%llu", static_cast<unsigned long long>(*progress.frames));
    line += format("  candidates %5llu  survivors %4llu  nms %s  %.1f fps",
                   static_cast<unsigned long long>(tally->last.candidates),
                   static_cast<unsigned long long>(tally->last.survivors), last_nms(*tally).c_str(), fps);
  } else {
    line = "playing since " + duration_text(seconds);
  }
  const double share = progress.share.value_or(0.0);
  if (progress.share)
    line += format("  %3.0f %%", 100 * share);
  if (share > 0 && share < 1)
    line += "  " + duration_text(seconds * (1 - share) / share) + " to go";
  return line;
}

std::string summary(const Tally& tally, const GstStructure* stats, const Losses& losses, double seconds,
                    bool interrupted) {
  const auto frames = static_cast<unsigned long long>(tally.frames);
  std::string text;
  if (stats) {
    text += format("candidates  %.1f a frame, at most %llu\n", mean(tally.total.candidates, tally.frames),
                   static_cast<unsigned long long>(tally.most.candidates));
    text += format("survivors   %.1f a frame, at most %llu\n", mean(tally.total.survivors, tally.frames),
                   static_cast<unsigned long long>(tally.most.survivors));
    text += nms_times(tally, stats);
  }
  if (losses.known())
    text += "lost        " + losses.text() + "\n";
  text += format("time        %.1f s", seconds);
  if (tally.frames > 0)
    text += format(", %.1f fps", static_cast<double>(tally.frames) / seconds);
  text += interrupted ? ", interrupted\n" : "\n";
  if (!stats)
    return text + "done: no crowdnms in this pipeline\n";
  return text + format("done: %llu frames, %llu candidates, %llu survivors\n", frames,
                       static_cast<unsigned long long>(tally.total.candidates),
                       static_cast<unsigned long long>(tally.total.survivors));
}

}  // namespace crowd
