// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs device code on the host: every CUDA thread is a fiber, which goes on until it has to wait for others, then
// another one does, drawn by lot. Blocks run one after another, those of a cluster together. So the logic of a kernel
// is tested where there is no GPU, in many more orders than a GPU takes; its races and its speed are not.
//
// What a GPU would leave undefined ends the program with a message: threads of a warp that wait for each other at
// different operations, a barrier that some threads never reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

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

/// Draws the order of threads anew from here on.
void seed(std::uint64_t value);
struct Device {
  int capability = 9;  ///< the major one
  int processors = 4;  ///< fewer make for larger tiles
};
Device device();
void set_device(const Device& device);

/// Where warps work together, blocks have one dimension.
enum class Step { none, shuffle, vote, match, barrier };

inline unsigned lane() {
  return threadIdx.x % 32;
}

/// Hands in a value and returns those of all lanes, once all of `mask` are at this step.
const std::array<std::uint64_t, 32>& exchange_words(Step step, unsigned mask, std::uint64_t value);

template <typename T>
std::array<T, 32> exchange(Step step, unsigned mask, T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  const auto& words = exchange_words(step, mask, word);
  std::array<T, 32> values;
  for (unsigned k = 0; k < 32; ++k)
    std::memcpy(&values[k], &words[k], sizeof(T));
  return values;
}

/// Waits for all threads of the block; returns whether any of them brought `value`.
bool block_barrier(bool value);

unsigned block_in_cluster();
void cluster_arrive();
void cluster_wait();

/// Dynamic shared memory of the block.
std::byte* shared_memory();
/// The same place in that of another block of the cluster.
void* shared_of(unsigned block, const void* mine);

}  // namespace crowd::emulator
