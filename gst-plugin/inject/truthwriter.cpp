// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/truthwriter.hpp"

#include <algorithm>

#include "inject/gstcrowdtruth.hpp"

namespace crowd {

GstMemory* TruthWriter::make(const BoxesShape& shape) {
  return gst_allocator_alloc(nullptr, sizeof(GstCrowdTruthObject) * shape.capacity, nullptr);
}

bool TruthWriter::attach(GstBuffer* buffer, const std::vector<scene::TrueObject>& objects, gint width, gint height) {
  capacity_ = std::max(capacity_, room_for(objects.size()));
  const MemoryRef memory = pool_.acquire(capacity_);
  GstMapInfo map;
  if (!memory || !gst_memory_map(memory.get(), &map, GST_MAP_WRITE))
    return false;
  auto* records = reinterpret_cast<GstCrowdTruthObject*>(map.data);
  std::ranges::transform(objects, records, [](const scene::TrueObject& object) {
    const scene::Box& box = object.box;
    return GstCrowdTruthObject{object.id, object.object_class, box.x1, box.y1, box.x2, box.y2};
  });
  gst_memory_unmap(memory.get(), &map);
  while (GstCustomMeta* other = gst_buffer_get_custom_meta(buffer, gst_crowd_truth_meta_name)) {
    if (!gst_buffer_remove_meta(buffer, &other->meta))
      break;
  }
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, gst_crowd_truth_meta_name);
  gst_structure_set(gst_custom_meta_get_structure(meta), "objects", GST_TYPE_MEMORY, memory.get(), "count", G_TYPE_UINT,
                    static_cast<guint>(objects.size()), "width", G_TYPE_UINT, static_cast<guint>(width), "height",
                    G_TYPE_UINT, static_cast<guint>(height), nullptr);
  return true;
}

}  // namespace crowd
