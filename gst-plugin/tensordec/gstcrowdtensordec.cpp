// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowdtensordec
 * @title: crowdtensordec
 * @short_description: from a network's output to one box per object
 *
 * An inference element (onnxinference, tfliteinference and others) attaches what a network answers to a frame as
 * #GstTensorMeta. crowdtensordec decodes that, drops what is below the thresholds, clusters the rest as crowdnms does
 * (greedy NMS) and leaves one box per object, all in one step; crowdnms is not needed behind it. It takes the place of
 * GStreamer's own decoders (yolov8tensordec, ultralightfacedetectortensordec) and has their properties by their names
 * and with yolov8tensordec's defaults. It works in place and never looks at pixels, so frames may be in any memory.
 *
 * ## Which tensors are decoded
 *
 * Layouts are described as for crowddetect's networks, by the same files: gst-crowd's folder `layouts` has one for each
 * (SSD with and without anchors, CenterFace, YOLOv5, YOLOv8 and 11, YOLO26, BlazeFace, Ultra Light Face).
 *
 * With `model-info`, a file or the name of one of them, tensors are the description's outputs by their ids (its ids, or
 * its names of tensors), else by shape where there is one alone that fits. A fixed size of the network's input and
 * `fit` (stretch, or letterbox with the picture in the upper left corner) say how boxes go back to the frame.
 *
 * Without it the first of these descriptions counts whose ids a #GstTensorMeta of the frame has, and the frame is taken
 * for the network's input, as GStreamer's decoders do. Tensors of further networks are then left to a decoder of
 * their own, one with `model-info`; a warning says that they are there.
 *
 * The four outputs that ssdobjectdetector decodes (ssdtensordec from GStreamer 1.28 on: boxes, scores, classes, count)
 * are none of these layouts: networks that have them have done NMS, so that there is nothing to do in one step. Let it
 * attach its objects, and crowdnms cluster these if they still overlap.
 *
 * Tensors are float32 or float16, their first dimension is 1, and they lie in C order, the last dimension the nearest
 * in memory, whatever their `dims-order` says: GStreamer labels those of YOLO col-major and has them in C order, too.
 *
 * A place of a network's output gives one candidate at most, of its best class. It counts from
 * `class-confidence-threshold` on, which is compared with what crowdnms calls the score, and where there is an
 * objectness from `box-confidence-threshold` on.
 *
 * Tensors stay on the frame, and so does the field `tensors` that caps have from GStreamer 1.28 on, as behind its own
 * decoders: what is behind still finds those of its network. Frames without tensors go on as they are; a warning at the
 * end says if all were such.
 *
 * Tensors in CUDA memory, one memory each, are decoded and clustered there, in order of their memory's stream. What
 * `meta-output`, `backend` and `stats` mean, and how survivors leave, says crowdnms.
 *
 * ## Other boxes than those of GStreamer's decoders
 *
 * The same tensors give other boxes here than in GStreamer 1.28's decoders, unless `compatibility=stock`:
 * - boxes are clustered as the network gives them, in float; yolov8tensordec first cuts them to whole pixels;
 * - overlap is that of whole boxes; yolov8tensordec takes off first what lies left of the frame and above it;
 * - a box may lie anywhere; yolov8tensordec drops those that are larger than the frame or have their centre more than
 *   half a frame outside, and keeps those without width or height;
 * - a score that is equal to the threshold counts; in yolov8tensordec it does not. An overlap that is equal to
 *   `iou-threshold` does not suppress; in ultralightfacedetectortensordec it does;
 * - with `class-agnostic=false` classes are clustered each for itself;
 * - with objectness, scores are multiplied by it; yolov8tensordec has a `box-confidence-threshold` and does not use it;
 * - rectangles that leave the frame are clipped to it.
 *
 * With `compatibility=stock` all this is as there, on the CPU, for the layouts that they decode; what they leave
 * undefined (equal scores, NaN, corners that are swapped) is not. Boxes less than half a pixel wide or high are kept
 * as there, as boxes without area. `stats` then counts only what that rule leaves.
 *
 * ## What cannot be decoded
 *
 * A frame goes on without boxes, and is counted in `failures`, where no description has the ids of its tensors, where
 * types or dims are none of the layout's, where data are missing or shorter than dims say, or where another
 * crowdtensordec has decoded the same tensors before. One warning on the bus says why, from start to stop. Another
 * decoder before it is warned of where the best object on the frame is a candidate of the tensors as well; both leave
 * their boxes then. Of tensors in CUDA memory that is not seen. Candidates whose class or score is none are counted as
 * `invalid`. A label file that cannot be read is warned of, and classes have no names.
 *
 * ## Example
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvertscale ! onnxinference model-file=yolov8s.onnx !
 * \ crowdtensordec label-file=coco.txt ! objectdetectionoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */

