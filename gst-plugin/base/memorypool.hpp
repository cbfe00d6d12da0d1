// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

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

/**
 * Memories of one capacity that are written, attached to a buffer and, once there is no other reference, written again.
 * For one thread; the memories may be read on any other. In the steady state acquire() allocates nothing.
 */
class MemoryPool {
 public:
  /** Where more than these are in flight, memories are made and not kept. */
  static constexpr std::size_t max_kept = 64;

  using Make = std::function<GstMemory*(guint capacity)>;

  explicit MemoryPool(Make make) : make_(std::move(make)) {}

  /** A memory without other references, made by make(capacity); its contents are anything. NULL if make() gives none.
   */
  MemoryRef acquire(guint capacity);

  /// Keeps none of those it made.
  void clear() {
    memories_.clear();
  }

 private:
  Make make_;
  guint capacity_ = 0;
  std::vector<MemoryRef> memories_;
};

}  // namespace crowd
