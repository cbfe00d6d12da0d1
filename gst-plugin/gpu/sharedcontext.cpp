// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/sharedcontext.hpp"

#if CROWD_HAVE_GST_CUDA
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/gstcuda.hpp"
#endif

namespace crowd {

#if CROWD_HAVE_GST_CUDA

namespace {

bool asks_for_cuda_context(GstQuery* query) {
  const char* type = nullptr;
  return GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && gst_query_parse_context_type(query, &type) &&
         g_str_equal(type, GST_CUDA_CONTEXT_TYPE);
}

/// Null where the driver gives none. It stays for as long as the process: other libraries may use it at any time.
CUcontext retain_primary(int device) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return nullptr;
  const auto initialize = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  const auto retain = reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(dlsym(driver, "cuDevicePrimaryCtxRetain"));
  CUcontext context = nullptr;
  const bool retained =
      initialize && retain && initialize(0) == CUDA_SUCCESS && retain(&context, device) == CUDA_SUCCESS;
  return retained ? context : nullptr;
}

/// The primary context of a device as all of GStreamer's elements share it; null where there is none.
GstCudaContext* primary_context(int device) {
  struct Primary {
    CUcontext handle;
    GWeakRef shared;  ///< while an element has it
  };
  static std::mutex mutex;
  static auto* const primaries = new std::map<int, Primary>;
  const std::lock_guard lock(mutex);
  Primary& primary = (*primaries)[device];
  if (auto* context = static_cast<GstCudaContext*>(g_weak_ref_get(&primary.shared)))
    return context;
  if (!primary.handle)
    primary.handle = retain_primary(device);
  GstCudaContext* context = primary.handle ? gst_cuda_context_new_wrapped(primary.handle, device) : nullptr;
  g_weak_ref_set(&primary.shared, context);
  return context;
}

using ContextRef = std::unique_ptr<GstContext, decltype(&gst_context_unref)>;

/// What the element was given, by GstElementClass.set_context; null if nothing.
ContextRef given_context(GstElement* element) {
  return {gst_element_get_context(element, GST_CUDA_CONTEXT_TYPE), gst_context_unref};
}

gboolean ask_peer(GstElement* element, GstPad* pad, gpointer query) {
  GstContext* context = nullptr;
  if (gst_pad_peer_query(pad, GST_QUERY_CAST(query)))
    gst_query_parse_context(GST_QUERY_CAST(query), &context);
  if (context)
    gst_element_set_context(element, context);
  return context == nullptr;
}

}  // namespace

bool ask_neighbours(GstElement* element) {
  GstQuery* query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  const bool found =
      !gst_element_foreach_src_pad(element, ask_peer, query) || !gst_element_foreach_sink_pad(element, ask_peer, query);
  gst_query_unref(query);
  return found;
}

bool ask_application(GstElement* element, int device_id) {
  gst_element_post_message(element, gst_message_new_need_context(GST_OBJECT(element), GST_CUDA_CONTEXT_TYPE));
  if (given_context(element))
    return true;
  GstCudaContext* primary = primary_context(std::max(device_id, 0));
  if (!primary)
    return false;
  const ContextRef context(gst_context_new_cuda_context(primary), gst_context_unref);
  gst_object_unref(primary);
  gst_element_set_context(element, context.get());
  gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), gst_context_ref(context.get())));
  return true;
}

bool answer_with_context(GstElement* element, GstQuery* query, int device_id) {
  if (!asks_for_cuda_context(query) || !gst_cuda_load_library())
    return false;
  if (!given_context(element) && !ask_application(element, device_id))
    return false;
  const ContextRef context = given_context(element);
  if (context)
    gst_query_set_context(query, context.get());
  return context != nullptr;
}

#else

bool answer_with_context(GstElement*, GstQuery*, int) {
  return false;
}

#endif

}  // namespace crowd