#include "tensordec/gstcrowdtensordec.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/transform.hpp"
#include "cluster/stream.hpp"
#include "gpu/sharedcontext.hpp"
#include "meta/candidatewriter.hpp"
#include "tensordec/decodedmark.hpp"
#include "tensordec/framedecoder.hpp"
#include "tensordec/settings.hpp"
#include "tensordec/stats.hpp"

GST_DEBUG_CATEGORY_STATIC(crowd_tensor_dec_debug);
#define GST_CAT_DEFAULT crowd_tensor_dec_debug

using crowd::CandidateWriter;
using crowd::DecodedFrame;
using crowd::DeviceOutcome;
using crowd::NmsStream;
using crowd::TensorDecSettings;
using crowd::TensorDecStats;

namespace {

/// Lives from start to stop.
struct State {
  State(GstBaseTransform* element, crowd::TensorFinder finder, crowd::Labels names)
      : frames(GST_BASE_TRANSFORM_SRC_PAD(element), std::move(finder)), labels(std::move(names)) {}

  crowd::FrameDecoder frames;
  crowd::Labels labels;        ///< of the label file; empty: those of the description
  GstBuffer* input = nullptr;  ///< that the frame is made of: a copy may lack the tensors
  struct Warnings {
    crowd::RunWarning failure, ambiguous, replaced, found_before;
  } warnings;
};

crowd::StreamParts stream_parts() {
  crowd::StreamParts parts;
  parts.best_are_attached = true;
  return parts;
}

/// Leaves all candidates as they are, also those of no width or height, which are valid where edges are pixels.
crowd::NmsSettings without_suppression(crowd::NmsSettings settings) {
  settings.params.overlap_threshold = 1;
  settings.params.comparator = CROWD_NMS_GREATER;
  settings.params.pixel_offset = 1;
  settings.clip = false;
  return settings;
}

}  // namespace

struct GstCrowdTensorDecImpl : crowd::ElementImpl<GstCrowdTensorDec, TensorDecSettings, TensorDecStats, State> {
  explicit GstCrowdTensorDecImpl(GstBaseTransform* element) : stream(element, stream_parts()) {}

  static const crowd::PropertyTable<TensorDecSettings>& properties() {
    return crowd::tensordec_properties();
  }
  static std::unique_ptr<State> open(GstCrowdTensorDec* self, const TensorDecSettings& settings);
  static void close(GstCrowdTensorDec* self, State&);
  static GstStructure* stats_structure(GstCrowdTensorDec* self);

  NmsStream stream;  // which counts what is clustered
};

struct _GstCrowdTensorDec {
  GstBaseTransform parent;
  GstCrowdTensorDecImpl* impl;
};

G_DEFINE_FINAL_TYPE(GstCrowdTensorDec, gst_crowd_tensor_dec, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowdtensordec, "crowdtensordec", GST_RANK_NONE, GST_TYPE_CROWD_TENSOR_DEC)

using Base = crowd::ElementBase<GstCrowdTensorDec>;

static crowd::Labels gst_crowd_tensor_dec_read_labels(GstCrowdTensorDec* self, const std::string& file) {
  std::string problem;
  if (file.empty())
    return crowd::labels_of({});
  if (auto names = crowd::tensors::read_labels(file, problem))
    return crowd::labels_of(*names);
  GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("Classes have no names: %s. Correct label-file.", problem.c_str()),
                      (nullptr));
  return crowd::labels_of({});
}

