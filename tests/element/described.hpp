// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdnms left on a frame, as text to compare.
#pragma once

#include <gst/crowd/gstcrowdboxesarrays.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

/// All regions with all their structures; not their ids, which are of no two frames.
inline void describe_regions(GstBuffer* buffer, std::ostream& out) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    out << g_quark_to_string(roi->roi_type) << "@" << roi->x << "," << roi->y << "," << roi->w << "," << roi->h;
    for (GList* link = roi->params; link; link = link->next) {
      gchar* structure = gst_structure_to_string(static_cast<GstStructure*>(link->data));
      out << " " << structure;
      g_free(structure);
    }
    out << "\n";
  }
}

/// Survivors that are a GstCrowdBoxesMeta.
inline void describe_survivors(GstBuffer* buffer, std::ostream& out) {
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
  GstCrowdBoxesMap map;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ))
    return;
  out << "survivors of " << *map.candidates << " on " << meta->frame_width << "x" << meta->frame_height << "\n";
  for (guint i = 0; i < *map.count; i++)
    out << map.boxes[i].x1 << "," << map.boxes[i].y1 << "," << map.boxes[i].x2 << "," << map.boxes[i].y2 << " "
        << map.scores[i] << " " << map.classes[i] << " " << map.members[i] << "\n";
  gst_crowd_boxes_unmap(&map);
}

inline std::string described(GstBuffer* buffer) {
  std::ostringstream out;
  out.precision(9);
  describe_regions(buffer, out);
  describe_survivors(buffer, out);
  out << (gst_buffer_get_crowd_boxes_meta(buffer) ? "candidates\n" : "");
  return out.str();
}

/// Clusters of eight, of three classes, a few of them invalid or with a score below 0.
inline std::vector<Candidate> random_candidates(std::mt19937& random, unsigned n) {
  std::uniform_real_distribution<float> x(-40, 600), y(-30, 440), size(1, 90), jitter(-6, 6);
  std::uniform_int_distribution<int> score(0, 40), class_id(0, 2);
  std::vector<Candidate> all;
  Candidate one{};
  for (unsigned i = 0; i < n; i++) {
    if (i % 8 == 0) {
      one = {x(random), y(random), 0, 0, 0, class_id(random)};
      one.x2 = one.x1 + size(random), one.y2 = one.y1 + size(random);
    }
    const float dx = jitter(random), dy = jitter(random), width = i % 50 == 7 ? 0 : one.x2 - one.x1;
    all.push_back(
        {one.x1 + dx, one.y1 + dy, one.x1 + dx + width, one.y2 + dy, float(score(random)) / 40 - .1f, one.class_id});
  }
  return all;
}

/// Gives the candidates of a frame what rules read, some of it NaN, features of one or of three values, and models,
/// most of them of the first three; or nothing.
inline void add_random_arrays(GstBuffer* buffer, std::mt19937& random, unsigned n) {
  const unsigned kind = random() % 8;
  if (kind == 0 || n == 0)
    return;
  const auto numbers = [&](std::size_t count) {
    std::vector<float> all(count);
    for (float& number : all)
      number = random() % 50 ? float(random() % 64) / 64 : std::nanf("");
    return g_bytes_new(all.data(), count * sizeof(float));
  };
  std::vector<guint32> models(n);
  for (guint32& model : models)
    model = random() % 50 ? random() % 3 : random() % 20;
  GBytes* arrays[] = {numbers(n), numbers(n), numbers(4 * n), numbers(n * (kind % 2 ? 1 : 3)),
                      g_bytes_new(models.data(), n * sizeof(guint32))};
  EXPECT_TRUE(gst_crowd_boxes_meta_set_array_bytes(gst_buffer_get_crowd_boxes_meta(buffer), arrays[0], arrays[1],
                                                   arrays[2], arrays[3], arrays[4], nullptr));
  for (GBytes* bytes : arrays)
    g_bytes_unref(bytes);
}

}  // namespace crowd::test
