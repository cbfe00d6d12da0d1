// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames that travel inside of a buffer, those of several streams in one, as analyticscombiner of GStreamer 1.28 makes
// it.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace crowd::meta {

/// A buffer in a batch. Valid as long as the batch, and until another BatchedFrame of the same `place` is made
/// writable.
struct BatchedFrame {
  GstMiniObject** place;      ///< in the batch's metadata, which holds a reference: a buffer or a list of buffers
  guint index;                ///< in that list
  guint stream;               ///< of the batch, from 0 on
  GstCaps* caps;              ///< in force for it; null if the batch does not say
  const GstSegment* segment;  ///< likewise

  GstBuffer* buffer() const;

  /// The buffer, which another one takes the place of in the batch where it is shared. The batch is writable.
  GstBuffer* make_writable() const;
};

/// How a buffer holds a batch.
struct BatchKind {
  const char* caps;  ///< of batches of several streams, which are no frames themselves
  /// Replaces the content of the vector by all buffers of a batch, stream by stream; none if there is no batch.
  void (*find)(GstBuffer* batch, std::vector<BatchedFrame>& frames);
};

/// Null in builds without GstAnalyticsBatchMeta.
const BatchKind* batch_kind();

/// Whether these are the caps of such batches.
bool are_batch_caps(const BatchKind* kind, const GstCaps* caps);

}  // namespace crowd::meta