std::unique_ptr<State> GstCrowdTensorDecImpl::open(GstCrowdTensorDec* self, const TensorDecSettings& settings) {
  std::string problem;
  std::vector<crowd::TensorNetwork> networks = settings.model_info.empty()
                                                   ? crowd::read_shipped_networks(problem)
                                                   : crowd::read_network(settings.model_info, problem);
  if (networks.empty()) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", problem.c_str()), (nullptr));
    return nullptr;
  }
  if (!problem.empty())
    GST_WARNING_OBJECT(self, "not all descriptions can be used: %s", problem.c_str());
  if (!self->impl->stream.start(settings.nms))
    return nullptr;
  return std::make_unique<State>(GST_BASE_TRANSFORM(self),
                                 crowd::TensorFinder(std::move(networks), !settings.model_info.empty()),
                                 gst_crowd_tensor_dec_read_labels(self, settings.label_file));
}

void GstCrowdTensorDecImpl::close(GstCrowdTensorDec* self, State&) {
  self->impl->stream.stop();
}

GstStructure* GstCrowdTensorDecImpl::stats_structure(GstCrowdTensorDec* self) {
  GstStructure* all = self->impl->stream.stats(CROWD_NMS_GREEDY);
  GST_OBJECT_LOCK(self);
  const TensorDecStats stats = self->impl->stats;
  GST_OBJECT_UNLOCK(self);
  stats.add_to(all);
  return all;
}

static gboolean gst_crowd_tensor_dec_set_caps(GstBaseTransform* transform, GstCaps* caps, GstCaps*) {
  GST_CROWD_TENSOR_DEC(transform)->impl->stream.set_caps(caps);
  return TRUE;
}

static void gst_crowd_tensor_dec_warn_of_none(GstCrowdTensorDec* self) {
  GST_OBJECT_LOCK(self);
  const TensorDecStats stats = self->impl->stats;
  GST_OBJECT_UNLOCK(self);
  if (stats.frames > 0 && stats.decoded == 0 && stats.failures == 0)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("None of the %" G_GUINT64_FORMAT " frames had tensors. Put the element that runs the network "
                         "before this one, and none between them that makes frames anew.",
                         stats.frames),
                        (nullptr));
}

static gboolean gst_crowd_tensor_dec_sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    gst_crowd_tensor_dec_warn_of_none(GST_CROWD_TENSOR_DEC(transform));
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_tensor_dec_parent_class)->sink_event(transform, event);
}

static gboolean gst_crowd_tensor_dec_src_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    GST_CROWD_TENSOR_DEC(transform)->impl->stream.reconfigure();
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_tensor_dec_parent_class)->src_event(transform, event);
}

static GstFlowReturn gst_crowd_tensor_dec_prepare_output_buffer(GstBaseTransform* transform, GstBuffer* input,
                                                                GstBuffer** output) {
  GST_CROWD_TENSOR_DEC(transform)->impl->state->input = input;
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_tensor_dec_parent_class)->prepare_output_buffer(transform, input, output);
}

static void gst_crowd_tensor_dec_count(GstCrowdTensorDec* self, const DecodedFrame& decoded, gint64 begin) {
  GST_OBJECT_LOCK(self);
  TensorDecStats& stats = self->impl->stats;
  stats.frames++;
  stats.failures += decoded.report.outcome != DeviceOutcome::done;
  if (decoded.candidates) {
    stats.decoded++;
    stats.decode_us += static_cast<guint64>(g_get_monotonic_time() - begin);
  }
  GST_OBJECT_UNLOCK(self);
}

static GstFlowReturn gst_crowd_tensor_dec_cluster(GstCrowdTensorDec* self, GstBuffer* buffer,
                                                  const CandidateWriter::Written& candidates,
                                                  const crowd::NmsSettings& settings) {
  State& state = *self->impl->state;
  NmsStream& stream = self->impl->stream;
  if (!candidates.memory) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("There is no memory for the candidates of a frame. Lower max-candidates."), (nullptr));
    return GST_FLOW_ERROR;
  }
  const crowd::FrameTensors& tensors = state.frames.found();
  GPtrArray* labels = state.labels->len > 0 ? state.labels.get() : tensors.network->labels.get();
  if (crowd::remove_candidates(buffer))
    crowd::warn_of_replaced(self, state.warnings.replaced);
  const crowd::meta::FrameSize& size = stream.frame_size();
  CandidateWriter::attach(
      buffer, candidates,
      {.width = size.width, .height = size.height, .labels = labels->len > 0 ? labels : nullptr, .calibration = {}});
  crowd::mark_decoded(buffer, tensors.tensors.front()->data, GST_OBJECT_NAME(self));
  const GstFlowReturn flow = stream.begin(buffer, settings);
  return flow == GST_FLOW_OK ? stream.finish(buffer) : flow;
}

