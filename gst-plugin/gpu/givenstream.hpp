// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How a memory keeps the stream that it was given (gpu/framestream.hpp): as data of the memory, which all plugins of
// this build find by name.
#pragma once

#include <gst/gst.h>

#include "gpu/gstcuda.hpp"

/// Whether memories get their streams from us, as they name none.
#define CROWD_GIVES_STREAMS !GST_CHECK_VERSION(1, 24, 0)

struct CUevent_st;

namespace crowd {

/// In a g_atomic_rc_box.
struct GivenStream {
  GstCudaContext* context;
  CUstream_st* stream;
  CUevent_st* reached;  ///< the work that was launched on the stream so far
  GDestroyNotify unref;
};

#if CROWD_GIVES_STREAMS

inline GQuark given_stream_quark() {
  return g_quark_from_static_string("gst-crowd-given-stream");
}

inline GQuark default_stream_quark() {
  return g_quark_from_static_string("gst-crowd-keeps-to-default-stream");
}

/// Null if the memory was given none.
inline GivenStream* given_stream_of(GstMemory* memory) {
  return static_cast<GivenStream*>(gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(memory), given_stream_quark()));
}

/// Gives the memory that stream, unless it has one.
inline void share_given_stream(GstMemory* memory, GivenStream* given) {
  GST_OBJECT_LOCK(given->context);
  if (!given_stream_of(memory))
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), given_stream_quark(), g_atomic_rc_box_acquire(given),
                              given->unref);
  GST_OBJECT_UNLOCK(given->context);
}

/// Whether an application works on memories of this context, which knows of no given streams.
inline bool keeps_to_default_stream(GstMemory* memory) {
  return g_object_get_qdata(G_OBJECT(GST_CUDA_MEMORY_CAST(memory)->context), default_stream_quark());
}
inline void keep_to_default_stream(GstMemory* memory) {
  g_object_set_qdata(G_OBJECT(GST_CUDA_MEMORY_CAST(memory)->context), default_stream_quark(), GINT_TO_POINTER(TRUE));
}

#endif

}  // namespace crowd
