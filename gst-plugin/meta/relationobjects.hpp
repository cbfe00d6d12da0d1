// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The objects of a GstAnalyticsRelationMeta, their classes, and what else in it belongs to them.
#pragma once

#include <gst/analytics/analytics.h>
#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace crowd::meta {

/// What an object is called.
struct ObjectClass {
  GQuark name;
  std::optional<float> level;  ///< of the classification that says so
};

class RelationObjects {
 public:
  /// Of this meta from here on, as it is now.
  void read(GstAnalyticsRelationMeta* meta);

  /// Ids of the object detections, ascending.
  std::span<const guint> ids() const {
    return ids_;
  }

  /// Class of an object: the best of the classification that it relates to and that has a level above 0, else the
  /// object's own type. If there are several, the classification is the one right behind the object, else the one
  /// behind the last object's, else the first. Called once for each, in order.
  ObjectClass class_of(std::uint32_t object);

  /// A flag for each thing in the meta: whether it stays where of the objects only these are kept. An object that is
  /// not kept goes; another thing goes if it is related, over any number of relations, to objects that go and to none
  /// that is kept. In a large meta, where looking at all pairs would take too long, a thing right behind an object that
  /// is related to it, and not from the next one, is taken for that object's own and goes or stays with it.
  std::vector<bool> what_stays(const std::vector<bool>& kept_objects);

 private:
  bool is_classified_by(std::uint32_t object, guint classification, ObjectClass& best) const;
  bool has_classification_behind(guint id);
  void find_owners();
  void find_own_behind();
  void find_own_in_order();
  void look_at_rest(const std::vector<bool>& kept_objects, std::vector<bool>& stays) const;

  GstAnalyticsRelationMeta* meta_ = nullptr;
  guint length_ = 0;
  std::vector<guint> ids_;
  std::vector<guint> classifications_;
  std::size_t behind_ = 0;  // the first classification behind the object
  std::size_t next_classification_ = 0;
  std::vector<std::pair<std::uint32_t, guint>> shared_;  // an object and a classification that lies elsewhere
  std::vector<std::int32_t> owners_;  // of each mtd: the object that it is or belongs to, or no_owner
  std::vector<guint> rest_;           // without an owner
};

}  // namespace crowd::meta