static GstFlowReturn gst_crowd_tensor_dec_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  auto* self = GST_CROWD_TENSOR_DEC(transform);
  State& state = *self->impl->state;
  const TensorDecSettings settings = Base::copy_settings(self);
  const gint64 begin = g_get_monotonic_time();
  const DecodedFrame decoded = state.frames.decode(buffer, state.input, settings, self->impl->stream);
  gst_crowd_tensor_dec_count(self, decoded, begin);
  if (state.frames.found().ambiguous)
    state.warnings.ambiguous.post(self, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                                  "Frames carry tensors of more than one network, or of several runs of one. Only the "
                                  "first, of %s, are decoded. Set model-info to the network that is meant, and add a "
                                  "crowdtensordec for each other one.",
                                  state.frames.found().network->name.c_str());
  if (decoded.found_before)
    state.warnings.found_before.post(self, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                                     "Another decoder has decoded the same tensors before, and each object is on the "
                                     "frame twice. Remove that decoder, or this element.");
  if (crowd::is_fatal(decoded.report.outcome))
    return crowd::fail_for_gpu(transform, decoded.report.outcome, decoded.report.problem.c_str());
  if (decoded.report.outcome != DeviceOutcome::done)
    state.warnings.failure.post(self, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                                "The tensors of a frame are not decoded: %s. Further ones are only counted, see "
                                "failures in stats.",
                                decoded.report.problem.c_str());
  if (!decoded.candidates)
    return GST_FLOW_OK;
  return gst_crowd_tensor_dec_cluster(
      self, buffer, *decoded.candidates,
      state.frames.is_stock(settings) ? without_suppression(settings.nms) : settings.nms);
}

static gboolean gst_crowd_tensor_dec_query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  auto* self = GST_CROWD_TENSOR_DEC(transform);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && self->impl->stream.answer(query))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_tensor_dec_parent_class)->query(transform, direction, query) ||
         crowd::answer_with_context(GST_ELEMENT(transform), query, Base::copy_settings(self).nms.cuda_device_id);
}

static void gst_crowd_tensor_dec_set_context(GstElement* element, GstContext* context) {
  auto* self = GST_CROWD_TENSOR_DEC(element);
  self->impl->stream.set_context(context, Base::copy_settings(self).nms.cuda_device_id);
  GST_ELEMENT_CLASS(gst_crowd_tensor_dec_parent_class)->set_context(element, context);
}

static void gst_crowd_tensor_dec_class_init(GstCrowdTensorDecClass* klass) {
  GST_DEBUG_CATEGORY_INIT(crowd_tensor_dec_debug, "crowdtensordec", 0, "decoding of tensors");
  Base::class_init(
      klass, {.name = "Tensor decoder and non-maximum suppression",
              // Without Tensordecoder: tensordecodebin would put it beside GStreamer's own, and both would decode.
              .classification = "Filter/Analyzer/Video",
              .description = "Decodes the tensors of a detection network and leaves one box per object",
              .stats = "As that of crowdnms, of the frames that were decoded; frames, decoded, failures (frames whose "
                       "tensors could not be decoded), and decode-time of the host in nanoseconds"});
  crowd::add_any_video_templates(klass);

  GST_ELEMENT_CLASS(klass)->set_context = gst_crowd_tensor_dec_set_context;
  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->set_caps = gst_crowd_tensor_dec_set_caps;
  transform_class->sink_event = gst_crowd_tensor_dec_sink_event;
  transform_class->src_event = gst_crowd_tensor_dec_src_event;
  transform_class->query = gst_crowd_tensor_dec_query;
  transform_class->prepare_output_buffer = gst_crowd_tensor_dec_prepare_output_buffer;
  transform_class->transform_ip = gst_crowd_tensor_dec_transform_ip;
}

static void gst_crowd_tensor_dec_init(GstCrowdTensorDec* self) {
  Base::init(self);
}
