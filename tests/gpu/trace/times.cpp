// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "times.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace crowd::trace {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20, buffer_alignment = 64;

/// How the record begins in every toolkit since 9.
using Kernel = CUpti_ActivityKernel4;

/// CUPTI carries no pointer of ours to the functions that it calls.
TakeTime* taker = nullptr;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *bytes = *buffer ? buffer_bytes : 0;
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> owned(buffer, std::free);
  CUpti_Activity* record = nullptr;
  std::size_t lost = 0;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      continue;
    const auto& kernel = *reinterpret_cast<const Kernel*>(record);
    if (kernel.end < kernel.start || !kernel.end)
      lost++;
    else
      taker(kernel.name ? kernel.name : "?", {kernel.streamId, kernel.start, kernel.end});
  }
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
    lost += dropped;
  if (lost)
    std::fprintf(stderr, "libcrowdtrace: the times of %zu kernels are lost\n", lost);
}

}  // namespace

CUptiResult record_times(TakeTime* take) {
  taker = take;
  const CUptiResult result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  return result == CUPTI_SUCCESS ? cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) : result;
}

void flush_times() {
  if (taker)
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

}  // namespace crowd::trace
