// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowdnms
 * @title: crowdnms
 * @short_description: leaves one box per object
 *
 * A detector leaves hundreds or thousands of overlapping candidate boxes on a frame. crowdnms clusters them by
 * non-maximum suppression (NMS), on the GPU or on the CPU with the same result, and leaves one box per object, the
 * survivor, as metadata. It works in place and never looks at pixels, so frames may be in any memory.
 *
 * Candidates come as #GstCrowdBoxesMeta (crowddetect, crowdinject), as objects of #GstAnalyticsRelationMeta
 * (GStreamer's tensor decoders, DL Streamer; from GStreamer 1.24 on, in builds with gstreamer-analytics) or as
 * #GstVideoRegionOfInterestMeta with a detection (DL Streamer and others); `meta-source` chooses, `auto` takes the
 * first of these that a frame has. Metadata that is not a detection is left untouched.
 *
 * Survivors leave as #GstVideoRegionOfInterestMeta and, where the build has gstreamer-analytics, as objects of
 * #GstAnalyticsRelationMeta as well; `meta-output` chooses. Where both are written, a region has the `id` of its
 * object, as in DL Streamer; regions that are no detections keep the ids they have, which may be the same. A frame with
 * more than 4096 objects leaves without #GstAnalyticsRelationMeta where `meta-output=auto`, and one warning says so.
 *
 * A region's structure "detection" holds `label_id` (int), `confidence`
 * (double, a probability: the score itself where the detector's scores are probabilities, else what the detector's
 * calibration makes of it, see #GstCrowdBoxesMeta) and `x_min`, `x_max`, `y_min`, `y_max` (double, fractions of the
 * frame, not clipped to it); its structure "nms" holds `cluster-id` (int: rank of the cluster's survivor, -1 for none),
 * `members` (uint: candidates that the survivor represents, itself included), `suppressed` (uint: the others of them),
 * `score` (double, the detector's own) and `kept` (boolean). In `mode=replace` the candidates are gone afterwards: a
 * #GstCrowdBoxesMeta is removed, also a broken one, and new regions are added in rank order; of regions that were
 * candidates the survivors stay, with everything attached to them, and children of suppressed ones go to the survivor
 * that represents their parent. In `mode=annotate` candidates stay, and every valid one has a region that says whether
 * it is `kept`.
 *
 * An object (#GstAnalyticsODMtd) has the rectangle and confidence of the region, and the name of the class as its type;
 * there is no classification. As a candidate it has its rectangle, as it is without its rotation, its confidence, and
 * the best class of the classification that it relates to, or its own type. In `mode=replace` survivors stay in their
 * order with all that relates to them and is no other object, in a relation meta made anew, with new ids; what belongs
 * to suppressed ones alone goes with them, everything else stays. In large ones what lies right behind an object, and
 * is related to it but not to the next, is taken for its own. Where nothing is suppressed the relation meta stays the
 * one it is. Regions with the `id` of an object, a detection and its rectangle within two pixels are the same thing:
 * they are dropped with it or marked, and get its new id; all other regions are left alone. The exact box of such a
 * region counts, and its `label_id` if the object has no name. In `mode=annotate` a survivor contains those it
 * represents, and each of these is part of it; where `max-detections` cut the survivor off, there is no such relation.
 * A relation meta takes n * n bytes for n things in it, which the library clears when it is freed: thousands of
 * candidates are better left in a #GstCrowdBoxesMeta.
 *
 * Candidates in CUDA memory, their number included, stay there (in `mode=replace`): the kernels are enqueued on the
 * stream of that memory, and the host does not wait. Where downstream reads survivors from CUDA memory (crowdoverlay on
 * CUDA frames says so in the ALLOCATION query), they leave as a #GstCrowdBoxesMeta of survivors there, and nothing
 * reaches the host. Otherwise, or with `meta-output=roi` or `all`, the survivors alone are written to the host, at the
 * price of one wait a frame; `output-delay=1` hides it behind the work on the next frame. `stats` then lags behind the
 * GPU, if at all.
 *
 * How long such a frame takes is measured on the GPU, of one frame in sixteen, from the ninth on, and never waited for:
 * in `stats`, `device-time` is the time of `device-frames-timed` frames. `nms-time` counts none of them.
 *
 * Nothing is lost silently: `stats` counts candidates, survivors, suppressed ones, invalid boxes, those below
 * `score-threshold`, those beyond `max-candidates` (`overflow`: the last in the order of the metadata, whatever their
 * scores), survivors beyond `max-detections` (`clipped`) and frames whose candidates cannot be read, which go on
 * without them (`failures`). Overflow and failures are also reported in one warning each on the bus from start to stop.
 *
 * A frame without metadata is a frame without candidates. As long as there were no candidates at all, one warning says
 * if frames carry detections that are not read: regions of interest without a score, or, in builds without
 * gstreamer-analytics, GstAnalyticsRelationMeta. Of #GstTensorMeta it says so after 30 frames, or at the end of the
 * stream, and never of frames on which a decoder has left a #GstAnalyticsRelationMeta, or crowdtensordec its mark: the
 * network may have found nothing yet.
 *
 * Properties that do not go together (say `method=paper` with a `paper-k` that does not divide `paper-d-max`) are an
 * error when the element starts. While it plays it posts one warning and clusters as before until they fit.
 *
 * ## Methods, and boxes made of several
 *
 * `greedy` is the classic algorithm, `map-reduce` and `paper` are those of Oro et al. 2020. Soft-NMS (`soft-linear`,
 * `soft-gaussian`; Bodla et al. 2017) and Matrix NMS (`matrix-linear`, `matrix-gaussian`; Wang et al. 2020) lower the
 * scores of candidates that overlap better ones. Those left with `score-threshold` or more survive, and leave with the
 * score that is left. Give them a threshold, say 0.05: without one all candidates survive. They take scores as weights,
 * from 0 on.
 *
 * With `greedy` and `map-reduce` a survivor can leave with a box made of all candidates that it represents (`merge`),
 * or that overlap it (`merge=vote`, box voting), and a score made of theirs (`cluster-score`); and one that represents
 * fewer than `min-members` is suppressed, as a detection that no other window confirms. `nmw` (non-maximum weighted,
 * Zhou et al. 2017) and `wbf` (weighted box fusion, Solovyev et al. 2019) have ways of merging of their own, the latter
 * for candidates of several detectors (`models`); `model-weights` says what each of these counts for, see below.
 *
 * For candidates of tiles `metric=ios comparator=greater-equal merge=union` gathers what sahi's GREEDYNMM does, which
 * then leaves out those that no longer overlap the box as it grows.
 *
 * A region or an object that was a candidate moves to the new box and has the new confidence, which stays at most 1
 * where it was; in `mode=annotate` that of the survivor does. An object of a locked #GstAnalyticsRelationMeta stays.
 * crowd/nms.h says to the bit what is computed.
 *
 * ## Models
 *
 * Of candidates of several models, or tiles, `nmw` and `wbf` can take those of one for more than those of another, as
 * ensemble-boxes does with its `weights`: `model-weights` has a number for each model, which the scores of its
 * candidates are multiplied by; in `nmw` these numbers are divided by the largest first. Survivors leave with scores
 * made of such products, while `score-threshold` is compared with the detector's own. Which model a candidate is of,
 * from 0 on, is an array of its #GstCrowdBoxesMeta (%GST_CROWD_BOXES_MODELS), in system or CUDA memory. Candidates that
 * lack it are dropped as those are that lack what a rule reads; those of a model that has no weight are counted as
 * invalid, and, where they are read on the host, reported in one warning from start to stop.
 *
 * crowdnms reads one meta of a frame, the first that holds candidates, and leaves others where they are; crowddetect
 * and crowdinject put theirs in the place of the one that is there. An application with several detectors puts what
 * they found into one meta, and numbers the models. crowddetect does not tell its tiles apart; crowdinject takes
 * numbers from a file.
 *
 * ## Rules
 *
 * `rule` says which pairs of candidates that overlap count, for all methods but `paper` and `wbf`; crowd/nms.h has the
 * definitions. What a rule reads are arrays of a #GstCrowdBoxesMeta (GstCrowdBoxesArrays), in system or CUDA memory:
 * `adaptive` (Adaptive NMS, Liu et al. 2019) a density, `set` (Set NMS, Chu et al. 2020) a proposal, `visible` (R2NMS,
 * Huang et al. 2020) the visible part of each box, `feature` (FeatureNMS, Salscheider 2020) features. Candidates that
 * lack what the rule reads, regions and objects among them, are dropped as those that cannot be read are, with a
 * warning: clustered by another rule than the one asked for, people in crowds would be lost without a word. In CUDA
 * memory, where the host does not know how many there are, that goes for none as well. A density that is NaN counts as
 * 0, features with a NaN as unlike all others; on the host both are counted (`nan-candidates`), and reported in one
 * warning from start to stop.
 *
 * ## Classes
 *
 * `class-attrs` gives classes thresholds of their own, `class-filter` says which are clustered at all; others are
 * dropped and counted as below-threshold. A class is named by its label, else by its number: `label_id` of regions, the
 * place among the labels of a #GstCrowdBoxesMeta; objects of #GstAnalyticsRelationMeta have names alone. Text that does
 * not parse is an error at the start, and while it plays a warning, with the settings before in force. Where a
 * #GstCrowdBoxesMeta has labels, a name that is none of them is warned about once.
 *
 * ## Batches
 *
 * In builds with GStreamer 1.28 or later crowdnms works between analyticscombiner and analyticssplitter as well. Each
 * frame in a #GstAnalyticsBatchMeta, in lists of buffers, too, is clustered as if its stream went through a crowdnms of
 * its own, all of a batch in one call of the library (of at most 1024 frames and 4 million candidates). Its size is
 * that in the caps of its stream. Events and streams other than raw video pass as they are; a buffer that others hold,
 * too, is copied before its metadata changes.
 *
 * `stats` counts each frame. So do messages, which have its `stream` (uint, from 0 on) and the times of that stream.
 * `nms-time` is shared out among the frames of a batch, and `backend=auto` goes by the candidates of all of them.
 * Candidates in batches are read and clustered from the host, on either backend: those in CUDA memory are copied to the
 * host first, at the price of a wait for each frame. `output-delay` holds back no batch. Memory is set aside for the
 * largest batch that came, about 100 bytes for each candidate of its largest frame, times its frames.
 *
 * ## Presets
 *
 * `crowdnms @preset=NAME` in a launch line, or gst_preset_load_preset(), sets the rule of another project with its
 * defaults: `torchvision`, `opencv`, `deepstream`, `ultralytics`, `nnstreamer` or `paper`. gst-inspect-1.0 lists them
 * with what each equals and what it does not. In a launch line GStreamer sets the preset after all properties, in
 * programs what is set last counts. Where crowdnms is installed beside GStreamer they are found; elsewhere
 * GST_PRESET_PATH names their folder.
 *
 * ## Between the detector and crowdnms, and between crowdnms and what draws
 *
 * A box is where its object is, or it is gone and a warning on the bus says so. videoconvert and videoscale keep boxes,
 * and move regions with the picture; they drop what regions say (`confidence`, `kept`) and, up to GStreamer 1.26, do
 * not know of the borders they add. Elements that copy the picture in another way (videocrop, videoflip, videobox,
 * filters) drop both, unless they pass on to metadata what they do (from GStreamer 1.28 on, whose videoflip moves
 * regions a pixel too far): put crowdnms, and what reads its survivors, on the same side of them as the detector.
 * Elements that make frames anew, such as compositor, drop everything without a warning. A crop by #GstVideoCropMeta
 * keeps boxes, and the regions that crowdnms left: coordinates are those of what is shown. Uploads to CUDA memory and
 * downloads from it keep them, too. Put crowdnms before a tee, which makes every branch copy the metadata.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=100 ! crowdinject ! crowdnms iou-threshold=0.4 post-messages=true ! \
 *   fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "nms/gstcrowdnms.h"

#include <memory>
#include <utility>
#include <variant>

#include "base/element.hpp"
#include "base/transform.hpp"
#include "cluster/settings.hpp"
#include "cluster/stream.hpp"
#include "gpu/sharedcontext.hpp"
#include "meta/batch.hpp"
#include "nms/properties.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

using crowd::NmsSettings;
using crowd::NmsStream;

namespace {

struct UnrefBuffer {
  void operator()(GstBuffer* buffer) const {
    gst_buffer_unref(buffer);
  }
};
using BufferRef = std::unique_ptr<GstBuffer, UnrefBuffer>;

/// Where the caps do not say, as GStreamer's coders have it: no latency at all would make live pipelines drop frames.
constexpr GstClockTime assumed_frame_duration = GST_SECOND / 25;

/// Lives from start to stop.
struct State {
  const bool output_delay;
  bool delayed = output_delay;  ///< batches are not
  BufferRef held{};             ///< with output-delay: a frame that has begun
};

}  // namespace

struct GstCrowdNmsImpl : crowd::ElementImpl<GstCrowdNms, NmsSettings, std::monostate, State> {
  explicit GstCrowdNmsImpl(GstBaseTransform* element) : stream(element) {}

  static const crowd::PropertyTable<NmsSettings>& properties() {
    return crowd::nms_properties();
  }
  static std::unique_ptr<State> open(GstCrowdNms* self, const NmsSettings& settings);
  static void close(GstCrowdNms* self, State& state);
  static GstStructure* stats_structure(GstCrowdNms* self);

  NmsStream stream;          // counts frames, boxes and failures for `stats`
  GstClockTime latency = 0;  // under the object lock
};

struct _GstCrowdNms {
  GstBaseTransform parent;
  GstCrowdNmsImpl* impl;
};

G_DEFINE_TYPE_WITH_CODE(GstCrowdNms, gst_crowd_nms, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, nullptr))
GST_ELEMENT_REGISTER_DEFINE(crowdnms, "crowdnms", GST_RANK_NONE, GST_TYPE_CROWD_NMS)

using Base = crowd::ElementBase<GstCrowdNms>;

static GstFlowReturn gst_crowd_nms_transform_ip(GstBaseTransform* trans, GstBuffer* buffer) {
  auto* self = GST_CROWD_NMS(trans);
  const GstFlowReturn flow = self->impl->stream.begin(buffer, Base::copy_settings(self));
  return flow == GST_FLOW_OK && !self->impl->state->delayed ? self->impl->stream.finish(buffer) : flow;
}

// Hands on the frame before in place of the one that has just begun.
static GstFlowReturn gst_crowd_nms_generate_output(GstBaseTransform* trans, GstBuffer** output) {
  auto* self = GST_CROWD_NMS(trans);
  State& state = *self->impl->state;
  const GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->generate_output(trans, output);
  if (!state.delayed || flow != GST_FLOW_OK || !*output)
    return flow;
  BufferRef before = std::exchange(state.held, BufferRef(*output));
  *output = nullptr;
  if (!before)
    return GST_FLOW_OK;
  const GstFlowReturn finished = self->impl->stream.finish(before.get());
  if (finished == GST_FLOW_OK)
    *output = before.release();
  return finished;
}

static GstFlowReturn gst_crowd_nms_push_held(GstCrowdNms* self) {
  BufferRef held = std::move(self->impl->state->held);
  if (!held)
    return GST_FLOW_OK;
  const GstFlowReturn finished = self->impl->stream.finish(held.get());
  return finished == GST_FLOW_OK ? gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), held.release()) : finished;
}

static gboolean gst_crowd_nms_sink_event(GstBaseTransform* trans, GstEvent* event) {
  auto* self = GST_CROWD_NMS(trans);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    self->impl->state->held.reset();
    self->impl->stream.drop();
  } else if (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) {
    // What comes after a frame stays after it. A flow that is not OK is returned for the next buffer, too.
    gst_crowd_nms_push_held(self);
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
      self->impl->stream.end();
  }
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->sink_event(trans, event);
}

