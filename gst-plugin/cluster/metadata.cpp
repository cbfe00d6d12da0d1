// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/metadata.hpp"

#include <algorithm>

namespace crowd {

namespace {

using meta::KindId;

bool is_wanted(const meta::Kind& kind, KindId wanted) {
  return wanted == KindId::automatic || kind.row->id == wanted;
}

/// Whether survivors leave as metadata of this kind, as far as the settings say.
bool writes(const NmsSettings& settings, const meta::AdapterRow& row) {
  if (settings.output == KindId::automatic)
    return row.writes && row.standard;
  return settings.output == KindId::all || settings.output == row.id;
}

bool writes_awaited(const Frame& frame, const meta::Kind& kind) {
  if (!writes(frame.settings, *kind.row))
    return false;
  return !frame.left_on_device || (frame.settings.output != KindId::automatic && &kind != frame.source);
}

bool rewrites_source(const Frame& frame) {
  return writes(frame.settings, *frame.source->row) && frame.source->adapter->edits();
}

std::size_t objects_to_write(meta::Mode mode, const meta::Verdict& verdict) {
  if (mode == meta::Mode::replace)
    return verdict.survivors.size();
  return verdict.places.size() -
         static_cast<std::size_t>(std::ranges::count(verdict.places, std::int32_t{meta::place_rejected}));
}

/// Whether meta-output=auto leaves this kind out, for what so many objects cost as it.
bool leaves_out(Frame& frame, const meta::AdapterRow& row, std::size_t objects) {
  if (frame.settings.output != KindId::automatic || objects <= row.max_automatic)
    return false;
  frame.left_out = &row;
  return true;
}

}  // namespace

void Metadata::start() {
  kinds_.clear();
  for (const meta::AdapterRow& row : rows_)
    kinds_.push_back({.row = &row, .adapter = row.make()});
}

const meta::Kind* Metadata::find_source(GstBuffer* buffer, KindId wanted) const {
  for (const meta::Kind& kind : kinds_) {
    if (is_wanted(kind, wanted) && kind.adapter->probe(buffer))
      return &kind;
  }
  return nullptr;
}

bool Metadata::has_lost(GstBuffer* buffer, KindId wanted) const {
  bool lost = false;
  for (const meta::Kind& kind : kinds_)
    lost |= is_wanted(kind, wanted) && kind.adapter->lost(buffer);
  return lost;
}

bool Metadata::needs_host(const Frame& frame) const {
  bool needed = false;
  for (const meta::Kind& kind : kinds_)
    needed |= writes_awaited(frame, kind);
  return needed;
}

bool Metadata::needs_representatives(const Frame& frame) {
  return frame.settings.mode != meta::Mode::replace ||
         frame.source->adapter->needs_representatives(rewrites_source(frame));
}

bool Metadata::write(GstBuffer* buffer, Frame& frame, const meta::Candidates& candidates,
                     const meta::Verdict& verdict) const {
  const meta::Mode mode = frame.settings.mode;
  const bool rewritten = rewrites_source(frame);
  const std::size_t objects = objects_to_write(mode, verdict);
  ids_.clear();
  bool written = true;
  for (const meta::Kind& kind : kinds_) {
    const bool is_source = &kind == frame.source;
    if (is_source && rewritten) {
      kind.adapter->rewrite(buffer, candidates, verdict, mode, ids_);
      continue;
    }
    if (writes(frame.settings, *kind.row) && !leaves_out(frame, *kind.row, objects))
      written &= kind.adapter->write(buffer, frame.size, candidates, verdict, mode, ids_);
    if (is_source && mode == meta::Mode::replace)
      kind.adapter->take_off(buffer, candidates, verdict, ids_);
  }
  return written;
}

bool Metadata::write_awaited(GstBuffer* buffer, Frame& frame, const meta::Candidates& survivors,
                             const meta::Verdict& verdict) const {
  ids_.clear();
  bool written = true;
  for (const meta::Kind& kind : kinds_) {
    if (writes_awaited(frame, kind) && !leaves_out(frame, *kind.row, verdict.survivors.size()))
      written &= kind.adapter->write(buffer, frame.size, survivors, verdict, meta::Mode::replace, ids_);
  }
  return written;
}

bool leaves_on_device(const NmsSettings& settings, const meta::AdapterRow& source, bool downstream_reads) {
  if (settings.output != KindId::automatic)
    return settings.output == KindId::all || settings.output == source.id;
  return downstream_reads;
}

}  // namespace crowd
