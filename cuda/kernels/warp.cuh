// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the lanes of a warp do together, and instructions that the language has no words for. The emulator takes the
// other way round each of these.
#pragma once

#include "kernels/frames.cuh"

namespace crowd {

constexpr unsigned all_lanes = 0xffffffffu;

/// A condition for which code can be out of the way: a warp waits for instructions after each jump.
__device__ inline bool unlikely(bool condition) {
  return __builtin_expect(condition, false);
}

/// Works a value out here, where there is time, and not later.
template <typename T>
__device__ T materialize(T value) {
  static_assert(sizeof(T) == sizeof(std::uint64_t) || sizeof(T) == sizeof(std::uint32_t));
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == sizeof(std::uint64_t))
    asm volatile("" : "+l"(value));
  else
    asm volatile("" : "+r"(value));
#endif
  return value;
}

/// The same for an address in global memory, which the compiler goes on to know that it is.
template <typename T>
__device__ T* materialize(T* global) {
#ifdef __CUDA_ARCH__
  return static_cast<T*>(__cvta_global_to_generic(materialize(__cvta_generic_to_global(global))));
#else
  return global;
#endif
}

/// Loads from shared memory here, and not behind the next branch.
__device__ inline std::uint32_t load_volatile(const std::uint32_t& shared) {
  return *static_cast<const volatile std::uint32_t*>(&shared);
}

/// blockIdx.x, read by itself: lest the compiler keep it in a register until it is asked for again.
__device__ inline std::uint32_t read_block_index() {
#ifdef __CUDA_ARCH__
  std::uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
#else
  return blockIdx.x;
#endif
}

/// The first `count` bits of 32, which may be more.
__device__ inline std::uint32_t low_bits(std::uint32_t count) {
#ifdef __CUDA_ARCH__
  std::uint32_t bits;
  asm("bmsk.clamp.b32 %0, 0, %1;" : "=r"(bits) : "r"(count));
  return bits;
#else
  return __funnelshift_lc(~0u, 0, count);
#endif
}

/// The number of the highest_bit bit, of which there is one.
__device__ inline std::uint32_t highest_bit(std::uint32_t bits) {
  return 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
}

/// Where words in shared memory are, in a single register: for loads that depend on one another, and what is to be an
/// instruction each.
class SharedWords {
#ifdef __CUDA_ARCH__
  using Address = std::uint32_t;

 public:
  __device__ explicit SharedWords(const std::uint32_t* words)
      : at_(static_cast<Address>(__cvta_generic_to_shared(words))) {}
  __device__ std::uint32_t operator[](std::uint32_t number) const {
    std::uint32_t word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at_ + number * size) : "memory");
    return word;
  }
  /// Adds one to the word here.
  __device__ void count() {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at_) : "memory");
  }
  /// Stores two words here, at a multiple of their size, and goes on behind them, if `number` is not 0, without a
  /// branch.
  __device__ void append_if(std::uint32_t number, std::uint32_t first, std::uint32_t second) {
    asm volatile(
        "{.reg .pred any; setp.ne.u32 any, %1, 0; @any st.shared.v2.u32 [%0], {%2, %3}; @any add.u32 %0, %0, %4;}"
        : "+r"(at_)
        : "r"(number), "r"(first), "r"(second), "n"(2 * size)
        : "memory");
  }
#else
  using Address = char*;

 public:
  explicit SharedWords(std::uint32_t* words) : at_(reinterpret_cast<char*>(words)) {}
  std::uint32_t operator[](std::uint32_t number) const {
    return reinterpret_cast<const std::uint32_t*>(at_)[number];
  }
  __device__ void count() {
    atomicAdd(reinterpret_cast<std::uint32_t*>(at_), 1u);
  }
  void append_if(std::uint32_t number, std::uint32_t first, std::uint32_t second) {
    if (!number)
      return;
    reinterpret_cast<std::uint32_t*>(at_)[0] = first;
    reinterpret_cast<std::uint32_t*>(at_)[1] = second;
    at_ += 2 * size;
  }
#endif
  SharedWords() = default;
  __device__ SharedWords& operator+=(std::uint32_t words) {
    at_ += words * size;
    return *this;
  }
  /// Words from there to here.
  __device__ std::uint32_t operator-(const SharedWords& from) const {
    return static_cast<std::uint32_t>(at_ - from.at_) / size;
  }

 private:
  static constexpr std::uint32_t size = sizeof(std::uint32_t);

  Address at_;
};

/// Sum over each group of so many lanes of a warp, a power of two.
template <unsigned lanes>
__device__ std::uint32_t group_sum(std::uint32_t value) {
#pragma unroll
  for (unsigned step = lanes / 2; step; step /= 2)
    value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}

__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, value);
#else
  return group_sum<32>(value);
#endif
}

__device__ inline std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes, value);
#else
  for (unsigned step = 16; step; step /= 2)
    value = min(value, __shfl_xor_sync(all_lanes, value, step));
  return value;
#endif
}

__device__ inline std::uint32_t warp_max(std::uint32_t value) {
  return ~warp_min(~value);
}

/// Sum over this lane and those before it.
__device__ inline std::uint32_t warp_prefix(std::uint32_t value) {
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
#ifdef __CUDA_ARCH__
    // The predicate says whether there is a lane to add, which takes half of the instructions.
    asm("{.reg .pred there; .reg .u32 other; shfl.sync.up.b32 other|there, %0, %1, 0, -1; @there add.u32 %0, %0, "
        "other;}"
        : "+r"(value)
        : "r"(step));
#else
    const std::uint32_t other = __shfl_up_sync(all_lanes, value, step);
    value += threadIdx.x % 32 >= step ? other : 0;
#endif
  }
  return value;
}

/// Takes `own` places for each lane of a warp off a counter, and says where they begin.
__device__ inline std::uint32_t take_places(std::uint32_t& counter, std::uint32_t own) {
  const std::uint32_t upto = warp_prefix(own);
  std::uint32_t begin = 0;
  if (threadIdx.x % 32 == 31)
    begin = atomicAdd(&counter, upto);
  return __shfl_sync(all_lanes, begin, 31) + upto - own;
}

}  // namespace crowd
