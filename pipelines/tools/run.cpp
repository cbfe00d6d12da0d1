// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "run.hpp"

#include <glib-unix.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "losses.hpp"
#include "pipeline.hpp"
#include "report.hpp"

namespace crowd {
namespace {

constexpr char kProgram[] = "gst-crowd-launch";
constexpr guint kSecondMs = 1000;
constexpr int kError = 1;
constexpr int kFailedThroughout = 3;

/// The first element that clusters, whose stats count.
GstElement* find_nms(GstBin* pipeline) {
  GstElement* nms = find_element(pipeline, "crowdnms");
  return nms ? nms : find_element(pipeline, "crowdtensordec");
}

}  // namespace

Run::Run(GstElement* pipeline, const Options& options)
    : pipeline_(pipeline),
      nms_(find_nms(GST_BIN(pipeline))),
      options_(options),
      loop_(g_main_loop_new(nullptr, FALSE)),
      expected_frames_(frame_limit(GST_BIN(pipeline))) {}

Run::~Run() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  sweepers_.clear();
  g_main_loop_unref(loop_);
  gst_clear_object(&nms_);
  gst_object_unref(pipeline_);
}

std::optional<std::string> Run::prepare() {
  if (options_.frames > 0) {
    if (!nms_)
      return "--frames: there is no crowdnms or crowdtensordec in this pipeline to count frames at";
    GstPad* pad = gst_element_get_static_pad(nms_, "sink");
    end_after(pad, options_.frames);
    gst_object_unref(pad);
    expected_frames_ = std::min(options_.frames, expected_frames_.value_or(options_.frames));
  }
  for (const Sweep& sweep : options_.sweeps) {
    auto made = Sweeper::make(GST_BIN(pipeline_), sweep);
    if (auto* wrong = std::get_if<std::string>(&made))
      return *wrong;
    sweepers_.push_back(std::move(std::get<std::unique_ptr<Sweeper>>(made)));
    if (options_.every_frames > 0 && !sweepers_.back()->step_every_frames(options_.every_frames))
      return "--every-frames: " + sweep.element + " has no sink pad to count frames at; use --every";
  }
  return std::nullopt;
}

int Run::play() {
  GstBus* bus = gst_element_get_bus(pipeline_);
  gst_bus_add_watch(bus, on_message, this);
  std::vector<guint> timers = {g_unix_signal_add(SIGINT, on_interrupt, this),
                               g_unix_signal_add(SIGTERM, on_interrupt, this)};
  if (!options_.quiet)
    timers.push_back(g_timeout_add(kSecondMs, on_second, this));
  if (options_.every_frames == 0 && !sweepers_.empty())
    timers.push_back(g_timeout_add(static_cast<guint>(options_.every_seconds * kSecondMs), on_sweep, this));

  started_us_ = last_line_us_ = g_get_monotonic_time();
  gst_element_set_state(pipeline_, starts_elsewhere() ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  g_main_loop_run(loop_);

  const double played = seconds();
  // What the device counts is all there once its element has stopped.
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  const int status = failed_ ? kError : print_summary(played);
  for (guint timer : timers)
    g_source_remove(timer);
  gst_bus_remove_watch(bus);
  gst_object_unref(bus);
  return status;
}

gboolean Run::on_message(GstBus*, GstMessage* message, gpointer self) {
  static_cast<Run*>(self)->take_message(message);
  return G_SOURCE_CONTINUE;
}

void Run::take_message(GstMessage* message) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_EOS:
      g_main_loop_quit(loop_);
      break;
    case GST_MESSAGE_ERROR:
      take_error(message);
      break;
    case GST_MESSAGE_WARNING:
      print_warning(kProgram, message);
      break;
    case GST_MESSAGE_ASYNC_DONE:
      if (starts_elsewhere() && !std::exchange(started_elsewhere_, true))
        start_elsewhere();
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(GST_BIN(pipeline_));
      break;
    case GST_MESSAGE_CLOCK_LOST:
      restart_clock();
      break;
    default:
      break;
  }
}

void Run::take_error(GstMessage* message) {
  if (!failed_)
    print_error(kProgram, message);
  fail(nullptr);
}

