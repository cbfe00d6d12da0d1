// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/relationmeta.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace crowd::meta {

namespace {

struct UnrefBuffer {
  void operator()(GstBuffer* buffer) const {
    gst_buffer_unref(buffer);
  }
};
using BufferRef = std::unique_ptr<GstBuffer, UnrefBuffer>;

/// At least what the library puts before the data of each.
constexpr gsize header_bytes = 64;
/// At least what an object detection takes with that.
constexpr gsize object_bytes = 128;

/// Some columns of the matrix in each page of a row.
constexpr guint columns_apart = 512;

GstMeta* base(GstAnalyticsRelationMeta* meta) {
  return reinterpret_cast<GstMeta*>(meta);
}

GstMetaTransformCopy whole_copy() {
  return {.region = FALSE, .offset = 0, .size = static_cast<gsize>(-1)};
}

/// For so many matrices of relations. The library ends the process where it gets no memory.
bool has_memory_for(std::size_t matrices, std::size_t things) {
  if (things >= 1u << 31)
    return false;
  const std::unique_ptr<void, decltype(&g_free)> tried(g_try_malloc(matrices * things * things), g_free);
  return tried != nullptr;
}

bool is_locked(GstAnalyticsRelationMeta* meta) {
  return GST_META_FLAG_IS_SET(base(meta), GST_META_FLAG_LOCKED);
}

/// From the meta of a buffer to one of another buffer.
class Copier {
 public:
  Copier(GstBuffer* buffer, GstAnalyticsRelationMeta* meta, std::span<const ObjectEdit> edits)
      : buffer_(buffer), meta_(meta), edits_(edits) {}

  void choose(const std::vector<bool>& keep) {
    for (guint id = 0; id < keep.size(); ++id)
      keep[id] ? choose(id) : drop(id);
  }

  /// Null if there is nothing to hold.
  GstAnalyticsRelationMeta* copy(GstBuffer* target, std::size_t more_objects) {
    GstAnalyticsRelationMetaInitParams room = {chosen_.size() + more_objects, bytes_ + more_objects * object_bytes};
    if (room.initial_relation_order == 0)
      return nullptr;
    GstAnalyticsRelationMeta* copy = gst_buffer_add_analytics_relation_meta_full(target, &room);
    for (const guint id : chosen_) {
      const auto edit = std::ranges::lower_bound(edits_, id, {}, &ObjectEdit::id);
      if (edit != edits_.end() && edit->id == id)
        add_edited(copy, *edit);
      else
        copy_one(target, copy, id);
    }
    relate_chosen(copy);
    return copy;
  }

  const std::vector<guint>& chosen() const {
    return chosen_;
  }

 private:
  void choose(guint id) {
    GstAnalyticsMtd mtd = {id, meta_};
    chosen_.push_back(id);
    bytes_ += header_bytes + gst_analytics_mtd_get_size(&mtd);
  }

  // Notes the first, the last and some between.
  void drop(guint id) {
    const bool is_close = dropped_.size() > 1 && id - dropped_[dropped_.size() - 2] < columns_apart;
    if (is_close)
      dropped_.pop_back();
    dropped_.push_back(id);
  }

  void relate_chosen(GstAnalyticsRelationMeta* copy) {
    // What a question costs, in steps along a row.
    constexpr std::size_t steps = 6;
    const bool few = steps * chosen_.size() < gst_analytics_relation_get_length(meta_);
    const auto n = static_cast<guint>(chosen_.size());
    if (n > 0)
      write_to_row(chosen_[0]);
    for (guint from = 0; from < n; ++from) {
      // A row may end in the page where the next one begins.
      if (from + 1 < n)
        write_to_row(chosen_[from + 1]);
      few ? relate_by_questions(copy, from) : relate_along_row(copy, from);
    }
  }

  // The library clears its matrix when it frees it. Of memory that it has not written to yet, a page that is read here
  // first is faulted in then once more. Relations to what goes are needed no longer.
  void write_to_row(guint id) {
    for (const guint dropped : dropped_)
      gst_analytics_relation_meta_set_relation(meta_, GST_ANALYTICS_REL_TYPE_NONE, id, dropped);
  }

  void relate(GstAnalyticsRelationMeta* copy, guint from, guint to, int types) {
    gst_analytics_relation_meta_set_relation(copy, static_cast<GstAnalyticsRelTypes>(types), from, to);
  }

  void relate_by_questions(GstAnalyticsRelationMeta* copy, guint from) {
    const guint id = chosen_[from];
    GstAnalyticsRelationMeta* const meta = meta_;
    guint to = 0;
    for (const guint other : std::span(chosen_)) {
      if (const int types = relation(meta, id, other))
        relate(copy, from, to, types);
      ++to;
    }
  }

  // The library walks the row.
  void relate_along_row(GstAnalyticsRelationMeta* copy, guint from) {
    gpointer state = nullptr;
    GstAnalyticsMtd related = {};
    while (gst_analytics_relation_meta_get_direct_related(meta_, chosen_[from], GST_ANALYTICS_REL_TYPE_ANY,
                                                          GST_ANALYTICS_MTD_TYPE_ANY, &state, &related)) {
      const auto to = std::ranges::lower_bound(chosen_, related.id);
      if (to != chosen_.end() && *to == related.id)
        relate(copy, from, static_cast<guint>(to - chosen_.begin()), relation(meta_, chosen_[from], related.id));
    }
  }

