// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Warp-wide operations, and single instructions that C++ has no expression for. The emulator compiles the branch
// without PTX of each.
#pragma once

#include "kernels/frames.cuh"

namespace crowd {

constexpr unsigned all_lanes = 0xffffffffu;

/// A condition that is usually false: its code goes out of line. A warp waits for instructions after each taken jump.
__device__ inline bool unlikely(bool condition) {
  return __builtin_expect(condition, false);
}

/// Forces the value to be computed here, for instance while memory is waited for, and not where it is used.
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

/// The same for a vector.
__device__ inline uint4 materialize(const uint4& v) {
  return {materialize(v.x), materialize(v.y), materialize(v.z), materialize(v.w)};
}

/// The same for an address in global memory; the compiler still knows its address space afterwards.
template <typename T>
__device__ T* materialize(T* global) {
#ifdef __CUDA_ARCH__
  return static_cast<T*>(__cvta_global_to_generic(materialize(__cvta_generic_to_global(global))));
#else
  return global;
#endif
}

/// blockIdx.x in a register of its own, which need not live until blockIdx.x is used again.
__device__ inline std::uint32_t read_block_index() {
#ifdef __CUDA_ARCH__
  std::uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
#else
  return blockIdx.x;
#endif
}

/// Waits for some nanoseconds, twice as many at most.
__device__ inline void sleep_about([[maybe_unused]] std::uint32_t nanoseconds) {
#ifdef __CUDA_ARCH__
  __nanosleep(nanoseconds);
#endif
}

/// A vector of that lane. For a whole warp.
__device__ inline float4 from_lane(const float4& v, int lane) {
  return {__shfl_sync(all_lanes, v.x, lane), __shfl_sync(all_lanes, v.y, lane), __shfl_sync(all_lanes, v.z, lane),
          __shfl_sync(all_lanes, v.w, lane)};
}

/// Whether `value` holds on any lane that happens to run together with this one: for what affects speed alone.
__device__ inline bool any_running(bool value) {
#ifdef __CUDA_ARCH__
  return __any_sync(__activemask(), value);
#else
  return value;
#endif
}

/// Lanes of the mask before the own one.
__device__ inline std::uint32_t lanes_before(unsigned lanes) {
  return static_cast<std::uint32_t>(__popc(lanes & ((1u << threadIdx.x % 32) - 1)));
}

/// A mask of the lowest `count` bits; all 32 if `count` is larger.
__device__ inline std::uint32_t low_bits(std::uint32_t count) {
#ifdef __CUDA_ARCH__
  std::uint32_t bits;
  asm("bmsk.clamp.b32 %0, 0, %1;" : "=r"(bits) : "r"(count));
  return bits;
#else
  return __funnelshift_lc(~0u, 0, count);
#endif
}

/// The number of the highest bit that is set. At least one is.
__device__ inline std::uint32_t highest_bit(std::uint32_t bits) {
  return 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
}

/// The number of the lowest bit that is set. At least one is.
__device__ inline std::uint32_t lowest_bit(std::uint32_t bits) {
  return highest_bit(bits & (0 - bits));
}

/// A pointer to words in shared memory in one register, for chains of dependent loads and for operations that have to
/// be one instruction each.
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
  /// Atomically adds one to the word pointed to.
  __device__ void count() {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at_) : "memory");
  }
  /// Stores a word, if `condition` holds, without a branch.
  __device__ void store_if(bool condition, std::uint32_t number, std::uint32_t word) const {
    asm volatile("{.reg .pred it; setp.ne.u32 it, %0, 0; @it st.shared.u32 [%1], %2;}" ::"r"(
                     static_cast<std::uint32_t>(condition)),
                 "r"(at_ + number * size), "r"(word)
                 : "memory");
  }
  /// If `number` is not 0, stores two words and advances behind them, without a branch. Aligned to two words.
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
  void store_if(bool condition, std::uint32_t number, std::uint32_t word) const {
    if (condition)
      reinterpret_cast<std::uint32_t*>(at_)[number] = word;
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
  /// Distance in words.
  __device__ std::uint32_t operator-(const SharedWords& from) const {
    return static_cast<std::uint32_t>(at_ - from.at_) / size;
  }

 private:
  static constexpr std::uint32_t size = sizeof(std::uint32_t);

  Address at_;
};

/// Sum over each group of `lanes` lanes, a power of two.
template <unsigned lanes>
__device__ std::uint32_t group_sum(std::uint32_t value) {
#pragma unroll
  for (unsigned step = lanes / 2; step; step /= 2)
    value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}

__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800 || defined(CROWD_EMULATED)
  return __reduce_add_sync(all_lanes, value);
#else
  return group_sum<32>(value);
#endif
}

__device__ inline std::uint32_t warp_min(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800 || defined(CROWD_EMULATED)
  return __reduce_min_sync(all_lanes, value);
#else
  for (unsigned step = 16; step; step /= 2)
    value = min(value, __shfl_xor_sync(all_lanes, value, step));
  return value;
#endif
}

__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800 || defined(CROWD_EMULATED)
  return __reduce_or_sync(all_lanes, value);
#else
  for (unsigned step = 16; step; step /= 2)
    value |= __shfl_xor_sync(all_lanes, value, step);
  return value;
#endif
}

__device__ inline std::uint32_t warp_max(std::uint32_t value) {
  return ~warp_min(~value);
}

__device__ inline std::uint64_t warp_max(std::uint64_t value) {
  const auto upper = static_cast<std::uint32_t>(value >> 32);
  const std::uint32_t largest = warp_max(upper);
  const std::uint32_t lower = warp_max(upper == largest ? static_cast<std::uint32_t>(value) : 0);
  return static_cast<std::uint64_t>(largest) << 32 | lower;
}

/// The largest value, and a lane that has it. For a whole warp.
struct LaneMax {
  std::uint64_t value;
  int lane;
};
__device__ inline LaneMax warp_max_of(std::uint64_t value) {
  const std::uint64_t largest = warp_max(value);
  return {largest, __ffs(static_cast<int>(__ballot_sync(all_lanes, value == largest))) - 1};
}

/// Inclusive prefix sum over the lanes of a warp.
__device__ inline std::uint32_t warp_prefix(std::uint32_t value) {
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
#ifdef __CUDA_ARCH__
    // shfl sets the predicate if the source lane exists: half of the instructions.
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

/// Reserves `own` places of a shared counter for each lane, with one atomic per warp. Returns the lane's first.
__device__ inline std::uint32_t take_places(std::uint32_t& counter, std::uint32_t own) {
  const std::uint32_t upto = warp_prefix(own);
  std::uint32_t begin = 0;
  if (threadIdx.x % 32 == 31)
    begin = atomicAdd(&counter, upto);
  return __shfl_sync(all_lanes, begin, 31) + upto - own;
}

}  // namespace crowd
