// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The candidates that GStreamer 1.28's own tensor decoders keep, for pipelines that count on exactly their boxes.
//
// Rules differ in details from NMS of the raw boxes. Of each layout that GStreamer has a decoder for:
//
//   yolo-v8-out     yolov8tensordec. A place is a candidate if its best score is above (not at) the threshold and its
//                   centre and size are not too far out for the frame. Its box is cut to whole pixels: x and y of its
//                   corner toward zero, width and height to the nearest. Overlap is that of boxes without what is left
//                   of or above the frame; what lies there as a whole overlaps nothing.
//   ultra-lightweight-face-detection-rfb-320-v1-variant-1-out
//                   ultralightfacedetectortensordec, where the boxes are decoded. Overlap is that of the boxes from
//                   0 to 1, and one that is at the threshold suppresses as well. Afterwards rounded to whole pixels.
//
// Both suppress across classes. Not defined there, and so not the same here: the order of equal scores (GLib's sort is
// not stable; here the lower place first), scores and coordinates that are NaN, faces whose corners are swapped by half
// a pixel or more (both not candidates here), and frames of more than 2^23 pixels, whose areas are rounded. A box of no
// width or height, once cut, suppresses nothing and is kept, here as there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensors/decoder.hpp"
#include "tensors/tensor.hpp"

namespace crowd {

struct StockSettings {
  float score_threshold = 0.4F;
  float iou_threshold = 0.7F;
  std::uint32_t max_detections = 100;
  int frame_width = 0, frame_height = 0;  ///< pixels; the frame is the network's input
};

/// For one thread. Keeps its memory.
class StockRule {
 public:
  /// Of a layout, see tensors/layouts.hpp; null where GStreamer has no decoder for it.
  static std::unique_ptr<StockRule> of_layout(const std::string& group_id);

  virtual ~StockRule() = default;

  /// Fills `kept` in the order of their scores, best first, with boxes of whole pixels that may leave the frame and be
  /// 0 pixels wide or high.
  /// `outputs`: float32 in host memory, in any order. False, with the reason and remedy, where their dims are not the
  /// layout's or there is no memory. Throws std::bad_alloc.
  virtual bool select(std::span<const tensors::Tensor> outputs, const StockSettings& settings,
                      std::vector<tensors::RawBox>& kept, std::string& problem) = 0;
};

}  // namespace crowd
