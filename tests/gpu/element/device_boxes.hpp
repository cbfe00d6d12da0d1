// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes of a GstCrowdBoxesMeta, the same in system and in device memory.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boxes.hpp"
#include "device_support.hpp"
#include "oracle.hpp"

namespace crowd::test {

/// What a meta says, and what its memory holds.
struct MetaBoxes {
  Boxes boxes;
  std::vector<std::uint32_t> members;  ///< of survivors
  std::uint32_t capacity = 0;
  std::uint32_t count = 0;  ///< in the memory; may exceed the capacity
  std::uint32_t candidates = 0;
  unsigned frame_width = 0, frame_height = 0;
  GPtrArray* labels = nullptr;
  GstCrowdBoxesKind kind = GST_CROWD_BOXES_CANDIDATES;
  GstCrowdBoxesPlacement placement = {1, 0, 0, 0, 1, 0};  ///< of those that were read
  GstMemory* memory = nullptr;                            ///< where they were read from
  Extras extras{};                                        ///< attached as all of GstCrowdBoxesArrays, if with_extras
  bool with_extras = false;
};

/// Candidates on a frame of that size, with room for all of them and `spare` more.
MetaBoxes candidates_of(Boxes boxes, unsigned frame_width, unsigned frame_height, std::uint32_t spare = 0);

/// Survivors of such a frame: the boxes, which represent one, two, three... candidates.
MetaBoxes survivors_of(Boxes boxes, unsigned frame_width, unsigned frame_height);

/// Attaches the boxes in system memory.
void attach(GstBuffer* buffer, const MetaBoxes& boxes);

/// Attaches the boxes in device memory, in the context of `beside`, say the frame.
void attach_on_device(GstBuffer* buffer, const MetaBoxes& boxes, GstMemory* beside);
void attach_on_device(GstBuffer* buffer, const MetaBoxes& boxes);

/// Device memory with these boxes, in the context of `beside`.
Ref<GstMemory> upload(const MetaBoxes& boxes, GstMemory* beside);

/// Removes all boxes and regions.
void forget_detections(GstBuffer* buffer);

/// Reads from any memory. What waits is the mapping alone: up to GStreamer 1.22 for the default stream, later for the
/// memory's.
MetaBoxes read(const GstCrowdBoxesMeta* meta);
/// Nothing, and a failure, if there are none.
std::optional<MetaBoxes> read_survivors(GstBuffer* buffer);

/// Compares bit by bit everything but where it lies and how much room is there.
testing::AssertionResult same(const MetaBoxes& expected, const MetaBoxes& got);

/// Expects both buffers to carry the same survivors; those of `got` in device memory if `on_device`.
void expect_same_survivors(GstBuffer* expected, GstBuffer* got, bool on_device = true);

/// Everything that the regions of a frame say, a line each.
std::string all_regions(GstBuffer* buffer);

/// Gives detections to two pipes, in device and in system memory.
class Twins {
 public:
  /// The second clusters on the CPU, with meta-output=boxes unless the properties have another.
  Twins(const Gpu& gpu, const std::string& properties, const std::string& device_properties = "",
        const std::string& host_properties = "meta-output=boxes");

  void set_caps(const GstVideoInfo& info);

  struct Frames {
    Ref<GstBuffer> device, host;
  };
  Frames frames(const MetaBoxes& candidates, GstClockTime pts = 0) const;
  Frames pass(const MetaBoxes& candidates, GstClockTime pts = 0);

  /// Waits for the device and compares what it counts.
  void expect_same_stats() const;

  const Gpu& gpu;
  Pipe device, host;

 private:
  GstVideoInfo info_;
};

}  // namespace crowd::test
