// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A frame whose pixels can be reached. Header only, for every plugin.
#pragma once

#include <gst/video/video.h>

namespace crowd {

/// False if the frame cannot be mapped.
class MappedFrame {
 public:
  MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, int flags)
      : mapped_(gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(flags))) {}
  ~MappedFrame() {
    if (mapped_)
      gst_video_frame_unmap(&frame_);
  }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  explicit operator bool() const {
    return mapped_;
  }
  const GstVideoFrame& operator*() const {
    return frame_;
  }
  GstVideoFrame& operator*() {
    return frame_;
  }

 private:
  GstVideoFrame frame_;
  bool mapped_;
};

}  // namespace crowd
