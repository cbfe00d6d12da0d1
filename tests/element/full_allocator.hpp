// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A GStreamer that has no memory left.
#pragma once

#include <gst/gst.h>

namespace crowd::test {

/// While it lives GStreamer's default allocator has no memory to give.
class FullAllocator {
 public:
  FullAllocator() {
    gst_allocator_set_default(GST_ALLOCATOR(gst_object_ref_sink(g_object_new(type(), nullptr))));
  }
  ~FullAllocator() {
    gst_allocator_set_default(gst_allocator_find(GST_ALLOCATOR_SYSMEM));
  }
  FullAllocator(const FullAllocator&) = delete;
  FullAllocator& operator=(const FullAllocator&) = delete;

 private:
  static GType type() {
    static const GType type =
        g_type_register_static_simple(GST_TYPE_ALLOCATOR, "CrowdFullAllocator", sizeof(GstAllocatorClass), init_class,
                                      sizeof(GstAllocator), nullptr, GTypeFlags(0));
    return type;
  }
  static void init_class(gpointer klass, gpointer) {
    static_cast<GstAllocatorClass*>(klass)->alloc = [](GstAllocator*, gsize, GstAllocationParams*) -> GstMemory* {
      return nullptr;
    };
  }
};

}  // namespace crowd::test
