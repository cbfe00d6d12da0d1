// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "options.hpp"

namespace crowd {

/** Walks a property of an element of a pipeline through a list of values, round and round. */
class Sweeper {
 public:
  /** The sweeper, its first value already set, or one sentence about what is wrong with the request. */
  static std::variant<std::unique_ptr<Sweeper>, std::string> make(GstBin* pipeline, const Sweep& sweep);

  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;
  ~Sweeper();

  /** Sets the next value. From any thread, one at a time. */
  void step();

  /** `NAME.PROPERTY=VALUE` as it is now. */
  std::string text() const;

  /** From now on steps in front of every n-th frame that enters the element; false if it has no sink pad. */
  bool step_every_frames(std::uint64_t n);

 private:
  Sweeper(GstElement* element, const Sweep& sweep);

  static GstPadProbeReturn on_frame(GstPad* pad, GstPadProbeInfo* info, gpointer self);

  GstElement* element_;
  const Sweep sweep_;
  std::vector<GValue> values_;
  std::atomic<std::size_t> steps_ = 0;
  GstPad* pad_ = nullptr;
  gulong probe_ = 0;
  std::uint64_t every_ = 0;
  std::uint64_t frames_ = 0;
};

}  // namespace crowd
