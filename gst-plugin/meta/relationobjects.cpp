// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/relationobjects.hpp"

#include <algorithm>

#include "meta/relationmeta.hpp"

namespace crowd::meta {

namespace {

constexpr std::int32_t no_owner = -1;

/// Up to so many pairs of an object and anything else, the relations of each are looked at.
constexpr std::size_t few_pairs = 1u << 14;

/// The first so many of an object's own may reach further ones, such as the points of a skeleton.
constexpr std::size_t heads = 4;

// Best class with a level above 0; NaN is none.
bool best_class(GstAnalyticsMtd& classification, ObjectClass& best) {
  float highest = 0;
  const gsize n = gst_analytics_cls_mtd_get_length(&classification);
  for (gsize i = 0; i < n; ++i) {
    const float level = gst_analytics_cls_mtd_get_level(&classification, i);
    if (!(level > highest))
      continue;
    highest = level;
    best = {gst_analytics_cls_mtd_get_quark(&classification, i), level};
  }
  return highest > 0;
}

}  // namespace

void RelationObjects::read(GstAnalyticsRelationMeta* meta) {
  meta_ = meta;
  length_ = static_cast<guint>(gst_analytics_relation_get_length(meta));
  ids_.clear();
  classifications_.clear();
  behind_ = next_classification_ = 0;
  shared_.clear();
  const GstAnalyticsMtdType object = gst_analytics_od_mtd_get_mtd_type();
  const GstAnalyticsMtdType classification = gst_analytics_cls_mtd_get_mtd_type();
  for (guint id = 0; id < length_; ++id) {
    GstAnalyticsMtd mtd = {id, meta_};
    const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type(&mtd);
    if (type == object)
      ids_.push_back(id);
    else if (type == classification)
      classifications_.push_back(id);
  }
}

bool RelationObjects::is_classified_by(std::uint32_t object, guint classification, ObjectClass& best) const {
  GstAnalyticsMtd mtd = {classification, meta_};
  return (relation(meta_, ids_[object], classification) & GST_ANALYTICS_REL_TYPE_RELATE_TO) && best_class(mtd, best);
}

bool RelationObjects::has_classification_behind(guint id) {
  while (behind_ < classifications_.size() && classifications_[behind_] <= id)
    behind_++;
  return behind_ < classifications_.size() && classifications_[behind_] == id + 1;
}

ObjectClass RelationObjects::class_of(std::uint32_t object) {
  const guint id = ids_[object];
  ObjectClass best = {};
  if (has_classification_behind(id) && is_classified_by(object, id + 1, best))
    return best;
  const std::size_t n = classifications_.size();
  for (std::size_t step = 0; n > 0 && step <= n; ++step) {
    const std::size_t i = step == 0 ? next_classification_ % n : step - 1;
    if (!is_classified_by(object, classifications_[i], best))
      continue;
    next_classification_ = i + 1;
    shared_.emplace_back(object, classifications_[i]);
    return best;
  }
  const GstAnalyticsODMtd mtd = {id, meta_};
  return {gst_analytics_od_mtd_get_obj_type(&mtd), std::nullopt};
}

void RelationObjects::find_owners() {
  owners_.assign(length_, no_owner);
  rest_.clear();
  for (std::uint32_t object = 0; object < ids_.size(); ++object)
    owners_[ids_[object]] = static_cast<std::int32_t>(object);
  if (ids_.size() * (length_ - ids_.size()) > few_pairs) {
    find_own_behind();
    find_own_in_order();
    return;
  }
  for (guint id = 0; id < length_; ++id) {
    if (owners_[id] == no_owner)
      rest_.push_back(id);
  }
}

// Each object is followed by its own.
void RelationObjects::find_own_behind() {
  std::size_t object = 0;
  std::vector<guint> own;  // the current object and the first of its own
  for (guint id = 0; id < length_; ++id) {
    if (object < ids_.size() && ids_[object] == id) {
      object++;
      own = {id};
      continue;
    }
    const auto is_reached_from = [this, id](guint other) { return relation(meta_, other, id) != 0; };
    const bool of_next = object < ids_.size() && is_reached_from(ids_[object]);
    const bool of_this = std::ranges::any_of(own, is_reached_from) || (!own.empty() && relation(meta_, id, own[0]));
    if (of_next || !of_this) {
      rest_.push_back(id);
      continue;
    }
    owners_[id] = owners_[own.front()];
    if (own.size() <= heads)
      own.push_back(id);
  }
}

// All objects come first, then what belongs to them in the same order.
void RelationObjects::find_own_in_order() {
  std::vector<guint> left;
  const std::size_t n = ids_.size();
  std::size_t object = 0;
  for (const guint id : rest_) {
    const auto is_of = [this, n, id](std::size_t i) { return are_related(meta_, ids_[i % n], id); };
    if (n > 1 && !is_of(object))
      object = (object + 1) % n;
    const bool own = n > 1 && is_of(object) && !is_of(object + 1) && !is_of(object + n - 1);
    if (own)
      owners_[id] = static_cast<std::int32_t>(object);
    else
      left.push_back(id);
  }
  rest_ = std::move(left);
}

// What has no owner stays if something reaches it that stays, or if no dropped object reaches it.
void RelationObjects::look_at_rest(const std::vector<bool>& kept_objects, std::vector<bool>& stays) const {
  enum : std::uint8_t { of_kept = 1, of_dropped = 2 };
  const std::size_t n = rest_.size();
  std::vector<std::uint8_t> reached(n, 0);
  const auto reach = [&](guint from, guint object_or_own) {
    const bool kept = kept_objects[static_cast<std::size_t>(owners_[object_or_own])];
    for (std::size_t i = 0; i < n; ++i) {
      if (relation(meta_, from, rest_[i]))
        reached[i] |= kept ? of_kept : of_dropped;
    }
  };
  for (guint id = 0; id < length_ && n > 0; ++id) {
    if (owners_[id] != no_owner)
      reach(id, id);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t object = 0; object < ids_.size(); ++object) {
      if (relation(meta_, rest_[i], ids_[object]))
        reached[i] |= kept_objects[object] ? of_kept : of_dropped;
    }
  }
  // From there on along the relations. Each is looked at again only if what reaches it grew.
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < n; ++i) {
    if (reached[i])
      open.push_back(i);
  }
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < n; ++i) {
      const auto grown = static_cast<std::uint8_t>(reached[i] | reached[from]);
      if (grown == reached[i] || !relation(meta_, rest_[from], rest_[i]))
        continue;
      reached[i] = grown;
      open.push_back(i);
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    stays[rest_[i]] = reached[i] == 0 || (reached[i] & of_kept);
}

std::vector<bool> RelationObjects::what_stays(const std::vector<bool>& kept_objects) {
  find_owners();
  std::vector<bool> stays(length_);
  for (guint id = 0; id < length_; ++id)
    stays[id] = owners_[id] != no_owner && kept_objects[static_cast<std::size_t>(owners_[id])];
  look_at_rest(kept_objects, stays);
  for (const auto& [object, classification] : shared_) {
    if (kept_objects[object])
      stays[classification] = true;
  }
  return stays;
}

}  // namespace crowd::meta
