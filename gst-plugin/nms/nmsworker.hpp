// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms does to the frames of a stream. A frame is begun, which enqueues what the GPU does with it, and
// finished, which waits for what the host was asked for; one more may be begun between. Belongs to a streaming thread,
// but for what says otherwise.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/negotiation.hpp"
#include "base/runwarning.hpp"
#include "gpu/device.hpp"
#include "meta/adapter.hpp"
#include "nms/nmsdevice.hpp"
#include "nms/nmsengine.hpp"
#include "nms/nmssettings.hpp"
#include "nms/nmsstats.hpp"

namespace crowd {

class NmsWorker {
 public:
  /// Posts its messages as `element`, which outlives it.
  explicit NmsWorker(GstBaseTransform* element);
  ~NmsWorker();

  /// False if it cannot work; why has been posted.
  bool start(const NmsSettings& settings);
  void stop();

  /// Of the frames from here on; unknown if the caps do not say.
  void set_frame_size(meta::FrameSize size) {
    frame_size_ = size;
    wish_.reconfigure();
  }
  /// Something changed downstream. Any thread.
  void reconfigure() {
    wish_.reconfigure();
  }
  /// Whether candidates may stay in device memory. Any thread.
  bool reads_device() const {
    return reads_device_.load(std::memory_order_relaxed);
  }

  /// A frame that is not GST_FLOW_OK is not to be finished; why has been posted.
  GstFlowReturn begin(GstBuffer* buffer, const NmsSettings& settings);
  /// The oldest frame that has begun.
  GstFlowReturn finish(GstBuffer* buffer);
  /// Forgets frames that have begun and will not be finished.
  void drop();

  /// Any thread.
  CudaDevice& device() {
    return device_;
  }
  /// Value of the property. Any thread.
  GstStructure* stats(CrowdNmsMethod method) const;

 private:
  struct Labels {
    void operator()(GPtrArray* labels) const {
      g_ptr_array_unref(labels);
    }
  };
  /// A frame between begin() and finish().
  struct Frame {
    std::optional<NmsEngine::Result> result;  ///< of NMS on the host
    bool broken = false;
    bool on_device = false;
    bool awaited = false;  ///< survivors are on their way to the host
    NmsSettings settings;
    NmsEngine::Config config{};   ///< that it is clustered with, which later settings leave alone
    bool left_on_device = false;  ///< survivors are on the buffer, in device memory
    int source_row = -1;
    meta::BoxesInfo info;                       ///< of the candidates, where survivors are awaited
    std::unique_ptr<GPtrArray, Labels> labels;  ///< keeps those of `info`
  };
  bool prepare(const NmsEngine::Config& config);
  void follow(const NmsSettings& settings);
  int find_source(const NmsSettings& settings, GstBuffer* buffer) const;
  bool writes(const NmsSettings& settings, int row) const;
  bool writes_awaited(const Frame& frame, int row) const;
  bool leaves_on_device(const NmsSettings& settings, int row);

  GstFlowReturn cluster(GstBuffer* buffer, const NmsSettings& settings, int source_row, Frame& frame);
  bool write(GstBuffer* buffer, const NmsSettings& settings, int source_row, const meta::Candidates& candidates,
             const meta::Verdict& verdict);
  bool write_awaited(GstBuffer* buffer, const Frame& frame, DeviceNms::HostSurvivors& survivors);
  GstFlowReturn cluster_on_device(GstBuffer* buffer, const NmsSettings& settings, int source_row,
                                  const meta::DeviceCandidates& candidates, Frame& frame);
  CrowdNmsStatus enqueue(GstBuffer* buffer, const NmsSettings& settings, int source_row,
                         const meta::DeviceCandidates& candidates, const GstCrowdBoxesMap& map, Frame& frame);
  CrowdNmsStatus leave_on_device(GstBuffer* buffer, meta::Adapter& output, const meta::DeviceCandidates& candidates,
                                 const GstCrowdBoxesMap& map, const DeviceNms::Call& call, bool awaited);
  bool follow_context(GstMemory* memory, int device_id, std::string& problem);
  void release_device();
  GstFlowReturn fail_device(CrowdNmsStatus status);
  GstFlowReturn fail_writing();
  void drop_broken(GstBuffer* buffer, const NmsSettings& settings, meta::Adapter& source, const char* problem,
                   Frame& frame);

  void warn_broken(const char* problem);
  void warn_overflow(guint64 overflow, guint64 candidates);
  void warn_overflow_on_device();
  void warn_gpu(NmsEngine::GpuOutcome outcome);
  void warn_unread(const NmsSettings& settings, GstBuffer* buffer);
  void warn_unknown_size();
  void look_for_lost(GstBuffer* buffer, const NmsSettings& settings, Frame& frame);
  void count(const Frame& frame);
  void post_message(GstBuffer* buffer) const;

  GstBaseTransform* element_;
  CudaDevice device_;
  NmsEngine engine_{device_};
  DeviceNms device_nms_;
  DeviceBoxesPool survivors_;
  guint survivors_capacity_ = 0;
  NmsStats stats_;  // written under the element's object lock

  BackendChoice backend_ = BackendChoice::cpu;
  std::atomic<bool> reads_device_ = false;
  meta::FrameSize frame_size_;
  std::vector<std::unique_ptr<meta::Adapter>> adapters_;
  NmsEngine::Config config_{};   // what the engine was last prepared for
  std::array<Frame, 2> frames_;  // frame i at i % 2
  unsigned begun_ = 0, finished_ = 0;
  meta::DownstreamWish wish_;
  bool warned_settings_ = false;
  struct Warnings {
    RunWarning refused, broken, overflow, size, unread, lost;
  } warnings_;
  bool found_candidates_ = false;  // on any frame since the start
};

}  // namespace crowd
