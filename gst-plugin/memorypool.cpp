// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "memorypool.hpp"

namespace crowd {

MemoryRef MemoryPool::acquire(guint capacity) {
  if (capacity != capacity_) {
    memories_.clear();
    capacity_ = capacity;
  }
  for (const MemoryRef& memory : memories_) {
    // Not gst_memory_is_writable(): for memories that is about exclusive locks, whoever holds references.
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()) == 1)
      return MemoryRef(gst_memory_ref(memory.get()));
  }
  MemoryRef memory(make_(capacity));
  if (memory && memories_.size() < most)
    memories_.emplace_back(gst_memory_ref(memory.get()));
  return memory;
}

}  // namespace crowd
