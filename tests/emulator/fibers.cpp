// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The checked longjmp() takes one to another stack for an error.
#undef _FORTIFY_SOURCE

#include "fibers.hpp"

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
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes - stagger();
  context_.uc_link = nullptr;
  makecontext(&context_, body_, 0);
  setcontext(&context_);
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

void Fiber::pause() {
  if (!_setjmp(running->at_))
    _longjmp(home, 1);
}

}  // namespace crowd::emulator
