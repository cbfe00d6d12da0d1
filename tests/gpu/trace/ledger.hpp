// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "callers.hpp"
#include "calls.hpp"

namespace crowd::trace {

struct Event {
  std::string_view function;  ///< lives as long as the ledger
  Call call;
  std::uint64_t bytes = 0;
  std::string_view kernel = {};
};

/// When a kernel ran on the device, in nanoseconds of a clock that all share.
struct Span {
  std::uint32_t stream;
  std::uint64_t start, end;
};

/// Counts events by function and place, in three windows of time: the first frames, the frames after them, and what
/// comes after the last frame. A frame ends with the launch of the kernel whose name has a given word in it.
class Ledger {
 public:
  Ledger(std::string frame_kernel, std::uint64_t start_frames);

  /// Not safe to be called from two threads at a time. The place lives as long as the ledger.
  void add(const Event& event, const Place& place);
  /// When one launch of a kernel ran. Beside the windows: it becomes known only later.
  void add_time(std::string_view kernel, const Span& span);
  std::string as_json() const;

 private:
  struct Key {
    std::string_view function;
    const Place* place;
    Direction direction;

    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    Call call;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
  };
  struct Window {
    std::uint64_t frames = 0;
    std::map<Key, Entry> entries;
    std::map<std::string, std::uint64_t, std::less<>> kernels;

    void take(Window& other);
  };
  class Writer;

  std::string frame_kernel_;
  std::uint64_t start_frames_;
  Window start_, steady_, since_frame_;
  std::map<std::string, std::vector<Span>, std::less<>> times_;
};

}  // namespace crowd::trace
