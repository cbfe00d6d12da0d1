// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reports a thread that never comes to a place where others could go on: a loop without end, or one that waits in a way
// that the emulator does not see.
#pragma once

namespace crowd::emulator {

/// Watches while it exists. One at a time.
class Watchdog {
 public:
  /// Gives up once a turn has taken `seconds`, at least 1, of the processor's time.
  explicit Watchdog(unsigned seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A turn begins.
  static void begin_turn();
};

}  // namespace crowd::emulator
