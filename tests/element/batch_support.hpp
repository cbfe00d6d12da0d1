// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Batches as analyticscombiner makes them and analyticssplitter takes them apart, elements that few systems have.
#pragma once

#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.hpp"

namespace crowd::test {

constexpr char batch_caps[] = "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)";

inline GstEvent* caps_event(const std::string& text) {
  const Ref<GstCaps> caps(gst_caps_from_string(text.c_str()));
  return gst_event_new_caps(caps.get());
}

inline GstEvent* segment_event(GstClockTime start) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.time = start;
  return gst_event_new_segment(&segment);
}

/// What a batch has of a stream. Owns nothing: make_batch() takes all of it.
struct BatchStream {
  std::vector<GstEvent*> sticky_events{};
  std::vector<GstMiniObject*> objects{};

  void add(Ref<GstBuffer> buffer) {
    objects.push_back(GST_MINI_OBJECT_CAST(buffer.release()));
  }
  void add(GstEvent* event) {
    objects.push_back(GST_MINI_OBJECT_CAST(event));
  }
  void add(std::vector<Ref<GstBuffer>> buffers) {
    GstBufferList* list = gst_buffer_list_new();
    for (Ref<GstBuffer>& buffer : buffers)
      gst_buffer_list_add(list, buffer.release());
    objects.push_back(GST_MINI_OBJECT_CAST(list));
  }
};

/// A stream of frames of a size, as it begins.
inline BatchStream stream_of(unsigned width, unsigned height, GstClockTime start = 0) {
  return {.sticky_events = {gst_event_new_stream_start("test"), caps_event(video_caps(width, height)),
                            segment_event(start)}};
}

template <typename T>
T* array_of(const std::vector<T>& items) {
  T* array = items.empty() ? nullptr : g_new0(T, items.size());
  std::copy(items.begin(), items.end(), array);
  return array;
}

inline GstAnalyticsBatchMeta* add_batch(GstBuffer* buffer, const std::vector<BatchStream>& streams) {
  GstAnalyticsBatchMeta* meta = gst_buffer_add_analytics_batch_meta(buffer);
  meta->streams = streams.empty() ? nullptr : g_new0(GstAnalyticsBatchStream, streams.size());
  meta->n_streams = streams.size();
  for (guint i = 0; i < streams.size(); i++) {
    GstAnalyticsBatchStream& stream = meta->streams[i];
    stream.index = i;
    stream.sticky_events = array_of(streams[i].sticky_events);
    stream.n_sticky_events = streams[i].sticky_events.size();
    stream.objects = array_of(streams[i].objects);
    stream.n_objects = streams[i].objects.size();
  }
  return meta;
}

inline Ref<GstBuffer> make_batch(const std::vector<BatchStream>& streams, GstClockTime pts = 0) {
  Ref<GstBuffer> buffer(gst_buffer_new());
  GST_BUFFER_PTS(buffer.get()) = pts;
  add_batch(buffer.get(), streams);
  return buffer;
}

/// Of a stream of the batch, in order, those in lists as well. They belong to the batch.
inline std::vector<GstBuffer*> frames_of(GstBuffer* batch, guint stream) {
  std::vector<GstBuffer*> all;
  const GstAnalyticsBatchMeta* meta = gst_buffer_get_analytics_batch_meta(batch);
  for (gsize i = 0; meta && stream < meta->n_streams && i < meta->streams[stream].n_objects; i++) {
    GstMiniObject* object = meta->streams[stream].objects[i];
    if (GST_IS_BUFFER(object))
      all.push_back(GST_BUFFER_CAST(object));
    for (guint k = 0; GST_IS_BUFFER_LIST(object) && k < gst_buffer_list_length(GST_BUFFER_LIST_CAST(object)); k++)
      all.push_back(gst_buffer_list_get(GST_BUFFER_LIST_CAST(object), k));
  }
  return all;
}

}  // namespace crowd::test
