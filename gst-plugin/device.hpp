// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA context that an element shares with its neighbours; the only file that talks to gst/cuda, which is unstable
// API. In a build without gst/cuda every element uses the device's primary context instead.
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>

struct _GstCudaContext;

namespace crowd {

class CudaDevice {
 public:
  CudaDevice() = default;
  ~CudaDevice() {
    close();
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  /// Gets a context from the neighbours, the application or, failing that, makes one on `device_id` (-1: any). Quiet:
  /// false with the reason and remedy in `problem`.
  bool open(GstElement* element, int device_id, std::string& problem);
  void close();

  /// For GstElementClass.set_context.
  void set_context(GstElement* element, GstContext* context, int device_id);

  /// Answers a GST_QUERY_CONTEXT if it is for a CUDA context that we have.
  bool answer(GstElement* element, GstQuery* query);

  /// Makes the context current in this thread while it lives. Every call that may touch CUDA goes under one. False if
  /// the driver refuses the context: CUDA would then work in another one.
  class Current {
   public:
    explicit Current(const CudaDevice& device);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    explicit operator bool() const {
      return usable_;
    }

   private:
    bool pushed_;
    bool usable_;
  };

 private:
  mutable std::mutex mutex_;
  _GstCudaContext* context_ = nullptr;
};

}  // namespace crowd
