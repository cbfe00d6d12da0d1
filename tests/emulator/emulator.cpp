// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "emulator.hpp"

#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace crowd::emulator {

namespace {

constexpr std::size_t stack_bytes = 256 << 10;
constexpr unsigned warp_size = 32;

/// A warp's operation in progress, and the values of the last one done.
struct Warp {
  Step step = Step::none;
  unsigned mask = 0;
  unsigned arrived = 0;
  std::uint64_t done = 0;  ///< operations
  std::array<std::uint64_t, warp_size> in{}, out{};
};

struct Block {
  std::vector<std::byte> memory;
  std::vector<Warp> warps;
  unsigned running = 0;
  unsigned arrived = 0;
  std::uint64_t done = 0;  ///< barriers
  bool any = false;
  bool result = false;
};

struct Thread {
  ucontext_t context;
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
  unsigned arrived = 0;
  std::uint64_t phase = 0;
};

Cluster* cluster = nullptr;
Thread* current = nullptr;
ucontext_t scheduler;
const std::function<void()>* entry = nullptr;
std::mt19937_64 lots;
Device used;

[[noreturn]] void give_up(const char* reason) {
  std::fprintf(stderr, "emulator: block %u of %u, thread %u: %s\n", blockIdx.x, gridDim.x, threadIdx.x, reason);
  std::abort();
}

std::byte* aligned(std::vector<std::byte>& memory) {
  constexpr std::size_t to = 16;
  return memory.data() + (to - reinterpret_cast<std::uintptr_t>(memory.data()) % to) % to;
}

unsigned block_threads() {
  return blockDim.x * blockDim.y;
}

Block& my_block() {
  return cluster->blocks[current->block];
}

/// Lets others go on until `counter` is past `before`.
void await(const std::uint64_t& counter, std::uint64_t before) {
  while (counter == before) {
    current->ready = false;
    swapcontext(&current->context, &scheduler);
  }
}

void wake(std::size_t first, std::size_t count) {
  for (std::size_t t = first; t < first + count; ++t)
    cluster->threads[t].ready = !cluster->threads[t].ended;
}

void pass_barrier(unsigned number) {
  Block& block = cluster->blocks[number];
  if (!block.arrived || block.arrived < block.running)
    return;
  block.result = block.any;
  block.arrived = 0;
  block.any = false;
  ++block.done;
  wake(static_cast<std::size_t>(number) * block_threads(), block_threads());
}

void run_thread() {
  (*entry)();
  current->ended = true;
  current->ready = false;
  --my_block().running;
  pass_barrier(current->block);
  swapcontext(&current->context, &scheduler);
}

void resume(Thread& thread) {
  current = &thread;
  threadIdx = thread.index;
  blockIdx = thread.block_index;
  swapcontext(&scheduler, &thread.context);
}

void start(Thread& thread, std::size_t number) {
  static std::vector<std::unique_ptr<char[]>> stacks;
  if (number >= stacks.size())
    stacks.push_back(std::make_unique_for_overwrite<char[]>(stack_bytes));
#if defined(__SANITIZE_ADDRESS__)
  // The thread that had it before left without taking its marks along.
  __asan_unpoison_memory_region(stacks[number].get(), stack_bytes);
#endif
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = stacks[number].get();
  thread.context.uc_stack.ss_size = stack_bytes;
  thread.context.uc_link = nullptr;
  makecontext(&thread.context, run_thread, 0);
}

void run_cluster(const Launch& launch, unsigned first, unsigned y) {
  Cluster blocks;
  cluster = &blocks;
  blocks.blocks.resize(launch.cluster);
  const unsigned threads = block_threads();
  blocks.threads.resize(static_cast<std::size_t>(launch.cluster) * threads);
  for (Block& block : blocks.blocks) {
    block.memory.assign(launch.shared_bytes + 16, std::byte{0xA5});
    block.warps.resize((threads + warp_size - 1) / warp_size);
    block.running = threads;
  }
  for (std::size_t t = 0; t < blocks.threads.size(); ++t) {
    Thread& thread = blocks.threads[t];
    const unsigned in_block = static_cast<unsigned>(t) % threads;
    thread.block = static_cast<unsigned>(t) / threads;
    thread.index = {in_block % launch.block.x, in_block / launch.block.x, 0};
    thread.block_index = {first + thread.block, y, 0};
    start(thread, t);
  }
  std::vector<Thread*> ready;
  while (true) {
    ready.clear();
    bool all_ended = true;
    for (Thread& thread : blocks.threads) {
      all_ended &= thread.ended;
      if (thread.ready)
        ready.push_back(&thread);
    }
    if (all_ended)
      break;
    if (ready.empty())
      give_up("every thread waits for another");
    std::shuffle(ready.begin(), ready.end(), lots);
    for (Thread* thread : ready)
      resume(*thread);
  }
  cluster = nullptr;
}

}  // namespace

void launch(const Launch& launch, const std::function<void()>& kernel) {
  entry = &kernel;
  gridDim = launch.grid;
  blockDim = launch.block;
  for (unsigned y = 0; y < launch.grid.y; ++y)
    for (unsigned x = 0; x < launch.grid.x; x += launch.cluster)
      run_cluster(launch, x, y);
}

void seed(std::uint64_t value) {
  lots.seed(value);
}

Device device() {
  return used;
}

void set_device(const Device& device) {
  used = device;
}

const std::array<std::uint64_t, 32>& exchange_words(Step step, unsigned mask, std::uint64_t value) {
  Warp& warp = my_block().warps[threadIdx.x / warp_size];
  if (!warp.arrived) {
    warp.step = step;
    warp.mask = mask;
  } else if (warp.step != step || warp.mask != mask) {
    give_up("its warp waits at another operation");
  }
  warp.in[lane()] = value;
  warp.arrived |= 1u << lane();
  if (warp.arrived == mask) {
    warp.out = warp.in;
    warp.arrived = 0;
    ++warp.done;
    const std::size_t first =
        static_cast<std::size_t>(current->block) * block_threads() + threadIdx.x / warp_size * warp_size;
    wake(first, warp_size);
  } else {
    const std::uint64_t before = warp.done;
    await(warp.done, before);
  }
  return warp.out;
}

bool block_barrier(bool value) {
  Block& block = my_block();
  const std::uint64_t before = block.done;
  block.any |= value;
  ++block.arrived;
  pass_barrier(current->block);
  await(block.done, before);
  return block.result;
}

unsigned block_in_cluster() {
  return current->block;
}

void cluster_arrive() {
  current->phase = cluster->phase;
  if (++cluster->arrived < cluster->threads.size())
    return;
  cluster->arrived = 0;
  ++cluster->phase;
  wake(0, cluster->threads.size());
}

void cluster_wait() {
  await(cluster->phase, current->phase);
}

std::byte* shared_memory() {
  return aligned(my_block().memory);
}

void* shared_of(unsigned block, const void* mine) {
  return aligned(cluster->blocks[block].memory) + (static_cast<const std::byte*>(mine) - shared_memory());
}

}  // namespace crowd::emulator
