// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/batch.hpp"

#if CROWD_HAVE_BATCHES
#include <gst/analytics/analytics.h>
#endif

namespace crowd::meta {

GstBuffer* BatchedFrame::buffer() const {
  return GST_IS_BUFFER_LIST(*place) ? gst_buffer_list_get(GST_BUFFER_LIST_CAST(*place), index)
                                    : GST_BUFFER_CAST(*place);
}

GstBuffer* BatchedFrame::make_writable() const {
  *place = gst_mini_object_make_writable(*place);
  return GST_IS_BUFFER_LIST(*place) ? gst_buffer_list_get_writable(GST_BUFFER_LIST_CAST(*place), index)
                                    : GST_BUFFER_CAST(*place);
}

bool are_batch_caps(const BatchKind* kind, const GstCaps* caps) {
  if (!kind)
    return false;
  GstCaps* batches = gst_caps_from_string(kind->caps);
  const bool are_batches = gst_caps_is_subset(caps, batches);
  gst_caps_unref(batches);
  return are_batches;
}

#if CROWD_HAVE_BATCHES

namespace {

/// One stream of a batch, from its sticky events on.
class StreamWalk {
 public:
  StreamWalk(guint stream, std::vector<BatchedFrame>& frames) : stream_(stream), frames_(frames) {}

  void follow(GstEvent* event) {
    if (!event)
      return;
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS)
      gst_event_parse_caps(event, &caps_);
    else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT)
      gst_event_parse_segment(event, &segment_);
  }

  void take(GstMiniObject** object) {
    if (!*object)
      return;
    if (GST_IS_EVENT(*object))
      follow(GST_EVENT_CAST(*object));
    else if (GST_IS_BUFFER(*object))
      add(object, 0);
    else if (GST_IS_BUFFER_LIST(*object))
      for (guint i = 0; i < gst_buffer_list_length(GST_BUFFER_LIST_CAST(*object)); ++i)
        add(object, i);
  }

 private:
  void add(GstMiniObject** object, guint index) {
    frames_.push_back({.place = object, .index = index, .stream = stream_, .caps = caps_, .segment = segment_});
  }

  guint stream_;
  std::vector<BatchedFrame>& frames_;
  GstCaps* caps_ = nullptr;
  const GstSegment* segment_ = nullptr;
};

// Also where there are no streams, or no objects: DL Streamer counts sources by metadata like that.
void find_frames(GstBuffer* batch, std::vector<BatchedFrame>& frames) {
  frames.clear();
  const GstAnalyticsBatchMeta* meta = gst_buffer_get_analytics_batch_meta(batch);
  for (gsize s = 0; meta && meta->streams && s < meta->n_streams; ++s) {
    const GstAnalyticsBatchStream& stream = meta->streams[s];
    StreamWalk walk(static_cast<guint>(s), frames);
    for (gsize i = 0; stream.sticky_events && i < stream.n_sticky_events; ++i)
      walk.follow(stream.sticky_events[i]);
    for (gsize i = 0; stream.objects && i < stream.n_objects; ++i)
      walk.take(&stream.objects[i]);
  }
}

}  // namespace

const BatchKind* batch_kind() {
  static constexpr BatchKind kind = {
      .caps = "multistream/x-analytics-batch(" GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META ")",
      .find = find_frames,
  };
  return &kind;
}

#else

const BatchKind* batch_kind() {
  return nullptr;
}

#endif

}  // namespace crowd::meta
