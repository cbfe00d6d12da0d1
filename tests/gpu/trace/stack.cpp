// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "stack.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <sstream>

namespace crowd::trace {
namespace {

constexpr int max_frames = 64;

Place find_place(const void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname)
    return {{}, "?"};
  const std::string_view path = info.dli_fname;
  std::ostringstream where;
  where << path.substr(path.rfind('/') + 1) << "+0x" << std::hex
        << reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return {caller_named(path), where.str()};
}

}  // namespace

Stack::Stack() {
  // The first call of backtrace() loads a library, which a callback of the driver had better not do.
  void* frame = nullptr;
  backtrace(&frame, 1);
}

const Place& Stack::caller() {
  std::array<void*, max_frames> frames;
  const int n = backtrace(frames.data(), max_frames);
  std::array<const Place*, max_frames> places;
  for (int i = 0; i < n; i++)
    places[i] = place_of(frames[i]);
  const Place* found = caller_of(std::span(places).first(n));
  return found ? *found : unknown_;
}

const Place* Stack::place_of(const void* address) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = places_.find(address);
    if (found != places_.end())
      return &found->second;
  }
  // Without the lock: dladdr() waits for a thread that loads a library, which may be waiting for this one.
  Place place = find_place(address);
  const std::unique_lock lock(mutex_);
  return &places_.try_emplace(address, std::move(place)).first->second;
}

}  // namespace crowd::trace
