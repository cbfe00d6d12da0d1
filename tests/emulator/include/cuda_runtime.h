// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// As much of CUDA as the kernels use, for the host's compiler: device code runs as it stands, thread by thread
// (emulator.hpp). Not for speed.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "emulator.hpp"

#define CROWD_EMULATED
#define __grid_constant__
#define __host__
#define __noinline__
#define __device__
#define __global__
#define __launch_bounds__(...)

using dim3 = crowd::emulator::Size;

using crowd::emulator::blockDim;
using crowd::emulator::blockIdx;
using crowd::emulator::gridDim;
using crowd::emulator::threadIdx;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// Warps: every lane hands in a value, and sees those of all.

template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  const auto base = static_cast<int>(crowd::emulator::lane()) / width * width;
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = crowd::emulator::exchange(crowd::emulator::Step::shuffle, mask, word)[base + lane % width];
  std::memcpy(&value, &word, sizeof value);
  return value;
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return __shfl_sync(mask, value, static_cast<int>(crowd::emulator::lane()) ^ bits);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned step) {
  const unsigned lane = crowd::emulator::lane();
  return __shfl_sync(mask, value, static_cast<int>(lane >= step ? lane - step : lane));
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned step) {
  const unsigned lane = crowd::emulator::lane();
  return __shfl_sync(mask, value, static_cast<int>(lane + step < 32 ? lane + step : lane));
}
inline unsigned __ballot_sync(unsigned mask, bool value) {
  const auto& all = crowd::emulator::exchange(crowd::emulator::Step::vote, mask, value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    bits |= static_cast<unsigned>(all[lane]) << lane;
  return bits & mask;
}
inline bool __all_sync(unsigned mask, bool value) {
  return __ballot_sync(mask, value) == mask;
}
inline bool __any_sync(unsigned mask, bool value) {
  return __ballot_sync(mask, value) != 0;
}
inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  const auto& all = crowd::emulator::exchange(crowd::emulator::Step::match, mask, value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    bits |= static_cast<unsigned>(all[lane] == value) << lane;
  return bits & mask;
}
template <typename Join>
unsigned emulated_reduction(unsigned mask, unsigned value, Join join) {
  const auto& all = crowd::emulator::exchange(crowd::emulator::Step::vote, mask, value);
  auto result = static_cast<unsigned>(all[0]);
  for (unsigned lane = 1; lane < 32; ++lane)
    result = join(result, static_cast<unsigned>(all[lane]));
  return result;
}
/// Of whole warps.
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return emulated_reduction(mask, value, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return emulated_reduction(mask, value, [](unsigned a, unsigned b) { return std::min(a, b); });
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return emulated_reduction(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
inline void __syncwarp() {
  crowd::emulator::exchange(crowd::emulator::Step::barrier, ~0u, 0);
}

inline void __syncthreads() {
  crowd::emulator::block_barrier(false);
}
inline bool __syncthreads_or(bool value) {
  return crowd::emulator::block_barrier(value);
}
inline int __syncthreads_count(bool value) {
  return static_cast<int>(crowd::emulator::block_barrier(value));
}
inline bool __syncthreads_and(bool value) {
  return !crowd::emulator::block_barrier(!value);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// Threads run one at a time: a read-modify-write is atomic as it is.

template <typename T, typename Make>
T emulated_atomic(T* at, Make make) {
  const T before = *at;
  *at = make(before);
  crowd::emulator::have_accessed();
  return before;
}
template <typename T>
T atomicAdd(T* at, T value) {
  return emulated_atomic(at, [=](T before) { return static_cast<T>(before + value); });
}
template <typename T>
T atomicMax(T* at, T value) {
  return emulated_atomic(at, [=](T before) { return std::max(before, value); });
}
template <typename T>
T atomicMin(T* at, T value) {
  return emulated_atomic(at, [=](T before) { return std::min(before, value); });
}
template <typename T>
T atomicCAS(T* at, T expected, T value) {
  return emulated_atomic(at, [=](T before) { return before == expected ? value : before; });
}
template <typename T>
T atomicExch(T* at, T value) {
  return emulated_atomic(at, [=](T) { return value; });
}
template <typename T>
T atomicAnd(T* at, T value) {
  return emulated_atomic(at, [=](T before) { return static_cast<T>(before & value); });
}
template <typename T>
T atomicOr(T* at, T value) {
  return emulated_atomic(at, [=](T before) { return static_cast<T>(before | value); });
}

inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
inline int __clz(int bits) {
  return bits ? __builtin_clz(static_cast<unsigned>(bits)) : 32;
}
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
inline int __ffsll(long long bits) {
  return __builtin_ffsll(bits);
}
/// The upper half of high:low, shifted left by up to 32.
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned count) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both << std::min(count, 32u) >> 32);
}
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
/// Rounded down.
inline float __fmaf_rd(float a, float b, float c) {
  const int mode = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  const volatile float x = a;
  const volatile float y = b;
  const volatile float z = c;
  const volatile float sum = std::fma(x, y, z);
  std::fesetround(mode);
  return sum;
}
inline float __saturatef(float value) {
  return value > 0 ? std::min(value, 1.0F) : 0;
}
inline float rsqrtf(float value) {
  return 1 / std::sqrt(value);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
// Conversions saturate, and NaN becomes 0.
inline int __float2int_rd(float value) {
  const double down = std::floor(static_cast<double>(value));
  return value != value ? 0 : static_cast<int>(std::clamp(down, -2147483648.0, 2147483647.0));
}
inline unsigned __float2uint_rd(float value) {
  const double down = std::floor(static_cast<double>(value));
  return value != value ? 0 : static_cast<unsigned>(std::clamp(down, 0.0, 4294967295.0));
}

template <typename A, typename B>
constexpr auto min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B>
constexpr auto max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

// The runtime: one device, which starts a kernel when the one before it has ended.

using cudaStream_t = struct CUstream_st*;
enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInsufficientDriver,
  cudaErrorNotSupported,
  cudaErrorNotReady
};
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor, cudaDevAttrMultiProcessorCount, cudaDevAttrCooperativeLaunch };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributeNonPortableClusterSizeAllowed };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeCooperative
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
    int cooperative;
    dim3 clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

