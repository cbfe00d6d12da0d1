// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the threads of a warp, a block or a cluster do together.

#include "emulator.hpp"

#include <algorithm>

#include "blocks.hpp"

namespace crowd::emulator {

Thread* current = nullptr;
Cluster* cluster = nullptr;

namespace {

constexpr std::size_t shared_alignment = 16;
constexpr std::byte unwritten{0xA5};

Device used;

std::byte* aligned(std::vector<std::byte>& memory) {
  return memory.data() +
         (shared_alignment - reinterpret_cast<std::uintptr_t>(memory.data()) % shared_alignment) % shared_alignment;
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
    Fiber::pause();
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
  block.result = block.on;
  block.arrived = 0;
  block.on = 0;
  ++block.done;
  wake(static_cast<std::size_t>(number) * block_threads(), block_threads());
}

}  // namespace

void end_thread() {
  current->ended = true;
  current->ready = false;
  --cluster->running;
  --my_block().running;
  pass_barrier(current->block);
}

Device device() {
  return used;
}

void set_device(const Device& device) {
  used = device;
}

const std::array<std::uint64_t, 32>& exchange(Step step, unsigned mask, std::uint64_t word) {
  Warp& warp = my_block().warps[threadIdx.x / warp_size];
  if (!warp.arrived) {
    warp.step = step;
    warp.mask = mask;
  } else if (warp.step != step || warp.mask != mask) {
    give_up("its warp waits at another operation");
  }
  warp.in[lane()] = word;
  warp.arrived |= 1u << lane();
  if (warp.arrived == mask) {
    warp.out = warp.in;
    warp.arrived = 0;
    ++warp.done;
    const std::size_t first =
        static_cast<std::size_t>(current->block) * block_threads() + threadIdx.x / warp_size * warp_size;
    wake(first, std::min<std::size_t>(warp_size, cluster->threads.size() - first));
  } else {
    const std::uint64_t before = warp.done;
    await(warp.done, before);
  }
  return warp.out;
}

unsigned block_barrier(bool value) {
  Block& block = my_block();
  const std::uint64_t before = block.done;
  block.on += value;
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

void* shared_variable(const void* key, std::size_t bytes) {
  std::vector<SharedVariable>& variables = my_block().variables;
  for (const SharedVariable& variable : variables)
    if (variable.key == key)
      return variable.memory.get();
  variables.push_back({key, std::make_unique_for_overwrite<std::byte[]>(bytes)});
  std::fill_n(variables.back().memory.get(), bytes, unwritten);
  return variables.back().memory.get();
}

}  // namespace crowd::emulator
