// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/crowd/gstcrowdcuda.h"

#include "gpu/device.hpp"

GstMemory* gst_crowd_cuda_boxes_memory_new(GstMemory* beside, guint capacity) {
  return crowd::is_on_device(beside) ? crowd::new_device_boxes(beside, capacity) : nullptr;
}

GstMemory* gst_crowd_cuda_boxes_memory_new_with(GstMemory* beside, guint capacity, guint arrays, guint feature_length) {
  return crowd::is_on_device(beside) ? crowd::new_device_boxes(beside, {capacity, arrays, feature_length}) : nullptr;
}

gpointer gst_crowd_cuda_stream(GstMemory* memory) {
  return crowd::is_on_device(memory) ? crowd::stream_for_application(memory) : nullptr;
}

gboolean gst_crowd_cuda_push(GstMemory* memory) {
  return crowd::is_on_device(memory) && crowd::push_context_of(memory);
}

void gst_crowd_cuda_pop(void) {
  crowd::pop_context();
}
