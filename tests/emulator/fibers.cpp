// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The checked longjmp() takes one to another stack for an error.
#undef _FORTIFY_SOURCE

#include "fibers.hpp"

#include <ucontext.h>

#include <cstddef>
#include <cstdlib>

namespace crowd::emulator {

namespace {

constexpr std::size_t stack_bytes = 256 << 10;

Fiber* running = nullptr;
std::jmp_buf home;

/// Stacks lie whole pages apart: what fibers use most would share the same few sets of the cache.
std::size_t stagger() {
  constexpr std::size_t step = 320, steps = 61;
  static std::size_t number = 0;
  return number++ % steps * step / 16 * 16;
}

}  // namespace

Fiber::Fiber(void (*body)()) : body_(body), stack_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes)) {}

void Fiber::begin() {
  begun_ = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack_.get();
  context.uc_stack.ss_size = stack_bytes - stagger();
  context.uc_link = nullptr;
  makecontext(&context, body_, 0);
  setcontext(&context);
  std::abort();
}

// Jumps, since swapcontext() makes a system call at every switch, for the mask of signals. They leave the
// floating-point modes as they are.
void Fiber::resume() {
  running = this;
  if (_setjmp(home))
    return;
  if (!begun_)
    begin();
  _longjmp(at_, 1);
}

void Fiber::prefetch_stack() const {
  constexpr std::ptrdiff_t line = 64, lines = 8;
  for (std::ptrdiff_t k = 0; k < lines; ++k)
    __builtin_prefetch(top_ + k * line);
}

void Fiber::pause() {
  running->top_ = static_cast<const char*>(__builtin_frame_address(0));
  if (!_setjmp(running->at_))
    _longjmp(home, 1);
}

}  // namespace crowd::emulator
