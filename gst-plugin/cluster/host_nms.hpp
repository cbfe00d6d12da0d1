// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// NMS of frames whose candidates are read into host memory. Either backend of the library clusters them, the CPU's or
// the GPU's: see Backends.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cluster/backends.hpp"
#include "cluster/candidate_batch.hpp"
#include "cluster/clusterer.hpp"
#include "cluster/frame.hpp"
#include "cluster/metadata.hpp"
#include "cluster/survivorvalues.hpp"
#include "meta/batch.hpp"

namespace crowd {

/// A frame of a batch.
struct BatchItem {
  GstBuffer* buffer;         ///< writable where it has candidates
  const Metadata* metadata;  ///< of its stream
  const meta::BatchedFrame* where;
  Frame frame;
  FrameReport report{};
};

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

  /// For frames that are clustered elsewhere, too.
  ClassNumbers& class_numbers() {
    return class_numbers_;
  }

  /// Clusters the frames that have candidates in one call of the library, and writes their survivors. Frames whose
  /// candidates cannot be read say so in their reports.
  FrameReport cluster_batch(std::span<BatchItem> items);

  FrameReport begin(GstBuffer* buffer, Frame& frame) override;
  FrameReport finish(GstBuffer*, Frame&) override {
    return {};
  }
  void drop() override {}
  void release() override {
    backends_.close();
  }

 private:
  static FrameReport read(GstBuffer* buffer, Frame& frame, meta::Candidates& candidates);
  FrameReport cluster(GstBuffer* buffer, Frame& frame);
  std::size_t read_batch(std::span<BatchItem> items);
  FrameReport run_batch(std::span<BatchItem> items);
  FrameReport write_batched(BatchItem& item);

  const Metadata& metadata_;
  Backends backends_;
  CandidateBatch batch_;
  std::vector<Backends::Result> results_;
  SurvivorValues survivor_values_;
  ClassNumbers class_numbers_;
};

}  // namespace crowd
