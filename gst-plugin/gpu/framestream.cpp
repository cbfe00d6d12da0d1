// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/framestream.hpp"

#include "gpu/givenstream.hpp"

namespace crowd {

#if CROWD_GIVES_STREAMS

namespace {

// In the context that was current when they were made.
void destroy(cudaStream_t stream, cudaEvent_t event, GstCudaContext* context) {
  const bool current = gst_cuda_context_push(context);
  if (stream)
    (void)cudaStreamDestroy(stream);
  if (event)
    (void)cudaEventDestroy(event);
  if (current)
    gst_cuda_context_pop(nullptr);
}

void free_given(gpointer data) {
  auto* given = static_cast<GivenStream*>(data);
  destroy(given->stream, given->reached, given->context);
  gst_object_unref(given->context);
}

void unref_given(gpointer given) {
  g_atomic_rc_box_release_full(given, free_given);
}

// What is launched on the stream from now on comes after the event.
cudaError_t share_after(cudaEvent_t before, GstMemory* memory, GivenStream* given) {
  const cudaError_t error = cudaStreamWaitEvent(given->stream, before, 0);
  if (error == cudaSuccess)
    share_given_stream(memory, given);
  return error;
}

GivenStream* new_given(GstCudaContext* context) {
  GivenStream* given = g_atomic_rc_box_new0(GivenStream);
  given->context = GST_CUDA_CONTEXT(gst_object_ref(context));
  given->unref = unref_given;
  return given;
}

}  // namespace

FrameStream::~FrameStream() {
  leave();
}

void FrameStream::leave() {
  if (!mine_)
    return;
  destroy(nullptr, before_, mine_->context);
  unref_given(mine_);
  mine_ = nullptr;
  before_ = nullptr;
}

cudaError_t FrameStream::make(GstMemory* frame) {
  mine_ = new_given(GST_CUDA_MEMORY_CAST(frame)->context);
  // Pipelines would wait for each other at the default stream if it were a blocking one.
  cudaError_t error = cudaStreamCreateWithFlags(&mine_->stream, cudaStreamNonBlocking);
  if (error == cudaSuccess)
    error = cudaEventCreateWithFlags(&mine_->reached, cudaEventDisableTiming);
  if (error == cudaSuccess)
    error = cudaEventCreateWithFlags(&before_, cudaEventDisableTiming);
  if (error != cudaSuccess)
    leave();
  return error;
}

// A stream and an event in the frame's context, and the event at what the default stream has to do so far.
cudaError_t FrameStream::prepare(GstMemory* frame) {
  if (mine_ && mine_->context != GST_CUDA_MEMORY_CAST(frame)->context)
    leave();
  const cudaError_t error = mine_ ? cudaSuccess : make(frame);
  return error == cudaSuccess ? cudaEventRecord(before_, nullptr) : error;
}

cudaError_t FrameStream::give(GstMemory* frame) {
  if (given_stream_of(frame) || keeps_to_default_stream(frame))
    return cudaSuccess;
  const cudaError_t error = prepare(frame);
  return error == cudaSuccess ? share_after(before_, frame, mine_) : error;
}

cudaError_t FrameStream::give_to_copy(GstMemory* copy, GstMemory* original) {
  GivenStream* given = given_stream_of(original);
  if (!given)
    return cudaSuccess;
  const cudaError_t error = prepare(copy);
  return error == cudaSuccess ? share_after(before_, copy, given) : error;
}

cudaError_t let_default_stream_follow(GstMemory* memory) {
  const GivenStream* given = given_stream_of(memory);
  if (!given)
    return cudaSuccess;
  const cudaError_t error = cudaEventRecord(given->reached, given->stream);
  return error == cudaSuccess ? cudaStreamWaitEvent(nullptr, given->reached, 0) : error;
}

#else

FrameStream::~FrameStream() = default;

cudaError_t FrameStream::give(GstMemory*) {
  return cudaSuccess;
}

cudaError_t FrameStream::give_to_copy(GstMemory*, GstMemory*) {
  return cudaSuccess;
}

cudaError_t let_default_stream_follow(GstMemory*) {
  return cudaSuccess;
}

#endif

}  // namespace crowd
