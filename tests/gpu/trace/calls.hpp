// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crowd::trace {

enum class Kind {
  none,
  launch,
  graph_launch,
  copy,
  memset,
  synchronise,
  query,
  allocate,
  release,
  create_stream,
  create_event,
  create_graph,
};
constexpr std::size_t kinds = 12;

enum class Direction { host_to_device, device_to_host, device_to_device, host_to_host, peer, unknown };
constexpr std::size_t directions = 6;

/// Where the arguments of a function say how many bytes, and for some copies from where to where.
enum class Form { none, word, pitched, flat, rectangle, cuboid, peer_cuboid, batch };

/// What a function of the driver does, as far as it is counted.
struct Call {
  Kind kind = Kind::none;
  Form form = Form::none;
  Direction direction = Direction::unknown;
  std::size_t word = 0;  ///< which argument has the bytes, if the form is a word
  bool waits = false;    ///< a copy that the host waits for

  bool operator==(const Call&) const = default;
};

/// By the function's name with any of its suffixes: _v2, _ptsz, ...
Call classify(std::string_view function);

/// Values of CUmemorytype.
constexpr unsigned memory_host = 1, memory_device = 2, memory_array = 3;

Direction direction_between(unsigned from, unsigned to);

}  // namespace crowd::trace