// The library asks each device once: they have to have numbers of their own.
inline cudaError_t cudaGetDevice(int* device) {
  *device = 1000 * crowd::emulator::device().capability + crowd::emulator::device().processors;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const crowd::emulator::Device device = crowd::emulator::device();
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? device.capability
           : attribute == cudaDevAttrMultiProcessorCount  ? device.processors
                                                          : crowd::emulator::can_hold(device.processors);
  return cudaSuccess;
}
/// A block a processor.
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}
#include "emulated_graphs.hpp"

inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) {
  return "";
}
struct cudaFuncAttributes {
  int ptxVersion;
};
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
  attributes->ptxVersion = 10 * crowd::emulator::device().capability;
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}
namespace crowd::emulator {

inline void launch_or_record(const Launch& shape, const std::function<void()>& kernel) {
  if (EmulatedGraph::recording)
    EmulatedGraph::recording->kernels.push_back([=] { launch(shape, kernel); });
  else
    launch(shape, kernel);
}

template <typename Extent>
Size as_size(Extent extent) {
  if constexpr (std::is_integral_v<Extent>)
    return {static_cast<unsigned>(extent), 1, 1};
  else
    return extent;
}

/// kernel<<<grid, block, shared_bytes, stream>>>
template <typename Grid, typename Block, typename... Parameters>
auto with_shape(void (*kernel)(Parameters...), Grid grid, Block block, std::size_t shared_bytes, cudaStream_t) {
  const Launch shape = {as_size(grid), as_size(block), shared_bytes, 1};
  return [=](Parameters... arguments) { launch_or_record(shape, [=] { kernel(arguments...); }); };
}

}  // namespace crowd::emulator

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               const Arguments&... arguments) {
  unsigned cluster = 1;
  for (unsigned k = 0; k < config->numAttrs; ++k)
    if (config->attrs[k].id == cudaLaunchAttributeClusterDimension)
      cluster = config->attrs[k].val.clusterDim.x;
  if (config->dynamicSmemBytes > crowd::emulator::device().shared_bytes)
    return cudaErrorInvalidValue;
  const crowd::emulator::Launch shape = {config->gridDim, config->blockDim, config->dynamicSmemBytes, cluster};
  crowd::emulator::launch_or_record(shape, [=] { kernel(arguments...); });
  return cudaSuccess;
}

#include "emulated_memory.hpp"