  // As the library copies: bytes, then the type's own function, which takes references.
  void copy_one(GstBuffer* to, GstAnalyticsRelationMeta* copy, guint id) {
    GstAnalyticsMtd mtd = {id, meta_};
    const auto* impl = reinterpret_cast<const GstAnalyticsMtdImpl*>(gst_analytics_mtd_get_mtd_type(&mtd));
    const gsize size = gst_analytics_mtd_get_size(&mtd);
    GstAnalyticsMtd made = {};
    gpointer data = gst_analytics_relation_meta_add_mtd(copy, impl, size, &made);
    if (size > 0)
      std::memcpy(data, gst_analytics_relation_meta_get_mtd_data(meta_, id), size);
    GstMetaTransformCopy whole = whole_copy();
    if (impl && impl->mtd_meta_transform)
      impl->mtd_meta_transform(to, &made, buffer_, _gst_meta_transform_copy, &whole);
  }

  // The library has nothing that changes an object.
  void add_edited(GstAnalyticsRelationMeta* copy, const ObjectEdit& edit) {
    const GstAnalyticsODMtd before = {edit.id, meta_};
    GstAnalyticsODMtd made = {};
    const GQuark type = gst_analytics_od_mtd_get_obj_type(&before);
#if CROWD_HAVE_TENSORS  // GStreamer 1.26
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat angle = 0, confidence = 0;
    gst_analytics_od_mtd_get_oriented_location(&before, &x, &y, &w, &h, &angle, &confidence);
    gst_analytics_relation_meta_add_oriented_od_mtd(copy, type, edit.x, edit.y, edit.width, edit.height, angle,
                                                    edit.confidence, &made);
#else
    gst_analytics_relation_meta_add_od_mtd(copy, type, edit.x, edit.y, edit.width, edit.height, edit.confidence, &made);
#endif
  }

  GstBuffer* buffer_;
  GstAnalyticsRelationMeta* meta_;
  std::span<const ObjectEdit> edits_;
  std::vector<guint> chosen_;
  std::vector<guint> dropped_;  // not all of them
  gsize bytes_ = 0;
};

// A buffer has one relation meta, so the new one is made on another buffer.
void replace(GstBuffer* buffer, GstAnalyticsRelationMeta* meta, Copier& copier, std::size_t more_objects) {
  const BufferRef scratch(gst_buffer_new());
  GstAnalyticsRelationMeta* copy = copier.copy(scratch.get(), more_objects);
  gst_buffer_remove_meta(buffer, base(meta));
  GstMetaTransformCopy whole = whole_copy();
  if (copy)
    base(copy)->info->transform_func(buffer, base(copy), scratch.get(), _gst_meta_transform_copy, &whole);
}

}  // namespace

GstAnalyticsRelationMeta* relation_meta_of(GstBuffer* buffer) {
  return gst_buffer_get_analytics_relation_meta(buffer);
}

void add_relation(GstAnalyticsRelationMeta* meta, GstAnalyticsRelTypes type, guint from, guint to) {
  gst_analytics_relation_meta_set_relation(meta, static_cast<GstAnalyticsRelTypes>(relation(meta, from, to) | type),
                                           from, to);
}

void relate_member(GstAnalyticsRelationMeta* meta, guint keeper, guint member) {
  add_relation(meta, GST_ANALYTICS_REL_TYPE_CONTAIN, keeper, member);
  add_relation(meta, GST_ANALYTICS_REL_TYPE_IS_PART_OF, member, keeper);
}

GstAnalyticsRelationMeta* relation_meta_with_room(GstBuffer* buffer, std::size_t objects) {
  GstAnalyticsRelationMeta* meta = relation_meta_of(buffer);
  if (meta && is_locked(meta))
    return meta;
  const std::size_t before = meta ? gst_analytics_relation_get_length(meta) : 0;
  // A meta that is replaced has a scratch copy for a while.
  if (!has_memory_for(meta ? 2 : 1, before + objects))
    return nullptr;
  if (!meta) {
    GstAnalyticsRelationMetaInitParams room = {objects, objects * object_bytes};
    return gst_buffer_add_analytics_relation_meta_full(buffer, &room);
  }
  Copier copier(buffer, meta, {});
  copier.choose(std::vector<bool>(before, true));
  replace(buffer, meta, copier, objects);
  return relation_meta_of(buffer);
}

std::vector<int> rebuild(GstBuffer* buffer, GstAnalyticsRelationMeta* meta, const std::vector<bool>& keep,
                         std::span<const ObjectEdit> edits) {
  Copier copier(buffer, meta, edits);
  copier.choose(keep);
  std::vector<int> ids(keep.size(), -1);
  for (int id = 0; const guint before : copier.chosen())
    ids[before] = id++;
  replace(buffer, meta, copier, 0);
  return ids;
}

}  // namespace crowd::meta
