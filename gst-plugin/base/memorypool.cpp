// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/memorypool.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>

#include <algorithm>
#include <bit>

namespace crowd {

guint room_for(std::size_t n) {
  constexpr std::size_t least = 64, most = GST_CROWD_BOXES_MAX_CAPACITY;
  return static_cast<guint>(n >= most ? most : std::max(std::bit_ceil(n), least));
}

MemoryRef MemoryPool::acquire(guint capacity) {
  if (capacity != capacity_) {
    memories_.clear();
    capacity_ = capacity;
  }
  for (const MemoryRef& memory : memories_) {
    // Not gst_memory_is_writable(): for memories that is about exclusive locks, not about references.
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()) == 1)
      return MemoryRef(gst_memory_ref(memory.get()));
  }
  MemoryRef memory(make_(capacity));
  if (memory && memories_.size() < most)
    memories_.emplace_back(gst_memory_ref(memory.get()));
  return memory;
}

}  // namespace crowd