void Run::fail(const char* text) {
  if (text)
    g_printerr("%s: %s\n", kProgram, text);
  failed_ = true;
  g_main_loop_quit(loop_);
}

void Run::restart_clock() {
  gst_element_set_state(pipeline_, GST_STATE_PAUSED);
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
}

bool Run::starts_elsewhere() const {
  return options_.from_seconds > 0 || options_.to_seconds > 0;
}

/** Once there is a first frame: seeks, and plays from there. What was counted until then is not of this run. */
void Run::start_elsewhere() {
  const auto from = static_cast<gint64>(options_.from_seconds * GST_SECOND);
  const auto to = static_cast<gint64>(options_.to_seconds * GST_SECOND);
  const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
  if (nms_) {
    GstPad* pad = gst_element_get_static_pad(nms_, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH, on_flush, this, nullptr);
    gst_object_unref(pad);
  }
  GstElement* sink = any_sink(GST_BIN(pipeline_));
  const bool sought = sink && gst_element_seek(sink, 1.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, from,
                                               to > 0 ? GST_SEEK_TYPE_SET : GST_SEEK_TYPE_NONE, to);
  gst_clear_object(&sink);
  if (!sought)
    return fail("--from, --to: this stream cannot be sought in; leave them out");
  last_line_ = {};
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
}

/** At the end of the flush, no frame is on its way through the element. */
GstPadProbeReturn Run::on_flush(GstPad*, GstPadProbeInfo* info, gpointer self) {
  auto* run = static_cast<Run*>(self);
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_FLUSH_STOP) {
    const std::lock_guard lock(run->before_mutex_);
    run->before_ = read_counts(run->nms_);
  }
  return GST_PAD_PROBE_OK;
}

gboolean Run::on_second(gpointer self) {
  static_cast<Run*>(self)->print_progress();
  return G_SOURCE_CONTINUE;
}

gboolean Run::on_interrupt(gpointer self) {
  auto* run = static_cast<Run*>(self);
  if (run->interrupted_) {
    run->fail("stopped at once; files may be incomplete");
    return G_SOURCE_CONTINUE;
  }
  run->interrupted_ = true;
  g_printerr("%s: finishing what has begun; once more to stop at once\n", kProgram);
  gst_element_send_event(run->pipeline_, gst_event_new_eos());
  return G_SOURCE_CONTINUE;
}

gboolean Run::on_sweep(gpointer self) {
  for (const auto& sweeper : static_cast<Run*>(self)->sweepers_)
    sweeper->step();
  return G_SOURCE_CONTINUE;
}

Counts Run::counts() {
  const std::lock_guard lock(before_mutex_);
  return read_counts(nms_).since(before_);
}

double Run::seconds() const {
  return static_cast<double>(g_get_monotonic_time() - started_us_) / G_USEC_PER_SEC;
}

void Run::print_progress() {
  const gint64 now = g_get_monotonic_time();
  const double since = static_cast<double>(now - last_line_us_) / G_USEC_PER_SEC;
  const Counts all = nms_ ? counts() : Counts{};
  const Counts lately = all.since(last_line_);
  last_line_us_ = now;
  last_line_ = all;

  const Progress progress =
      nms_ ? query_progress(nms_, all.frames, expected_frames_) : query_progress(pipeline_, 0, std::nullopt);
  const double fps = static_cast<double>(lately.frames) / since;
  std::string line = progress_line(nms_ ? &all : nullptr, lately, progress, fps, seconds());
  for (const auto& sweeper : sweepers_)
    line += "  " + sweeper->text();
  g_print("%s\n", line.c_str());
}

/** Returns the exit status. */
int Run::print_summary(double seconds) {
  const Counts all = nms_ ? counts() : Counts{};
  const Losses losses = read_losses(GST_BIN(pipeline_));
  g_print("%s", summary(nms_ ? &all : nullptr, losses, seconds, interrupted_).c_str());
  for (const std::string& name : losses.failed())
    g_printerr("%s: %s failed on every frame, see its warning\n", kProgram, name.c_str());
  return losses.failed().empty() ? 0 : kFailedThroughout;
}

}  // namespace crowd
