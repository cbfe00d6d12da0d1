// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/framedecoder.hpp"

#include "base/keepbest.hpp"
#include "tensordec/decodedmark.hpp"
#include "tensordec/foundbefore.hpp"

namespace crowd {

namespace {

void fill(const GstCrowdBoxesMap& to, const std::vector<tensors::RawBox>& boxes, std::size_t n) {
  for (std::size_t i = 0; i < n; i++) {
    to.boxes[i] = {boxes[i].x1, boxes[i].y1, boxes[i].x2, boxes[i].y2};
    to.scores[i] = boxes[i].score;
    to.classes[i] = static_cast<gint32>(boxes[i].class_id);
  }
}

DecodedFrame dropped(std::string problem) {
  return {.report = {DeviceOutcome::dropped, std::move(problem)}};
}

}  // namespace

bool FrameDecoder::is_stock(const TensorDecSettings& settings) const {
  return settings.compatibility == Compatibility::stock && decoder_.has_stock_rule();
}

DecodedFrame FrameDecoder::decode_on_device(const TensorDecSettings& settings) {
  DecodedFrame decoded;
  CandidateWriter::Written candidates{.memory = nullptr, .capacity = settings.nms.max_candidates};
  decoded.report = decoder_.decode_on_device(
      found(), {settings.class_threshold, settings.box_threshold, candidates.capacity}, candidates.memory);
  if (decoded.report.outcome == DeviceOutcome::done)
    decoded.candidates = std::move(candidates);
  return decoded;
}

/// Empty, or what is wrong.
std::string FrameDecoder::find_boxes(const TensorDecSettings& settings) {
  boxes_.clear();
  if (is_stock(settings))
    return decoder_.select(found(),
                           {.score_threshold = settings.class_threshold,
                            .iou_threshold = static_cast<float>(settings.nms.params.overlap_threshold),
                            .max_detections = settings.nms.max_detections},
                           boxes_);
  return decoder_.decode(
      found(),
      {.score_threshold = settings.class_threshold, .classes = {}, .objectness_threshold = settings.box_threshold},
      boxes_);
}

DecodedFrame FrameDecoder::decode_on_host(GstBuffer* frame, const TensorDecSettings& settings) {
  if (std::string problem = find_boxes(settings); !problem.empty())
    return dropped(std::move(problem));
  const std::size_t n = boxes_.size();
  const bool found_before = is_found_before(frame, boxes_);
  keep_best(boxes_, settings.nms.max_candidates);
  return {.candidates = writer_.write(
              nullptr, n, [this](const GstCrowdBoxesMap& to, std::size_t n) { fill(to, boxes_, n); },
              settings.nms.max_candidates),
          .found_before = found_before};
}

DecodedFrame FrameDecoder::decode(GstBuffer* frame, GstBuffer* input, const TensorDecSettings& settings,
                                  const NmsStream& stream) {
  std::string problem;
  if (!finder_.find(input, problem))
    return dropped(std::move(problem));
  if (!found().network)
    return {};
  if (const std::string other = decoder_of(frame, found().tensors.front()->data); !other.empty())
    return dropped(other + " has decoded them already, and each object would be found twice: remove one of the two");
  if (problem = decoder_.prepare(found(), stream.frame_size()); !problem.empty())
    return dropped(std::move(problem));
  const bool on_device = !is_stock(settings) && stream.reads_device() && decoder_.can_decode_on_device(found());
  return on_device ? decode_on_device(settings) : decode_on_host(frame, settings);
}

}  // namespace crowd