static gboolean gst_crowd_nms_src_event(GstBaseTransform* trans, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    GST_CROWD_NMS(trans)->impl->stream.reconfigure();
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->src_event(trans, event);
}

// A frame that is held back is late by as long as the next one takes to come. Whether it is another one than before.
static bool gst_crowd_nms_set_latency(GstCrowdNms* self, GstClockTime latency) {
  GST_OBJECT_LOCK(self);
  const GstClockTime before = std::exchange(self->impl->latency, latency);
  GST_OBJECT_UNLOCK(self);
  return before != latency;
}

static void gst_crowd_nms_follow_rate(GstCrowdNms* self, const GstStructure* structure) {
  gint n = 0, d = 1;
  gst_structure_get_fraction(structure, "framerate", &n, &d);
  const GstClockTime duration = n > 0 ? gst_util_uint64_scale_int(GST_SECOND, d, n) : assumed_frame_duration;
  if (gst_crowd_nms_set_latency(self, self->impl->state->delayed ? duration : 0))
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static gboolean gst_crowd_nms_set_caps(GstBaseTransform* trans, GstCaps* incaps, GstCaps*) {
  auto* self = GST_CROWD_NMS(trans);
  self->impl->stream.set_caps(incaps);
  State& state = *self->impl->state;
  state.delayed = state.output_delay && !self->impl->stream.takes_batches();
  gst_crowd_nms_follow_rate(self, gst_caps_get_structure(incaps, 0));
  return TRUE;
}

std::unique_ptr<State> GstCrowdNmsImpl::open(GstCrowdNms* self, const NmsSettings& settings) {
  gst_crowd_nms_set_latency(self, settings.output_delay ? assumed_frame_duration : 0);
  return self->impl->stream.start(settings) ? std::make_unique<State>(State{.output_delay = settings.output_delay})
                                            : nullptr;
}

void GstCrowdNmsImpl::close(GstCrowdNms* self, State& state) {
  state.held.reset();
  self->impl->stream.stop();
}

GstStructure* GstCrowdNmsImpl::stats_structure(GstCrowdNms* self) {
  return self->impl->stream.stats(Base::copy_settings(self).params.method);
}

// In place, so the base class hands on what downstream proposes; what we read is added to it.
static gboolean gst_crowd_nms_propose_allocation(GstBaseTransform* trans, GstQuery* decide, GstQuery* query) {
  GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->propose_allocation(trans, decide, query);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  const bool in_batches = caps && crowd::meta::are_batch_caps(crowd::meta::batch_kind(), caps);
  crowd::meta::advertise_candidates(query, !in_batches && GST_CROWD_NMS(trans)->impl->stream.reads_device());
  return TRUE;
}

static void gst_crowd_nms_add_latency(GstCrowdNms* self, GstQuery* query) {
  GST_OBJECT_LOCK(self);
  const GstClockTime more = self->impl->latency;
  GST_OBJECT_UNLOCK(self);
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  gst_query_set_latency(query, live, min + more, GST_CLOCK_TIME_IS_VALID(max) ? max + more : max);
}

static gboolean gst_crowd_nms_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  auto* self = GST_CROWD_NMS(trans);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && self->impl->stream.answer(query))
    return TRUE;
  const gboolean answered = GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->query(trans, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    gst_crowd_nms_add_latency(self, query);
  return answered || crowd::answer_with_context(GST_ELEMENT(trans), query, Base::copy_settings(self).cuda_device_id);
}

