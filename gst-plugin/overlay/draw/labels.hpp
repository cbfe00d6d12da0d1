// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** labels.hpp: numbers for the names of classes, the same from frame to frame. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace crowd::draw {

/**
 * A name keeps its number, in whatever order frames name their classes, so that a table of names in device memory is
 * good for all of them and is uploaded again only where a name is new. Names that come no more are forgotten with all
 * others once there are `max_names`, so that memory is bounded. A stream that names each object anew costs an upload
 * for every frame with a new name.
 */
class LabelTable {
 public:
  static constexpr std::size_t max_names = 256;

  LabelTable() = default;
  LabelTable(const LabelTable&) = delete;
  LabelTable& operator=(const LabelTable&) = delete;

  /** Numbers are those of the frames before, unless these have had `max_names` names: then they are given anew. */
  void begin_frame();

  /** The number of a name, UTF-8; -1 of null. A frame may have any number of names. Throws std::bad_alloc. */
  std::int32_t index_of(const char* name);

  /** All names, each at its number. The span lives until the next call. */
  std::span<const char* const> names() const {
    return names_;
  }

 private:
  std::deque<std::string> words_;  // which stay where they are
  std::vector<const char*> names_;
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

}  // namespace crowd::draw
