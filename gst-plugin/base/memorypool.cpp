// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/memorypool.hpp"

#include <algorithm>
#include <bit>

namespace crowd {

guint room_for(std::size_t n) {
  constexpr std::size_t min = 64, max = GST_CROWD_BOXES_MAX_CAPACITY;
  return static_cast<guint>(n >= max ? max : std::max(std::bit_ceil(n), min));
}

GstMemory* new_host_boxes(const BoxesShape& shape) {
  return gst_crowd_boxes_memory_new_with(shape.capacity, shape.arrays, shape.feature_length);
}

MemoryRef MemoryPool::acquire(const BoxesShape& shape) {
  if (shape != shape_) {
    memories_.clear();
    shape_ = shape;
  }
  for (const MemoryRef& memory : memories_) {
    // Not gst_memory_is_writable(): for memories that is about exclusive locks, not about references.
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()) == 1)
      return MemoryRef(gst_memory_ref(memory.get()));
  }
  MemoryRef memory(make_(shape));
  if (memory && memories_.size() < max_kept)
    memories_.emplace_back(gst_memory_ref(memory.get()));
  return memory;
}

}  // namespace crowd
