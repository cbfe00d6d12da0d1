// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "count_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<unsigned> count = 0;

void* counted(std::size_t bytes) {
  count++;
  return std::malloc(bytes ? bytes : 1);
}

}  // namespace

unsigned crowd::test::allocations() {
  return count;
}

void* operator new(std::size_t bytes) {
  if (void* memory = counted(bytes))
    return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
