// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decoder on a device: outputs in device memory to candidates in device memory, the same bits in the same order, in one
// kernel. In builds with CUDA only.
//
// Used from one thread at a time, under the context that it was made in. Calls of one decoder go through one stream, or
// are ordered by the caller: they share its memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/deviceoutcome.hpp"
#include "tensors/description.hpp"
#include "tensors/plan.hpp"
#include "tensors/tensor.hpp"

namespace crowd::tensors {

/// DecodeSettings of a device.
struct DeviceDecodeSettings {
  float score_threshold = 0.1F;
  /// In device memory: bit i of word i / 32: class i is let through. No words: all are.
  const std::uint32_t* class_bits = nullptr;
  std::uint32_t class_words = 0;
  float objectness_threshold = 0;
};

/// Where candidates go: the arrays of a GstCrowdBoxesMeta in device memory.
struct DecodedArrays {
  std::uint32_t* count;  ///< candidates found; above `capacity`, the best-scored ones are kept, in the order they had
  float* boxes;          ///< x1 y1 x2 y2, pixels of the frame, 16-byte aligned
  float* scores;
  std::int32_t* classes;
  std::uint32_t capacity;
};

class DeviceDecoder {
 public:
  /// As Decoder::make(), for batches of up to `max_batch` inputs. Allocates, and waits for the device. Null, with the
  /// reason in `report`, where Decoder::make() gives null or CUDA fails.
  static std::unique_ptr<DeviceDecoder> make(const Description& description, const std::vector<TensorInfo>& outputs,
                                             int width, int height, unsigned max_batch, DeviceReport& report);

  virtual ~DeviceDecoder() = default;

  virtual unsigned classes() const = 0;
  virtual std::size_t places() const = 0;
  virtual std::size_t device_bytes() const = 0;  ///< allocated

  /// Enqueues on `stream` the decoding of the first `batch` inputs of `outputs`, which are in the order of make().
  /// placements[i] is of the i-th; they are in device memory, as the outputs are. Neither allocates nor waits nor
  /// copies, and can be captured in a CUDA graph, which then may be launched any number of times. cudaErrorInvalidValue
  /// where types or dims are not those of make() but for the batch, or the batch is empty or above `max_batch`.
  virtual cudaError_t enqueue(std::span<const Tensor> outputs, unsigned batch, const InputPlacement* placements,
                              const DeviceDecodeSettings& settings, const DecodedArrays& out, cudaStream_t stream) = 0;
};

}  // namespace crowd::tensors
