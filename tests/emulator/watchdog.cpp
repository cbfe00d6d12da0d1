// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "watchdog.hpp"

#include <sys/time.h>

#include <csignal>

#include "blocks.hpp"

namespace crowd::emulator {

namespace {

volatile std::sig_atomic_t in_this_turn = 0;  ///< whole seconds
volatile std::sig_atomic_t limit = 0;

void tick(int) {
  in_this_turn = in_this_turn + 1;
  if (in_this_turn > limit)
    give_up("the thread goes on without end, and without a place where others could go on");
}

void set_timer(time_t seconds) {
  itimerval every{};
  every.it_value.tv_sec = every.it_interval.tv_sec = seconds;
  setitimer(ITIMER_VIRTUAL, &every, nullptr);
}

}  // namespace

Watchdog::Watchdog(unsigned seconds) {
  limit = static_cast<std::sig_atomic_t>(seconds);
  begin_turn();
  struct sigaction action {};
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGVTALRM, &action, nullptr);
  set_timer(1);
}

Watchdog::~Watchdog() {
  set_timer(0);
}

void Watchdog::begin_turn() {
  in_this_turn = 0;
}

}  // namespace crowd::emulator
