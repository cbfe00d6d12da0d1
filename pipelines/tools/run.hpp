// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "counts.hpp"
#include "options.hpp"
#include "sweeper.hpp"

namespace crowd {

/** One run of a pipeline, from PLAYING to the end of the stream, an error or Ctrl-C. */
class Run {
 public:
  /** Takes the pipeline over. */
  Run(GstElement* pipeline, const Options& options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  /** Sets the sweeps up; what is wrong with them, if anything is. */
  std::optional<std::string> prepare();

  /** Plays until it is over; the exit status: 0 at the end of the stream, 1 after an error, 3 at the end of the
   *  stream if an element of ours failed on every frame. */
  int play();

 private:
  static gboolean on_message(GstBus* bus, GstMessage* message, gpointer self);
  static gboolean on_second(gpointer self);
  static gboolean on_interrupt(gpointer self);
  static gboolean on_sweep(gpointer self);
  static GstPadProbeReturn on_flush(GstPad* pad, GstPadProbeInfo* info, gpointer self);

  void take_message(GstMessage* message);
  void take_error(GstMessage* message);
  void restart_clock();
  bool starts_elsewhere() const;
  void start_elsewhere();
  void fail(const char* text);
  Counts counts();
  double seconds() const;
  void print_progress();
  int print_summary(double seconds);

  GstElement* pipeline_;
  GstElement* nms_;  // the first crowdnms of the pipeline, or null
  const Options& options_;
  GMainLoop* loop_;
  std::vector<std::unique_ptr<Sweeper>> sweepers_;
  std::optional<std::uint64_t> expected_frames_;
  std::mutex before_mutex_;
  Counts before_;  // of frames before the start that --from asks for; under before_mutex_
  Counts last_line_;
  gint64 started_us_ = 0;
  gint64 last_line_us_ = 0;
  bool started_elsewhere_ = false;
  bool failed_ = false;
  bool interrupted_ = false;
};

}  // namespace crowd
