// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A frame whose pixels can be reached. Header only, for every plugin.
#pragma once

#include <gst/video/video.h>

#include <string>

namespace crowd {

/// Why a buffer is no frame of these caps, and what helps.
inline std::string mapping_problem(GstBuffer* buffer, const GstVideoInfo& info) {
  const gsize size = gst_buffer_get_size(buffer);
  if (size < info.size && !gst_buffer_get_video_meta(buffer))
    return "the buffer has " + std::to_string(size) + " bytes, and a frame of its caps has " +
           std::to_string(info.size) + "; put rawvideoparse behind a source of raw video, or correct the caps";
  return "its memory cannot be mapped as a frame of its caps; put videoconvert before this element";
}

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
