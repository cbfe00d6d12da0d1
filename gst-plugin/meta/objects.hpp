// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads the objects of a frame out of any kind of metadata that has them on the host. A kind is one ObjectReader, which
// its row in adapters.cpp makes.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/regionplace.hpp"
#include "meta/object.hpp"

namespace crowd::meta {

/// The objects of one frame.
struct Objects {
  std::vector<Object> survivors;   ///< those that are kept
  std::vector<Object> candidates;  ///< those that are not
  /// What is not among them, or not as a survivor, and what helps; null: nothing.
  const char* problem = nullptr;

  bool empty() const {
    return survivors.empty() && candidates.empty();
  }
  void clear() {
    survivors.clear();
    candidates.clear();
    problem = nullptr;
  }
};

/// Of one kind of metadata, and one stream.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  /// Adds the objects of a buffer to `objects`, which has none. Throws std::bad_alloc.
  virtual void read(GstBuffer* buffer, const ShownSize& shown, Objects& objects) = 0;
};

/// Of one stream. crowdnms leaves survivors as several kinds at once, so the objects of one kind are all of them: those
/// of the last row that has any and no problem with them, else of the last that has any.
class ObjectReaders {
 public:
  /// Of all kinds.
  ObjectReaders();
  /// Of these, the last row first.
  explicit ObjectReaders(std::vector<std::unique_ptr<ObjectReader>> readers) : readers_(std::move(readers)) {}

  /// Throws std::bad_alloc.
  void read(GstBuffer* buffer, const ShownSize& shown, Objects& objects);

 private:
  std::vector<std::unique_ptr<ObjectReader>> readers_;
  Objects other_;
};

}  // namespace crowd::meta
