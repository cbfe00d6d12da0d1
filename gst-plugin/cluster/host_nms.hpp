// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS of candidates that are read on the host, by either backend.
#pragma once

#include <string>

#include "cluster/backends.hpp"
#include "cluster/clusterer.hpp"
#include "cluster/frame.hpp"
#include "cluster/metadata.hpp"

namespace crowd {

class HostNms final : public Clusterer {
 public:
  /// All of them outlive it; no `device` in a build without gst/cuda.
  HostNms(const Metadata& metadata, CudaDevice* device, const Library& library)
      : metadata_(metadata), backends_(device, library) {}

  /// Before frames of this config, see Backends.
  CrowdNmsStatus prepare(const Backends::Config& config) {
    return backends_.prepare(config);
  }
  const std::string& problem() const {
    return backends_.problem();
  }
  const std::string& no_gpu_reason() const {
    return backends_.no_gpu_reason();
  }

  FrameReport begin(GstBuffer* buffer, Frame& frame) override;
  FrameReport finish(GstBuffer*, Frame&) override {
    return {};
  }
  void drop() override {}
  void release() override {
    backends_.close();
  }

 private:
  FrameReport cluster(GstBuffer* buffer, Frame& frame);

  const Metadata& metadata_;
  Backends backends_;
};

}  // namespace crowd