static void gst_crowd_nms_set_context(GstElement* element, GstContext* context) {
  auto* self = GST_CROWD_NMS(element);
  self->impl->stream.set_context(context, Base::copy_settings(self).cuda_device_id);
  GST_ELEMENT_CLASS(gst_crowd_nms_parent_class)->set_context(element, context);
}

static void gst_crowd_nms_class_init(GstCrowdNmsClass* klass) {
  GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, "clustering of detections");
  Base::class_init(
      klass, {.name = "Non-maximum suppression of detections",
              .classification = "Filter/Analyzer/Video",
              .description = "Clusters overlapping candidate boxes and leaves one box per object",
              .stats = "Since the start: frames, frames-on-gpu, candidates, survivors, suppressed, invalid, "
                       "below-threshold, overflow (candidates beyond max-candidates), clipped (survivors beyond "
                       "max-detections), failures (frames whose candidates were lost on the way or could not be "
                       "read), nan-candidates (whose density or features are NaN); nms-time, of frames with candidates "
                       "in system memory; device-frames, with candidates "
                       "in CUDA memory, device-frames-timed of them, and device-time, of the timed ones; times in "
                       "nanoseconds; last-* for the last frame; the backend it used (none, cpu, cuda) and the method"});
  const crowd::meta::BatchKind* batches = crowd::meta::batch_kind();
  crowd::add_any_video_templates(klass, batches ? batches->caps : nullptr);

  GST_ELEMENT_CLASS(klass)->set_context = gst_crowd_nms_set_context;
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  trans_class->transform_ip = gst_crowd_nms_transform_ip;
  trans_class->generate_output = gst_crowd_nms_generate_output;
  trans_class->sink_event = gst_crowd_nms_sink_event;
  trans_class->src_event = gst_crowd_nms_src_event;
  trans_class->set_caps = gst_crowd_nms_set_caps;
  trans_class->propose_allocation = gst_crowd_nms_propose_allocation;
  trans_class->query = gst_crowd_nms_query;
}

static void gst_crowd_nms_init(GstCrowdNms* self) {
  Base::init(self);
}
