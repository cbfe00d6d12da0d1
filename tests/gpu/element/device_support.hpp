// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in CUDA memory, and elements in a harness that work on them. What tests write goes to the device before they
// go on; what they read, once the device has done all its work.
#pragma once

#include <cuda_runtime.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "support.hpp"

typedef struct _GstCudaContext GstCudaContext;
typedef struct _GstCudaStream GstCudaStream;

namespace crowd::test {

/// Why there is nothing to test on; empty if there is.
std::string missing_gpu();

/// A CUDA context of GStreamer, and memory in it; from GStreamer 1.24 on ordered on a stream of its own.
class Gpu {
 public:
  explicit Gpu(unsigned device = 0);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// The same context, and another stream where memories have one.
  std::unique_ptr<Gpu> other_stream() const;

  /// Makes the context current in this thread while it lives.
  class Current {
   public:
    explicit Current(const Gpu& gpu);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
  };

  /// For elements: what GstElement.set_context() takes.
  GstContext* new_gst_context() const;

  /// A frame with a GstVideoMeta, its pixels undefined.
  Ref<GstBuffer> frame(const GstVideoInfo& info, GstClockTime pts = 0) const;

  /// A frame with the same picture as `system`.
  Ref<GstBuffer> frame_like(GstBuffer* system, const GstVideoInfo& info) const;

  /// Memory whose device pointer is the caller's; null up to GStreamer 1.22, which cannot.
  Ref<GstMemory> wrap(void* device_pointer, std::size_t bytes) const;

  /// Waits for everything.
  cudaError_t synchronise() const;

  std::size_t free_bytes() const;

 private:
  explicit Gpu(GstCudaContext* context);
  GstMemory* allocate(const GstVideoInfo& info) const;

  GstCudaContext* context_;
  GstCudaStream* stream_ = nullptr;
};

/// Whether the memory is in this GStreamer's CUDA memory.
bool is_cuda_memory(GstMemory* memory);

GstVideoInfo info_of(const char* format, unsigned width, unsigned height);

/// Caps of such frames, at 25 a second.
std::string caps_of(const GstVideoInfo& info, bool on_device);

/// The stream that elements have given the memory of a frame (gpu/framestream.hpp); null if none has.
cudaStream_t given_stream(GstBuffer* frame);

/// A buffer of one device memory that begins with these bytes.
Ref<GstBuffer> upload(const Gpu& gpu, const void* data, std::size_t bytes);

/// A frame of noise in system memory.
Ref<GstBuffer> noise(const GstVideoInfo& info, std::uint64_t seed);

/// Compares what is seen of two frames, in any memory.
testing::AssertionResult same_picture(GstBuffer* expected, GstBuffer* got, const GstVideoInfo& info);

/// Elements between two pads.
class Pipe {
 public:
  /// `description` as in a launch line. With a `gpu` the elements get its context, else they have to find one.
  explicit Pipe(const std::string& description, const Gpu* gpu = nullptr);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void set_caps(const GstVideoInfo& info, bool on_device);
  /// Makes downstream say that it reads survivors in device memory.
  void ask_for_survivors_on_device();
  /// The same of candidates.
  void ask_for_candidates_on_device();

  GstFlowReturn push(Ref<GstBuffer> buffer);
  /// Null if none has come.
  Ref<GstBuffer> pull();
  /// Pushes and pulls one buffer.
  Ref<GstBuffer> pass(Ref<GstBuffer> buffer);
  bool send(GstEvent* event);

  /// A counter in `stats` of the element of that name, of either width.
  std::uint64_t stat(const char* element, const char* field) const;
  Ref<GstStructure> stats(const char* element) const;

  GstHarness* harness() const {
    return harness_.get();
  }
  GstElement* element() const {
    return bin_.get();
  }
  GstBus* bus() const {
    return bus_.get();
  }

 private:
  void ask_for(const char* field);

  Ref<GstBus> bus_;
  Ref<GstElement> bin_;
  Ref<GstHarness> harness_;
};

/// Expects exactly one error on the bus, and returns its text; `code` is of GST_RESOURCE_ERROR.
std::string expect_one_resource_error(GstBus* bus, int code);

}  // namespace crowd::test
