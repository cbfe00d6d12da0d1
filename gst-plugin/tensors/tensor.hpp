// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What goes into a network and comes out of it: arrays in C order, the last dimension the nearest in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace crowd::tensors {

enum class Type : std::uint8_t { float32, float16, uint8 };

constexpr std::size_t bytes_of(Type type) {
  return type == Type::float32 ? 4 : type == Type::float16 ? 2 : 1;
}

using Dims = std::vector<std::int64_t>;

/// Of dims that are all known.
inline std::size_t elements_of(const Dims& dims) {
  std::size_t elements = 1;
  for (const std::int64_t size : dims)
    elements *= static_cast<std::size_t>(size);
  return elements;
}

inline std::size_t bytes_of(const Dims& dims, Type type) {
  return elements_of(dims) * bytes_of(type);
}

/// A dimension that a description or a model leaves open.
inline constexpr std::int64_t any_size = -1;

/// A tensor that a network has. The first dimension is the batch.
struct TensorInfo {
  std::string name;  ///< in the model's file
  std::string id;    ///< what it holds, see layouts.hpp; empty where nothing says it
  Type type = Type::float32;
  Dims dims;
};

/// Data in memory of the host or of a device; not owned. Aligned for its type.
struct Tensor {
  Type type = Type::float32;
  Dims dims;
  const void* data = nullptr;
};

}  // namespace crowd::tensors
