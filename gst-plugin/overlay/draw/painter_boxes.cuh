// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the memory of boxes says of one of them.
#pragma once

#include <cuda_runtime.h>

#include "overlay/draw/painter_job.hpp"

namespace crowd::draw {

__device__ inline std::uint32_t size_of(const DeviceBoxes& boxes) {
  return boxes.count ? min(*boxes.count, boxes.capacity) : 0;
}

/// A box as it is in memory.
__device__ inline float4 load_box(const DeviceBoxes& boxes, std::uint32_t index) {
  return reinterpret_cast<const float4*>(boxes.boxes)[index];
}

/// A box of no place; it is not drawn.
__device__ inline float4 no_box() {
  return {0, 0, 0, 0};
}

/// False if it is not drawn, whatever the frame.
__device__ inline bool find_pixels(const DeviceBoxes& boxes, const float4& box, PixelBox& pixels) {
  const PlacedBox placed = place(boxes.placement, box.x, box.y, box.z, box.w);
  if (!is_drawable(placed.x1, placed.y1, placed.x2, placed.y2))
    return false;
  pixels = to_pixels(placed.x1, placed.y1, placed.x2, placed.y2);
  return true;
}

__device__ inline int class_of(const DeviceBoxes& boxes, std::uint32_t index) {
  return boxes.classes ? boxes.classes[index] : -1;
}

/// The entry of a box's label, or null.
__device__ inline const LabelEntry* label_of(const PaintJob& job, const DeviceBoxes& boxes, std::uint32_t index) {
  const int label = boxes.labels ? boxes.labels[index] : class_of(boxes, index);
  return label >= 0 && static_cast<std::uint32_t>(label) < job.label_count ? job.labels + label : nullptr;
}

__device__ inline unsigned color_of(const PaintJob& job, const BoxLayer& layer, std::uint32_t index) {
  if (!layer.by_class)
    return layer.fixed;
  const int id = class_of(layer.boxes, index);
  if (id >= 0)
    return static_cast<unsigned>(class_color_index(id));
  const LabelEntry* label = label_of(job, layer.boxes, index);
  constexpr int nameless = label_color_index(nullptr);
  return label ? label->color : static_cast<unsigned>(nameless);
}

}  // namespace crowd::draw
