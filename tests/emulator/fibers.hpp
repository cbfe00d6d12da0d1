// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fibers: functions with a stack each, which run in turns in one thread of the host.
#pragma once

#include <ucontext.h>

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

 private:
  [[noreturn]] void begin();

  void (*body_)();
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t context_;
  std::jmp_buf at_;
  bool begun_ = false;
};

}  // namespace crowd::emulator
