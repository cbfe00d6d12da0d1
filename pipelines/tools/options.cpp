// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "options.hpp"

#include <gst/gst.h>

#include <memory>
#include <sstream>

namespace crowd {
namespace {

constexpr int kUsageError = 2;

struct RawOptions {
  gchar** sets = nullptr;
  gchar** words = nullptr;
  gdouble every_seconds = 1.0;
  gint64 every_frames = 0;
  gdouble from_seconds = 0.0;
  gdouble to_seconds = 0.0;
  gint64 frames = 0;
  gboolean check = FALSE;
  gboolean quiet = FALSE;

  ~RawOptions() {
    g_strfreev(sets);
    g_strfreev(words);
  }
};

int usage_error(const std::string& text) {
  g_printerr("gst-crowd-launch: %s\nTry gst-crowd-launch --help\n", text.c_str());
  return kUsageError;
}

std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> make_context(RawOptions& raw) {
  const GOptionEntry entries[] = {
      {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &raw.sets,
       "Give the property the next of these values again and again while playing", "NAME.PROPERTY=V1,V2,..."},
      {"every", 'e', 0, G_OPTION_ARG_DOUBLE, &raw.every_seconds, "Seconds between two values of --set (1)", "SECONDS"},
      {"every-frames", 'n', 0, G_OPTION_ARG_INT64, &raw.every_frames,
       "Frames between two values of --set, instead of --every", "FRAMES"},
      {"from", 'f', 0, G_OPTION_ARG_DOUBLE, &raw.from_seconds, "Where in the stream to begin (0)", "SECONDS"},
      {"to", 't', 0, G_OPTION_ARG_DOUBLE, &raw.to_seconds, "Where in the stream to end (its end)", "SECONDS"},
      {"frames", 0, 0, G_OPTION_ARG_INT64, &raw.frames,
       "Frames of the element that clusters to end the stream after (0: all)", "FRAMES"},
      {"check", 'c', 0, G_OPTION_ARG_NONE, &raw.check, "Make the pipeline, but do not play it", nullptr},
      {"quiet", 'q', 0, G_OPTION_ARG_NONE, &raw.quiet, "No line a second, just the summary", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw.words, nullptr, "PIPELINE"},
      {}};
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_set_strict_posix(context, TRUE);
  g_option_context_set_summary(context,
                               "Runs a pipeline in the language of gst-launch-1.0, says once a second how many\n"
                               "candidates crowdnms sees and how many survive, and sums up at the end.\n"
                               "Ctrl-C ends the stream and finishes files; a second one stops at once.");
  g_option_context_set_description(context,
                                   "What elements of gst-crowd could not do is listed at the end as lost, with the\n"
                                   "element's name; the first of each kind is told in a warning when it happens.\n"
                                   "\n"
                                   "Exit status: 0 at the end of the stream, also if something was lost; 1 after an\n"
                                   "error; 2 if the command line is wrong; 3 at the end of the stream if one of these\n"
                                   "elements failed on every frame that it got.");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  return {context, g_option_context_free};
}

/** What is wrong with a number of the command line, or null. */
const char* wrong_number(const RawOptions& raw) {
  constexpr double kMostSeconds = 1e6;
  if (!(raw.every_seconds >= 0.001 && raw.every_seconds <= kMostSeconds))
    return "--every must be from 0.001 to 1000000 seconds";
  if (raw.every_frames < 0 || raw.frames < 0)
    return "--every-frames and --frames must not be negative";
  if (!(raw.from_seconds >= 0 && raw.from_seconds <= kMostSeconds))
    return "--from must be from 0 to 1000000 seconds";
  if (raw.to_seconds != 0 && !(raw.to_seconds > raw.from_seconds && raw.to_seconds <= kMostSeconds))
    return "--to must be later than --from";
  return nullptr;
}

}  // namespace

std::optional<Sweep> parse_sweep(const std::string& text) {
  const auto equals = text.find('=');
  const auto dot = text.rfind('.', equals);
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals)
    return std::nullopt;
  Sweep sweep{text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), {}};
  std::istringstream values(text.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) {
    if (value.empty())
      return std::nullopt;
    sweep.values.push_back(value);
  }
  if (sweep.values.empty())
    return std::nullopt;
  return sweep;
}

std::variant<Options, int> parse_options(int argc, char** argv) {
  RawOptions raw;
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(make_context(raw).get(), &argc, &argv, &error))
    return usage_error(error->message);
  if (!raw.words)
    return usage_error(
        "no pipeline given, for example: videotestsrc num-buffers=100 ! crowdinject ! crowdnms ! fakesink");
  if (const char* wrong = wrong_number(raw))
    return usage_error(wrong);

  Options options;
  for (gchar** set = raw.sets; set && *set; set++) {
    auto sweep = parse_sweep(*set);
    if (!sweep)
      return usage_error(std::string("--set wants NAME.PROPERTY=V1,V2,... and not ") + *set);
    options.sweeps.push_back(std::move(*sweep));
  }
  for (gchar** word = raw.words; *word; word++)
    options.words.emplace_back(*word);
  options.every_seconds = raw.every_seconds;
  options.every_frames = static_cast<std::uint64_t>(raw.every_frames);
  options.from_seconds = raw.from_seconds;
  options.to_seconds = raw.to_seconds;
  options.frames = static_cast<std::uint64_t>(raw.frames);
  options.check = raw.check;
  options.quiet = raw.quiet;
  return options;
}

}  // namespace crowd
