// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is said of frames: messages on the bus and statistics.

#include "cluster/stream.hpp"
#include "meta/unread.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

namespace crowd {

void NmsStream::tell(GstBuffer* buffer, const Frame& frame, const meta::BatchedFrame* batched) {
  if (frame.result)
    warn_overflow(frame.result->report.overflow, frame.result->report.candidates, frame.config.params.method);
  if (frame.nan_candidates)
    warn_nan(frame);
  if (frame.unknown_models)
    warn_unknown_models(frame);
  if (frame.left_out)
    warn_left_out(*frame.left_out);
  count(frame);
  if (frame.on_device)
    warn_overflow_on_device();
  GST_LOG_OBJECT(element_, "%u candidates, %u survivors", stats_.last().candidates, stats_.last().survivors);
  if (frame.settings.post_messages)
    post_message(buffer, batched);
}

// Also where candidates of another kind are there.
void NmsStream::look_for_lost(GstBuffer* buffer, const Metadata& metadata, Frame& frame) {
  frame.broken = metadata.has_lost(buffer, frame.settings.source);
  if (frame.broken)
    warnings_.lost.post(
        element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Candidates were attached to the frames and dropped on the way to here, by an element that copies the picture. "
        "Put crowdnms before the element that crops, flips, pads or filters it, or the detector behind that. Further "
        "frames are only counted, see failures in stats.");
}

// Cheap, and only until there were candidates.
void NmsStream::look_for_unread(GstBuffer* buffer, meta::KindId wanted) {
  // A second, in which a decoder would have found something.
  constexpr unsigned many = 30;
  if (found_candidates_ || !warnings_.unread.is_due())
    return;
  const meta::Unread unread = meta::unread_detections(buffer, wanted);
  if (!unread.problem)
    return;
  undecoded_ = unread.problem;
  if (unread.sure || ++frames_undecoded_ >= many)
    warn_unread();
}

void NmsStream::warn_unread() {
  if (undecoded_ && !found_candidates_)
    warnings_.unread.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "%s", undecoded_);
}

void NmsStream::warn_left_out(const meta::AdapterRow& row) {
  warnings_.left_out.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                          "A frame has more than %" G_GSIZE_FORMAT
                          " objects, which meta-output=auto does not write as %s: its memory grows with their square. "
                          "They leave as its other kinds. Set max-detections or a higher score-threshold, or "
                          "meta-output=%s if you want them as that anyway.",
                          row.max_automatic, row.nick, row.nick);
}

void NmsStream::warn_nan(const Frame& frame) {
  const bool densities = frame.config.params.rule == CROWD_NMS_ADAPTIVE;
  warnings_.nan.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                     "%s of %u candidates of a frame are NaN, and count as %s. Mend the detector that attached them. "
                     "Further ones are only counted, see nan-candidates in stats.",
                     densities ? "Densities" : "Features", frame.nan_candidates, densities ? "0" : "unlike all others");
}

void NmsStream::warn_unknown_models(const Frame& frame) {
  warnings_.unknown_models.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                "%u candidates of a frame are of models that have no weight, as model-weights has %u, "
                                "and are dropped. Give it a weight for each model, or mend the detector, whose models "
                                "count from 0. Further ones are only counted, see invalid in stats.",
                                frame.unknown_models, frame.config.params.weight_count);
}

void NmsStream::warn_unknown_class(const std::string& name) {
  warnings_.unknown_class.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                               "class-attrs or class-filter name \"%s\", which is none of the candidates' labels. "
                               "Correct it; the other classes are clustered as they say.",
                               name.c_str());
}

void NmsStream::warn_gpu(Backends::GpuOutcome outcome) {
  const char* problem = host_.problem().c_str();
  if (outcome == Backends::GpuOutcome::lost)
    GST_ELEMENT_WARNING(element_, RESOURCE, FAILED, ("The GPU failed; clustering goes on on the CPU."),
                        ("%s", problem));
  else if (outcome == Backends::GpuOutcome::refused)
    warnings_.refused.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                           "The GPU cannot cluster a frame with these properties, the CPU does: %s. Further ones are "
                           "not reported.",
                           problem);
}

void NmsStream::warn_unknown_size() {
  warnings_.size.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                      "The caps have no width and height, so boxes are neither clipped nor scaled to the frame. Put a "
                      "capsfilter with both before crowdnms.");
}

void NmsStream::count(const Frame& frame) {
  GST_OBJECT_LOCK(element_);
  const CrowdNmsMethod method = frame.config.params.method;
  if (frame.on_device && !frame.result)
    stats_.count_on_device(method);
  else
    stats_.count(frame.result ? &*frame.result : nullptr,
                 frame.on_device ? NmsStats::Place::device : NmsStats::Place::host, frame.broken, method,
                 frame.nan_candidates);
  GST_OBJECT_UNLOCK(element_);
}

// Its time is that of its stream.
void NmsStream::post_message(GstBuffer* buffer, const meta::BatchedFrame* batched) const {
  static const GstSegment unknown = {};
  const GstSegment* segment = !batched ? &element_->segment : batched->segment ? batched->segment : &unknown;
  // Read without the lock: written by this thread only.
  GstStructure* message = stats_.message(*segment, buffer);
  if (batched)
    gst_structure_set(message, "stream", G_TYPE_UINT, batched->stream, nullptr);
  gst_element_post_message(GST_ELEMENT(element_), gst_message_new_element(GST_OBJECT(element_), message));
}

}  // namespace crowd
