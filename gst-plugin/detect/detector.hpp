// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** detector.hpp: what crowddetect searches frames with. */
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <string>
#include <vector>

#include "base/confidence.hpp"
#include "base/deviceoutcome.hpp"
#include "base/labels.hpp"
#include "base/memorypool.hpp"
#include "base/shownpart.hpp"
#include "detect/detectsettings.hpp"
#include "tensors/decoder.hpp"

namespace crowd {

using tensors::RawBox;

/** Lives from start to stop; for the streaming thread. */
class Detector {
 public:
  virtual ~Detector() = default;

  /** Gets ready for frames of these caps. Empty, or why it cannot search them and what helps: the stream has to end. */
  virtual std::string open(const GstVideoInfo& info, bool on_device, const PerFrame& settings) = 0;

  /** Why nothing can be found in frames of these caps with these settings, and what helps; empty if something can. */
  virtual std::string vain_because(const GstVideoInfo& info, const PerFrame& settings) = 0;

  /** What makes a search take far longer than it has to, and what helps; empty if nothing does. */
  virtual std::string slow_because(const PerFrame&) const {
    return {};
  }

  /** Appends the candidates of a frame in system memory to `boxes`, raw, in an order that does not depend on threads.
   * Empty, or why this frame was not searched; boxes are then void. */
  std::string find(GstBuffer* buffer, const GstVideoInfo& info, const PerFrame& settings, std::vector<RawBox>& boxes);

  /** Leaves the candidates of a frame in CUDA memory, a GstCrowdBoxesMeta's memory with room for max_candidates, in
   * `candidates`, in order of the frame's stream. The host does not wait. */
  virtual DeviceReport find_on_device(GstBuffer* buffer, const GstVideoInfo& info, const PerFrame& settings,
                                      MemoryRef& candidates) = 0;

  /** Names of classes; may be null. Valid as long as the detector. */
  virtual GPtrArray* labels() const = 0;
  virtual Calibration calibration() const = 0;

 private:
  /** find() in the part of a mapped frame that is shown. */
  virtual std::string search(const GstVideoFrame& frame, const ShownPart& part, const PerFrame& settings,
                             std::vector<RawBox>& boxes) = 0;
};

/** What `model` asks for. Null if that cannot be had; why has been posted as an error of `element`. */
std::unique_ptr<Detector> make_detector(GstElement* element, const Model& model);

}  // namespace crowd
