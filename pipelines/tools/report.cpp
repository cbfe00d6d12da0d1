// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace crowd {
namespace {

constexpr double kNsPerMs = 1e6;

template <typename... Values>
std::string format(const char* text, Values... values) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), text, values...);
  return line.data();
}

double mean(std::uint64_t total, std::uint64_t frames) {
  return frames ? static_cast<double>(total) / static_cast<double>(frames) : 0.0;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<unsigned long>(seconds + 0.5);
  return format("%lu:%02lu", whole / 60, whole % 60);
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

double host_ms(const Counts& counts) {
  return mean(counts.nms_ns, counts.frames - counts.device_frames) / kNsPerMs;
}

/** Of frames clustered in system memory, of those in CUDA memory, or a line of each. */
std::string nms_times(const Counts& counts) {
  std::string text;
  if (counts.device_frames < counts.frames || counts.frames == 0)
    text = format("nms         %.3f ms a frame, backend %s\n", host_ms(counts), counts.backend.c_str());
  if (counts.device_frames == 0)
    return text;
  if (counts.device_timed == 0)
    return text + "nms         on the device, too few frames to be timed, backend " + counts.backend + "\n";
  return text + format("nms         on the device %.3f ms a frame, mean of %llu timed, backend %s\n",
                       mean(counts.device_ns, counts.device_timed) / kNsPerMs,
                       static_cast<unsigned long long>(counts.device_timed), counts.backend.c_str());
}

}  // namespace

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

std::string progress_line(const Counts* counts, const Counts& lately, const Progress& progress, double fps,
                          double seconds) {
  std::string line;
  if (counts) {
    line = format("frame %5llu", static_cast<unsigned long long>(counts->frames));
    if (progress.frames)
      line += format("/%llu", static_cast<unsigned long long>(*progress.frames));
    line += format("  candidates %5llu  survivors %4llu", static_cast<unsigned long long>(counts->last_candidates),
                   static_cast<unsigned long long>(counts->last_survivors));
    if (lately.frames > 0)
      line += lately.device_frames == lately.frames ? "  nms on the device" : format("  nms %.3f ms", host_ms(lately));
    line += format("  %.1f fps", fps);
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

std::string summary(const Counts* counts, const Losses& losses, double seconds, bool interrupted) {
  std::string text;
  if (counts) {
    text += format("candidates  %.1f a frame\n", mean(counts->candidates, counts->frames));
    text += format("survivors   %.1f a frame\n", mean(counts->survivors, counts->frames));
    text += nms_times(*counts);
  }
  if (losses.known())
    text += "lost        " + losses.text() + "\n";
  text += format("time        %.1f s", seconds);
  if (counts && counts->frames > 0)
    text += format(", %.1f fps", static_cast<double>(counts->frames) / seconds);
  text += interrupted ? ", interrupted\n" : "\n";
  if (!counts)
    return text + "done: no crowdnms or crowdtensordec in this pipeline\n";
  return text + format("done: %llu frames, %llu candidates, %llu survivors\n",
                       static_cast<unsigned long long>(counts->frames),
                       static_cast<unsigned long long>(counts->candidates),
                       static_cast<unsigned long long>(counts->survivors));
}

}  // namespace crowd
