// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Arrays one after another in one block of memory, each aligned.
#pragma once

#include <cstddef>

namespace crowd {

/// With a null base it only counts: the same calls measure a block and divide it.
class MemoryLayout {
 public:
  MemoryLayout(void* base, std::size_t alignment) : base_(static_cast<std::byte*>(base)), alignment_(alignment) {}

  template <typename T>
  T* place(std::size_t count) {
    T* array = base_ ? reinterpret_cast<T*>(base_ + bytes_) : nullptr;
    bytes_ += (count * sizeof(T) + alignment_ - 1) / alignment_ * alignment_;
    return array;
  }

  std::size_t bytes() const {
    return bytes_;
  }

 private:
  std::byte* base_;
  std::size_t alignment_;
  std::size_t bytes_ = 0;
};

}  // namespace crowd
