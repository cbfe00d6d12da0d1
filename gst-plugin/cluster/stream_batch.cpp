// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames in a batch.

#include "cluster/stream.hpp"

namespace crowd {

namespace {

// Other streams of a batch, say of sound, go through as they are.
bool may_be_frames(const GstCaps* caps) {
  return !caps ||
         (gst_caps_get_size(caps) > 0 && gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw"));
}

}  // namespace

const Metadata& NmsStream::metadata_of(guint stream) {
  while (stream_metadata_.size() <= stream)
    stream_metadata_.emplace_back(std::make_unique<Metadata>(rows_))->start();
  return *stream_metadata_[stream];
}

/// What is not touched stays the buffer it is.
void NmsStream::find_items(GstBuffer* batch, const NmsSettings& settings) {
  batches_->find(batch, batched_);
  items_.clear();
  for (const meta::BatchedFrame& batched : batched_) {
    if (!may_be_frames(batched.caps))
      continue;
    meta::FrameSize size = batched.caps ? size_of(batched.caps) : meta::FrameSize{};
    size.borders = frame_size_.borders;
    const Metadata& metadata = metadata_of(batched.stream);
    Frame frame = examine(batched.buffer(), metadata, size, settings);
    GstBuffer* buffer = frame.source ? batched.make_writable() : batched.buffer();
    items_.push_back({.buffer = buffer, .metadata = &metadata, .where = &batched, .frame = std::move(frame)});
  }
}

GstFlowReturn NmsStream::cluster_batch(GstBuffer* batch, const NmsSettings& settings) {
  if (!batches_)
    return GST_FLOW_OK;
  find_items(batch, settings);
  if (const FrameReport report = host_.cluster_batch(items_); !report.is_done())
    return fail(report);
  for (BatchItem& item : items_) {
    if (const GstFlowReturn flow = follow_report(item.buffer, item.frame, item.report); flow != GST_FLOW_OK)
      return flow;
    tell(item.buffer, item.frame, item.where);
  }
  return GST_FLOW_OK;
}

}  // namespace crowd
