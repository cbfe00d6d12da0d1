// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fibers: functions with a stack each, which run in turns in one thread of the host.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <memory>

namespace crowd::emulator {

class Fiber {
 public:
  /// `body` never returns.
  explicit Fiber(void (*body)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with the fiber until it calls pause(). For what is no fiber.
  void resume();
  /// Returns from resume(). For the fiber that runs.
  static void pause();
  /// Loads what resume() needs, and a little later what the fiber does, into the cache: there are hundreds of them.
  void prefetch() const {
    __builtin_prefetch(&top_);
    __builtin_prefetch(&at_);
  }
  void prefetch_stack() const;

 private:
  [[noreturn]] void begin();

  bool begun_ = false;
  const char* top_ = nullptr;  ///< of the stack, when it paused
  std::jmp_buf at_;
  void (*body_)();
  std::unique_ptr<std::byte[]> stack_;
};

}  // namespace crowd::emulator
