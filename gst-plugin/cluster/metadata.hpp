// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which metadata of a frame crowdnms reads candidates from, and as which it leaves survivors.
#pragma once

#include <gst/gst.h>

#include <span>
#include <vector>

#include "cluster/frame.hpp"
#include "meta/adapter.hpp"

namespace crowd {

class Metadata {
 public:
  explicit Metadata(std::span<const meta::AdapterRow> rows) : rows_(rows) {}

  /// From here on as if it were new.
  void start();
  void stop() {
    kinds_.clear();
  }

  /// The kind that the frame's candidates are of; null if it has none.
  const meta::Kind* find_source(GstBuffer* buffer, meta::KindId wanted) const;

  /// Whether candidates were attached to the frame and dropped on the way, also where others are there.
  bool has_lost(GstBuffer* buffer, meta::KindId wanted) const;

  /// Whether survivors that lie in device memory are also, or only, written on the host.
  bool needs_host(const Frame& frame) const;

  /// Whether representatives and places are needed to write this frame.
  static bool needs_representatives(const Frame& frame);

  /// Writes survivors of what was read from the frame's source, and in mode replace takes the candidates off. False if
  /// there is no memory for them.
  [[nodiscard]] bool write(GstBuffer* buffer, Frame& frame, const meta::Candidates& candidates,
                           const meta::Verdict& verdict) const;

  /// Writes survivors that came from the device. False if there is no memory for them.
  [[nodiscard]] bool write_awaited(GstBuffer* buffer, Frame& frame, const meta::Candidates& survivors,
                                   const meta::Verdict& verdict) const;

 private:
  std::span<const meta::AdapterRow> rows_;
  std::vector<meta::Kind> kinds_;
  mutable meta::ObjectIds ids_;  // of one frame; a member for its memory
};

/// Whether survivors of candidates of this kind, in device memory, leave there as the same kind, where
/// `downstream_reads` them there.
bool leaves_on_device(const NmsSettings& settings, const meta::AdapterRow& source, bool downstream_reads);

}  // namespace crowd
