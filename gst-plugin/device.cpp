// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "device.hpp"

#include <crowd/nms.h>

#if CROWD_HAVE_GST_CUDA
#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#endif
#endif

namespace crowd {

#if CROWD_HAVE_GST_CUDA

bool CudaDevice::open(GstElement* element, int device_id, std::string& problem) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK) {
    problem = crowd_nms_last_error();
    return false;
  }
  if (!gst_cuda_load_library()) {
    problem = "GStreamer cannot load the CUDA driver's library (libcuda)";
    return false;
  }
  // Calls back into set_context(), hence without the lock.
  if (!gst_cuda_ensure_element_context(element, device_id, &context_)) {
    problem = "no CUDA context on device " + std::to_string(device_id) + ": is there such a device?";
    return false;
  }
  return true;
}

void CudaDevice::set_context(GstElement* element, GstContext* context, int device_id) {
  const std::lock_guard lock(mutex_);
  gst_cuda_handle_set_context(element, context, device_id, &context_);
}

bool CudaDevice::answer(GstElement* element, GstQuery* query) {
  const std::lock_guard lock(mutex_);
  return context_ && gst_cuda_handle_context_query(element, query, context_);
}

CudaDevice::Current::Current(const CudaDevice& device)
    : pushed_(device.context_ && gst_cuda_context_push(device.context_)), usable_(pushed_ || !device.context_) {}

CudaDevice::Current::~Current() {
  if (pushed_)
    gst_cuda_context_pop(nullptr);
}

#else

bool CudaDevice::open(GstElement*, int device_id, std::string& problem) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK)
    problem = crowd_nms_last_error();
  else if (device_id > 0)
    problem = "this build cannot choose a device: build with gst/cuda, or leave cuda-device-id at -1";
  else
    return true;
  return false;
}

void CudaDevice::set_context(GstElement*, GstContext*, int) {}

bool CudaDevice::answer(GstElement*, GstQuery*) {
  return false;
}

CudaDevice::Current::Current(const CudaDevice&) : pushed_(false), usable_(true) {}

CudaDevice::Current::~Current() = default;

#endif

void CudaDevice::close() {
  const std::lock_guard lock(mutex_);
  if (context_)
    gst_object_unref(context_);
  context_ = nullptr;
}

}  // namespace crowd
