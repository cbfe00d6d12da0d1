// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/crowd/gstcrowdboxesarrays.h>
#include <gst/gst.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace crowd {

struct MemoryUnref {
  void operator()(GstMemory* memory) const {
    gst_memory_unref(memory);
  }
};
using MemoryRef = std::unique_ptr<GstMemory, MemoryUnref>;

/// Room for n boxes in steps of powers of two, so that a crowd that grows does not ask for a new memory on each frame.
guint room_for(std::size_t n);

/// What a memory of boxes has room for.
struct BoxesShape {
  guint capacity = 0;
  guint arrays = GST_CROWD_BOXES_NO_ARRAYS;  ///< GstCrowdBoxesArrays, or-ed
  guint feature_length = 0;

  // A capacity alone is a shape: that of memories without more arrays.
  BoxesShape(guint the_capacity = 0, guint the_arrays = GST_CROWD_BOXES_NO_ARRAYS, guint the_feature_length = 0)
      : capacity(the_capacity), arrays(the_arrays), feature_length(the_feature_length) {}
  bool operator==(const BoxesShape&) const = default;
};

/// System memory; NULL if there is none.
GstMemory* new_host_boxes(const BoxesShape& shape);

/**
 * Memories of one shape that are written, attached to a buffer and, once there is no other reference, written again.
 * For one thread; the memories may be read on any other. In the steady state acquire() allocates nothing.
 */
class MemoryPool {
 public:
  /** Where more than these are in flight, memories are made and not kept. */
  static constexpr std::size_t max_kept = 64;

  using Make = std::function<GstMemory*(const BoxesShape&)>;

  explicit MemoryPool(Make make) : make_(std::move(make)) {}

  /** A memory without other references, made by make(shape); its contents are anything. NULL if make() gives none. */
  MemoryRef acquire(const BoxesShape& shape);

  /// Keeps none of those it made.
  void clear() {
    memories_.clear();
  }

 private:
  Make make_;
  BoxesShape shape_;
  std::vector<MemoryRef> memories_;
};

}  // namespace crowd
