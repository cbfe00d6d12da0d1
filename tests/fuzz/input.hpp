// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What fuzz targets make values of: the bytes of an input, from the first on, little-endian as on every machine that
// has libFuzzer. Past the end there are zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

namespace crowd::fuzz {

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : rest_(bytes, size) {}

  bool empty() const {
    return rest_.empty();
  }

  /// Any bits.
  template <typename T>
  T any() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    fill(value);
    return value;
  }

  /// The same into what may not hold them by the rules of C++, an enumeration say.
  template <typename T>
  void fill(T& value) {
    const std::size_t size = rest_.size() < sizeof value ? rest_.size() : sizeof value;
    std::memset(static_cast<void*>(&value), 0, sizeof value);
    std::memcpy(static_cast<void*>(&value), rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  bool flag() {
    return any<std::uint8_t>() & 1;
  }

  /// In [0, n), for n up to 65536.
  std::uint32_t below(std::uint32_t n) {
    return n > 256 ? any<std::uint16_t>() % n : any<std::uint8_t>() % n;
  }

  template <typename Range>
  const auto& pick(const Range& from) {
    return from[below(static_cast<std::uint32_t>(std::size(from)))];
  }

  /// A coordinate: on a small lattice, where boxes meet, or any bits.
  float coordinate() {
    const auto kind = any<std::uint8_t>();
    return kind < 240 ? static_cast<float>(any<std::int8_t>()) / (kind & 1 ? 4.0f : 1.0f) : any<float>();
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// An array that ends where its memory ends, so that the sanitizer sees what reads past it.
template <typename T>
class Exact {
 public:
  explicit Exact(std::size_t size) : data_(new T[size]()), size_(size) {}

  T* data() const {
    return data_.get();
  }
  std::size_t size() const {
    return size_;
  }
  T& operator[](std::size_t i) const {
    return data_[i];
  }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_;
};

/// What has to be true whatever the input is. Ends the program, also in builds without assertions.
inline void require(bool truth, const char* claim) {
  if (truth)
    return;
  std::fprintf(stderr, "broken: %s\n", claim);
  std::abort();
}

}  // namespace crowd::fuzz
