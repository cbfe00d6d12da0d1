// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The emulator's own view of what runs: threads in warps, blocks and clusters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator.hpp"
#include "fibers.hpp"

namespace crowd::emulator {

constexpr unsigned warp_size = 32;

/// A warp's operation in progress, and the values of the last one done.
struct Warp {
  Step step = Step::none;
  unsigned mask = 0;
  unsigned arrived = 0;
  std::uint64_t done = 0;  ///< operations
  std::array<std::uint64_t, warp_size> in{}, out{};
};

/// A variable in static shared memory.
struct SharedVariable {
  const void* key;
  std::unique_ptr<std::byte[]> memory;
};

struct Block {
  std::vector<std::byte> memory;
  std::vector<SharedVariable> variables;
  std::vector<Warp> warps;
  unsigned running = 0;
  unsigned arrived = 0;
  std::uint64_t done = 0;  ///< barriers
  unsigned on = 0;         ///< threads that came with true
  unsigned result = 0;
};

struct Thread {
  Fiber* fiber;
  Size index, block_index;
  unsigned block;           ///< in the cluster
  std::uint64_t phase = 0;  ///< of the cluster when it arrived
  bool ready = true;
  bool ended = false;
};

/// Blocks that run together.
struct Cluster {
  std::vector<Block> blocks;
  std::vector<Thread> threads;
  std::vector<Thread*> round;  ///< ready threads that have their turn before the others have another one
  unsigned arrived = 0;
  unsigned running = 0;  ///< threads
  std::uint64_t phase = 0;
};

/// The thread that runs, and its cluster.
extern Thread* current;
extern Cluster* cluster;

/// Notes that the current thread has ended.
void end_thread();

/// Ends the program with a message that names the kernel, the schedule and the current thread.
[[noreturn]] void give_up(const char* reason);

}  // namespace crowd::emulator
