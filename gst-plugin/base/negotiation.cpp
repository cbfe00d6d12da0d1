// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/negotiation.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>

namespace crowd::meta {

namespace {

bool answer_has(GstQuery* query, const char* field) {
  guint index = 0;
  if (!gst_query_find_allocation_meta(query, GST_CROWD_BOXES_META_API_TYPE, &index))
    return false;
  const GstStructure* params = nullptr;
  gst_query_parse_nth_allocation_meta(query, index, &params);
  gboolean wanted = FALSE;
  return params && gst_structure_get_boolean(params, field, &wanted) && wanted;
}

bool ask(GstPad* pad, const char* field) {
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (!caps)
    return false;
  GstQuery* query = gst_query_new_allocation(caps, FALSE);
  const bool wanted = gst_pad_peer_query(pad, query) && answer_has(query, field);
  gst_query_unref(query);
  gst_caps_unref(caps);
  return wanted;
}

}  // namespace

void advertise_boxes(GstQuery* query, std::initializer_list<const char*> fields) {
  guint index = 0;
  while (gst_query_find_allocation_meta(query, GST_CROWD_BOXES_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta(query, index);
  GstStructure* params = gst_structure_new_empty("GstCrowdBoxesMeta");
  for (const char* field : fields)
    gst_structure_set(params, field, G_TYPE_BOOLEAN, TRUE, nullptr);
  gst_query_add_allocation_meta(query, GST_CROWD_BOXES_META_API_TYPE, params);
  gst_structure_free(params);
}

bool DownstreamCaps::wants(GstPad* pad, const char* field) {
  if (!asked_.exchange(true))
    wanted_ = ask(pad, field);
  return wanted_;
}

}  // namespace crowd::meta
