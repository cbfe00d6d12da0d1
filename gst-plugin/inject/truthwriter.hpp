// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writes the meta that gstcrowdtruth.hpp describes.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "base/memorypool.hpp"
#include "inject/scene/source.hpp"

namespace crowd {

/// For one thread. Reuses memories that have no other reference left.
class TruthWriter {
 public:
  /// Attaches the objects, in pixels of a frame of width x height, in place of any that are there. False if there is no
  /// memory for them.
  bool attach(GstBuffer* buffer, const std::vector<scene::TrueObject>& objects, gint width, gint height);

 private:
  static GstMemory* make(const BoxesShape& shape);

  MemoryPool pool_{make};
  guint capacity_ = 0;
};

}  // namespace crowd
