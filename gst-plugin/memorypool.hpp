// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

namespace crowd {

struct MemoryUnref {
  void operator()(GstMemory* memory) const {
    gst_memory_unref(memory);
  }
};
using MemoryRef = std::unique_ptr<GstMemory, MemoryUnref>;

/**
 * Memories of one capacity that are written, attached to a buffer and, once nobody else holds them, written again. For
 * one thread; whoever reads the memories may be on any other. In the steady state acquire() allocates nothing.
 */
class MemoryPool {
 public:
  /** Where more than these are in flight, memories are made and not kept. */
  static constexpr std::size_t most = 64;

  using Make = GstMemory* (*)(guint capacity);

  explicit MemoryPool(Make make) : make_(make) {}

  /** A memory that nobody else holds, made by make(capacity); its contents are anything. NULL if make() gives none. */
  MemoryRef acquire(guint capacity);

 private:
  Make make_;
  guint capacity_ = 0;
  std::vector<MemoryRef> memories_;
};

}  // namespace crowd
