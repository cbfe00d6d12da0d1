// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms and crowdtensordec do to the buffers of a stream. The way of a buffer:
//  1. begin() takes changed settings over, if they fit together. It clusters the frames in a batch and finishes them.
//  2. examine() finds the kind of metadata that holds the candidates. Without any, steps 3 to 5 do nothing.
//  3. place_on_device() chooses DeviceNms for candidates in device memory, else HostNms.
//  4. HostNms clusters and writes the survivors at once; DeviceNms enqueues kernels.
//  5. finish() waits for what DeviceNms was asked to bring to the host, and writes it as metadata.
//  6. tell() counts, warns and posts the message of the frame.
// One more frame may be begun before the oldest is finished. For the streaming thread, but for what says otherwise.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/negotiation.hpp"
#include "base/runwarning.hpp"
#include "cluster/device_nms.hpp"
#include "cluster/frame.hpp"
#include "cluster/host_nms.hpp"
#include "cluster/library.hpp"
#include "cluster/metadata.hpp"
#include "cluster/settings.hpp"
#include "cluster/stats.hpp"
#include "gpu/device.hpp"
#include "gpu/parts.hpp"
#include "meta/adapter.hpp"
#include "meta/batch.hpp"

namespace crowd {

/// What an NmsStream works with; tests put others in place.
struct StreamParts {
  std::span<const meta::AdapterRow> rows = meta::adapter_rows();
  const meta::BatchKind* batches = meta::batch_kind();
  Library library;
  /// Null in a build without gst/cuda. The second is only called where the first gave something.
  std::function<std::unique_ptr<CudaDevice>()> make_device = [] { return make_device_part<CudaDevice>(); };
  std::function<std::unique_ptr<DeviceNms>(CudaDevice&, const Metadata&)> make_device_nms =
      make_device_part<DeviceNms, CudaDevice&, const Metadata&>;
  /// Whether the element attaches the candidates itself, the best-scored ones where there is no room for all. It does
  /// not look into batches.
  bool best_are_attached = false;
};

class NmsStream {
 public:
  /// Posts its messages as `element`, which outlives it.
  explicit NmsStream(GstBaseTransform* element, const StreamParts& parts = {});
  ~NmsStream();
  NmsStream(const NmsStream&) = delete;
  NmsStream& operator=(const NmsStream&) = delete;

  /// False if it cannot work; why has been posted.
  bool start(const NmsSettings& settings);
  void stop();

  /// Of the frames from here on, whose size is unknown if the caps do not say it.
  void set_caps(GstCaps* caps);
  void set_frame_size(meta::FrameSize size) {
    frame_size_ = size;
    downstream_.reconfigure();
  }
  const meta::FrameSize& frame_size() const {
    return frame_size_;
  }
  /// Whether the caps are those of batches, which hold frames and are none.
  bool takes_batches() const {
    return batch_caps_;
  }
  /// Something changed downstream. Any thread.
  void reconfigure() {
    downstream_.reconfigure();
  }
  /// Whether candidates may stay in device memory. Any thread.
  bool reads_device() const {
    return reads_device_.load(std::memory_order_relaxed);
  }

  /// A frame that is not GST_FLOW_OK is not to be finished; why has been posted.
  GstFlowReturn begin(GstBuffer* buffer, const NmsSettings& settings);
  /// The oldest frame that has begun.
  GstFlowReturn finish(GstBuffer* buffer);
  /// No more frames come: says what is said of all of them.
  void end() {
    warn_unread();
  }
  /// Forgets frames that have begun and will not be finished.
  void drop();

  /// For GstElementClass.set_context. Any thread.
  void set_context(GstContext* context, int device_id);
  /// Answers a GST_QUERY_CONTEXT if it can. Any thread.
  bool answer(GstQuery* query);
  /// Value of the property. Any thread.
  GstStructure* stats(CrowdNmsMethod method) const;

 private:
  bool open_device(int device_id, std::string& problem);
  bool prepare(const Backends::Config& config);
  void follow_settings(const NmsSettings& settings);
  Frame examine(GstBuffer* buffer, const Metadata& metadata, const meta::FrameSize& size, const NmsSettings& settings);
  bool place_on_device(GstBuffer* buffer, Frame& frame);
  FrameReport cluster(GstBuffer* buffer, Frame& frame);
  FrameReport follow_context(const Frame& frame);
  GstFlowReturn follow_report(GstBuffer* buffer, Frame& frame, const FrameReport& report);
  void tell(GstBuffer* buffer, const Frame& frame, const meta::BatchedFrame* batched = nullptr);

  GstFlowReturn cluster_batch(GstBuffer* batch, const NmsSettings& settings);
  void find_items(GstBuffer* batch, const NmsSettings& settings);
  const Metadata& metadata_of(guint stream);

  void drop_candidates(GstBuffer* buffer, Frame& frame, const char* problem);
  GstFlowReturn fail(const FrameReport& report);
  void warn_overflow(guint64 overflow, guint64 candidates, CrowdNmsMethod method);
  void warn_overflow_on_device();
  void warn_left_out(const meta::AdapterRow& row);
  void warn_gpu(Backends::GpuOutcome outcome);
  void look_for_unread(GstBuffer* buffer, meta::KindId wanted);
  void warn_unread();
  void warn_unknown_size();
  void warn_nan(const Frame& frame);
  void warn_unknown_models(const Frame& frame);
  void warn_unknown_class(const std::string& name);
  void look_for_lost(GstBuffer* buffer, const Metadata& metadata, Frame& frame);
  void count(const Frame& frame);
  void post_message(GstBuffer* buffer, const meta::BatchedFrame* batched) const;
  static meta::FrameSize size_of(const GstCaps* caps);

  GstBaseTransform* element_;
  Library library_;
  bool best_are_attached_;
  std::span<const meta::AdapterRow> rows_;
  const meta::BatchKind* batches_;  // null: batches are not looked into
  Metadata metadata_;
  std::unique_ptr<CudaDevice> device_;
  HostNms host_;
  std::unique_ptr<DeviceNms> device_nms_;
  NmsStats stats_;  // written under the element's object lock

  BackendChoice backend_ = BackendChoice::cpu;
  std::atomic<bool> reads_device_ = false;
  meta::FrameSize frame_size_;
  bool batch_caps_ = false;                                 // buffers are batches and no frames
  std::vector<std::unique_ptr<Metadata>> stream_metadata_;  // of the streams of batches: each numbers its classes
  std::vector<meta::BatchedFrame> batched_;
  std::vector<BatchItem> items_;
  Backends::Config config_{};                     // what the backends were last prepared for
  std::shared_ptr<const ClassSettings> classes_;  // that went with it
  std::array<Frame, 2> frames_;                   // frame i at i % 2
  unsigned begun_ = 0, finished_ = 0;
  meta::DownstreamCaps downstream_;
  bool warned_settings_ = false;
  struct Warnings {
    RunWarning refused, broken, overflow, left_out, size, unread, lost, unknown_class, nan, unknown_models;
  } warnings_;
  bool found_candidates_ = false;    // on any frame since the start
  const char* undecoded_ = nullptr;  // what was said of detections that are not read
  unsigned frames_undecoded_ = 0;    // until there were candidates
};

}  // namespace crowd
