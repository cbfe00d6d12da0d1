// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an error of the CUDA runtime means for a frame. C++17, for CUDA sources as well.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/deviceoutcome.hpp"

namespace crowd {

/// Clears the error, which the next call of cudaGetLastError() would return otherwise.
inline DeviceReport report_of(const char* what, cudaError_t error) {
  (void)cudaGetLastError();
  const auto outcome = error == cudaErrorMemoryAllocation ? DeviceOutcome::out_of_memory : DeviceOutcome::failed;
  return {outcome, std::string(what) + ": " + cudaGetErrorString(error)};
}

/// The report of work, or else that of an error around it; of two that are fatal the former.
inline DeviceReport report_of_either(DeviceReport report, const char* what, cudaError_t error) {
  return error == cudaSuccess || is_fatal(report.outcome) ? std::move(report) : report_of(what, error);
}

/// Of an allocation in the current context that failed without a reason: in a context that is lost all do.
inline DeviceReport report_of_no_memory(const char* what) {
  std::size_t left = 0, total = 0;
  const cudaError_t error = cudaMemGetInfo(&left, &total);
  return error == cudaSuccess ? DeviceReport{DeviceOutcome::out_of_memory, what} : report_of(what, error);
}

}  // namespace crowd
