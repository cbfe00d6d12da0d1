// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/framestream.hpp"

#include <utility>

#include "gpu/cudareport.hpp"
#include "gpu/givenstream.hpp"

namespace crowd {

#if CROWD_GIVES_STREAMS

namespace {

constexpr char giving[] = "giving a frame a stream";

void free_given(gpointer data) {
  auto* given = static_cast<GivenStream*>(data);
  const bool current = gst_cuda_context_push(given->context);
  (void)cudaStreamDestroy(given->stream);
  (void)cudaEventDestroy(given->reached);
  if (current)
    gst_cuda_context_pop(nullptr);
  gst_object_unref(given->context);
}

void unref_given(gpointer given) {
  g_atomic_rc_box_release_full(given, free_given);
}

}  // namespace

FrameStream::~FrameStream() {
  leave();
}

void FrameStream::leave() {
  if (!mine_)
    return;
  const bool current = gst_cuda_context_push(mine_->context);
  before_.reset();
  if (current)
    gst_cuda_context_pop(nullptr);
  unref_given(std::exchange(mine_, nullptr));
}

// A stream in the frame's context, unless there is one.
cudaError_t FrameStream::make(GstMemory* frame) {
  GstCudaContext* context = GST_CUDA_MEMORY_CAST(frame)->context;
  if (mine_ && mine_->context == context)
    return cudaSuccess;
  leave();
  // Pipelines would wait for each other at the default stream if this were a blocking one.
  cuda::Stream stream;
  cuda::Event reached;
  cudaError_t error = cuda::allocate(stream);
  if (error == cudaSuccess)
    error = cuda::allocate(reached);
  if (error != cudaSuccess)
    return error;
  mine_ = g_atomic_rc_box_new0(GivenStream);
  *mine_ = {GST_CUDA_CONTEXT(gst_object_ref(context)), stream.release(), reached.release(), unref_given};
  return cudaSuccess;
}

// Under the context of `mine_`, which is the memory's.
cudaError_t FrameStream::share(GstMemory* memory, GivenStream* given) {
  const cudaError_t error = cuda::wait_for_all(given->stream, before_);
  if (error == cudaSuccess)
    share_given_stream(memory, given);
  return error;
}

DeviceReport FrameStream::give(GstMemory* frame) {
  if (given_stream_of(frame) || keeps_to_default_stream(frame))
    return {};
  cudaError_t error = make(frame);
  if (error == cudaSuccess)
    error = share(frame, mine_);
  return report_of_either({}, giving, error);
}

DeviceReport FrameStream::give_to_copy(GstMemory* copy, GstMemory* original) {
  GivenStream* given = given_stream_of(original);
  if (!given)
    return {};
  cudaError_t error = make(copy);
  if (error == cudaSuccess)
    error = share(copy, given);
  return report_of_either({}, giving, error);
}

DeviceReport let_default_stream_follow(GstMemory* memory, DeviceReport report) {
  const GivenStream* given = given_stream_of(memory);
  const cudaError_t error = given ? cuda::make_wait(nullptr, given->stream, given->reached) : cudaSuccess;
  return report_of_either(std::move(report), "ordering streams", error);
}

#else

FrameStream::~FrameStream() = default;

DeviceReport FrameStream::give(GstMemory*) {
  return {};
}

DeviceReport FrameStream::give_to_copy(GstMemory*, GstMemory*) {
  return {};
}

DeviceReport let_default_stream_follow(GstMemory*, DeviceReport report) {
  return report;
}

#endif

}  // namespace crowd
