// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Attaches candidates that were made on the host as a GstCrowdBoxesMeta: in device memory where the frame is there and
// downstream reads them there, else in system memory.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "base/confidence.hpp"
#include "base/memorypool.hpp"
#include "base/negotiation.hpp"
#include "gpu/boxesupload.hpp"
#include "gpu/parts.hpp"
#include "meta/adapter.hpp"

namespace crowd {

/// For one thread, but for what says otherwise. Reuses memories that it alone holds.
class CandidateWriter {
 public:
  /// Candidates in memory, which may be attached to several frames.
  struct Written {
    MemoryRef memory;
    guint capacity = 0;
    guint arrays = GST_CROWD_BOXES_NO_ARRAYS;  ///< GstCrowdBoxesArrays, or-ed
    guint feature_length = 0;
  };

  /// What else candidates have.
  struct Arrays {
    guint arrays;  ///< GstCrowdBoxesArrays, or-ed
    guint feature_length;
    bool operator==(const Arrays&) const = default;
  };

  /// The frame that candidates are in pixels of, names of their classes or null, and how scores become confidences.
  struct Frame {
    guint width, height;
    GPtrArray* labels;
    Calibration calibration{};
  };

  /// `source_pad`: of the element, whose peer is asked where it reads candidates.
  explicit CandidateWriter(GstPad* source_pad) : source_pad_(source_pad) {}

  /// Writes the first so many candidates, all but members and the count, into a host view of them.
  using Fill = std::function<void(const GstCrowdBoxesMap& to, std::size_t count)>;

  /// Writes `count` candidates of `frame`, at most `max_candidates` of them, 0: all. Room grows in steps of powers of
  /// two up to that, so that memories are used again, and anew where arrays are others; readers take a count beyond the
  /// capacity as overflow. To system memory in any case where `frame` is null. No memory if there is none or the GPU
  /// failed, see device_report().
  Written write(GstBuffer* frame, std::size_t count, const Fill& fill, guint max_candidates, Arrays arrays = {});

  /// As what kind they are attached.
  static meta::KindId kind();
  static void attach(GstBuffer* buffer, const Written& candidates, const Frame& frame);

  /// What downstream reads may be different from here on. Any thread.
  void reconfigure() {
    downstream_.reconfigure();
  }

  /// From here on as if it were new.
  void reset();

  /// What became of the last candidates that went to device memory.
  const DeviceReport& device_report() const {
    return device_report_;
  }

 private:
  bool goes_to_device(GstBuffer* buffer);
  MemoryRef write_memory(GstBuffer* frame, const BoxesShape& shape,
                         const std::function<void(const GstCrowdBoxesMap&)>& fill);

  GstPad* source_pad_;
  MemoryPool pool_{new_host_boxes};
  std::unique_ptr<BoxesUpload> upload_ = make_device_part<BoxesUpload>();
  DeviceReport device_report_;
  guint room_ = 0;  ///< with arrays_
  Arrays arrays_{};
  meta::DownstreamCaps downstream_;
};

}  // namespace crowd
