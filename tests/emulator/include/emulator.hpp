// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs device code on the host: every CUDA thread is a fiber, which goes on until it has to wait for others, then
// another one does, drawn by lot. Some blocks, or clusters, are in flight at a time and have turns, as a Schedule says:
// one that has to wait for what another one writes lets that go on. So the logic of a kernel is tested where there is
// no GPU, in many more orders than a GPU takes.
//
// What a GPU would leave undefined, or would never end, ends the program with a message that names the kernel: threads
// of a warp that wait for each other at different operations, a barrier that some threads never reach, blocks that wait
// for one another, or for one that cannot start before they end.
//
// It does not see
// * races: threads run one at a time, and change only where they wait for others and at some of the accesses that
//   memory.cuh and atomics make. Between two of these, plain reads and writes are as one;
// * weak memory: every write is seen by all at once and in the order of the code, so that a missing fence, release or
//   acquire makes no difference, nor does one of the wrong scope;
// * what depends on lanes of a warp that run together, or on a compiler that moves, merges or repeats accesses;
// * programmatic dependent launch: a kernel starts when the one before it has ended, and pdl_wait() does nothing;
// * copies beside kernels, several streams, and code that only the device compiles, such as PTX;
// * bounds: of memory only the address sanitizer sees them, of registers, of shared memory and of time nothing does.
// Those are for a GPU: suite gpu, and compute-sanitizer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace crowd::emulator {

struct Size {
  unsigned x = 1, y = 1, z = 1;
  constexpr Size(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Of the running thread.
inline Size threadIdx, blockIdx, blockDim, gridDim;

struct Launch {
  Size grid;
  Size block;
  std::size_t shared_bytes;
  unsigned cluster;
};

/// Runs the kernel to its end.
void launch(const Launch& launch, const std::function<void()>& kernel);

/// How blocks start and have turns. CUDA promises no order in which blocks start, and that one that has started goes
/// on, however others wait; a kernel has to bear any of these.
enum class Order {
  in_order,  ///< the first block first, and as far as it gets
  reversed,  ///< the last block starts first; of those in flight the one that started last goes on first
  random     ///< any block starts, any goes on, for a long time or a short one
};
struct Schedule {
  Order order = Order::in_order;
  /// Blocks in flight, or clusters if a kernel has these; 0 is taken for 1.
  unsigned in_flight = 4;
  /// Turns of threads without a block that ends, after which blocks are taken to wait for one another.
  std::uint64_t patience = 50'000'000;
  /// Of the processor's time for a turn, after which the thread is taken to be in a loop without end.
  unsigned seconds = 30;
};
/// From the next launch on.
void set_schedule(const Schedule& schedule);
Schedule schedule();
/// The schedule and the seed in words, for a test's messages.
std::string describe_schedule();

/// Draws the order of threads, and that of blocks if it is random, anew from here on.
void seed(std::uint64_t value);
struct Device {
  int capability = 9;                    ///< the major one
  int processors = 4;                    ///< fewer make for larger tiles
  std::size_t shared_bytes = 227 << 10;  ///< dynamic shared memory of a block, at most
};
Device device();
void set_device(const Device& device);
/// Whether so many blocks are in flight at a time, if there are as many.
bool can_hold(int blocks);

/// Where warps work together, blocks have one dimension.
enum class Step { none, shuffle, vote, match, barrier };

inline unsigned lane() {
  return threadIdx.x % 32;
}

/// Hands in a word and returns those of all lanes, once all of `mask` are at this step. They last until the lane's next
/// step.
const std::array<std::uint64_t, 32>& exchange(Step step, unsigned mask, std::uint64_t word);

/// Waits for all threads of the block; returns how many of them brought `value`.
unsigned block_barrier(bool value);

unsigned block_in_cluster();
void cluster_arrive();
void cluster_wait();

/// Where another thread may have its turn. After each access of memory.cuh and each atomic.
inline unsigned accesses_left = 1;  ///< before that is so
void let_others_go_on();
inline void have_accessed() {
  if (--accesses_left == 0)
    let_others_go_on();
}

/// Where another block may have its turn. After each store of memory.cuh.
void have_published();

// What derive.py makes of the volatile accesses of memory.cuh.
template <typename T>
T load(const T* word) {
  const T value = *word;
  have_accessed();
  return value;
}
template <typename T, typename Value>
void store(T* word, Value value) {
  *word = static_cast<T>(value);
  have_published();
}

/// Called by kernels as they begin; `name` lasts.
inline const char* kernel_name = "a kernel";
inline void begin_kernel(const char* name) {
  kernel_name = name;
}

/// The block's memory of a variable in static shared memory, which its key stands for.
void* shared_variable(const void* key, std::size_t bytes);
template <typename Holder>
Holder& shared_variable() {
  static_assert(alignof(Holder) <= alignof(std::max_align_t));
  static char key;
  return *static_cast<Holder*>(shared_variable(&key, sizeof(Holder)));
}

/// Dynamic shared memory of the block.
std::byte* shared_memory();
/// The same place in that of another block of the cluster.
void* shared_of(unsigned block, const void* mine);

}  // namespace crowd::emulator
