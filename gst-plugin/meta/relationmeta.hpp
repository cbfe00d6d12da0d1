// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A GstAnalyticsRelationMeta without some of its metadata: the library has no way to take a single one off. It keeps a
// matrix of n * n relations, so whatever makes one says at once how large it gets.
#pragma once

#include <gst/analytics/analytics.h>
#include <gst/gst.h>

#include <span>
#include <vector>

namespace crowd::meta {

/// The buffer's relation meta, or null.
GstAnalyticsRelationMeta* relation_meta_of(GstBuffer* buffer);

/// Types of relations from one to another, 0: none. Also of ids that the meta does not have.
inline int relation(GstAnalyticsRelationMeta* meta, guint from, guint to) {
  return gst_analytics_relation_meta_get_relation(meta, from, to);
}

/// Whether there is a relation in either direction.
inline bool are_related(GstAnalyticsRelationMeta* meta, guint a, guint b) {
  return relation(meta, a, b) || relation(meta, b, a);
}

/// Adds a relation to those that there are.
void add_relation(GstAnalyticsRelationMeta* meta, GstAnalyticsRelTypes type, guint from, guint to);

/// Relates a survivor and one that it represents.
void relate_member(GstAnalyticsRelationMeta* meta, guint keeper, guint member);

/// Attaches a relation meta with room for so many objects, in place of the one that the buffer has with all that is in
/// that, ids included. Null, and the buffer as it was, if there is no memory for the relations.
GstAnalyticsRelationMeta* relation_meta_with_room(GstBuffer* buffer, std::size_t objects);

/// What an object detection becomes.
struct ObjectEdit {
  guint id;
  gint x, y, width, height;
  float confidence;
};

/// Puts a meta in place of `meta` that has what is kept, in the same order, and the relations between these; none if
/// that is nothing. Edits are of object detections that are kept, by ascending id. Gives the new ids, -1 for what is
/// gone. Not for a locked meta.
std::vector<int> rebuild(GstBuffer* buffer, GstAnalyticsRelationMeta* meta, const std::vector<bool>& keep,
                         std::span<const ObjectEdit> edits);

}  // namespace crowd::meta
