// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowdoverlay
 * @title: crowdoverlay
 *
 * Draws the detections of a frame into the frame: an outline around each box and a label with the class and the score
 * in percent, on request with the number of candidates that the box represents. A score outside 0..1 is no probability
 * and is written as it is.
 *
 * #crowdoverlay:show chooses what is drawn. *Survivors* are #GstVideoRegionOfInterestMeta, from crowdnms or any other
 * detector, or without one the objects of a #GstAnalyticsRelationMeta (in builds with gstreamer-analytics), or the
 * boxes of a #GstCrowdBoxesMeta of survivors: outline and label. *Candidates* are the boxes of a #GstCrowdBoxesMeta or,
 * without one, the regions that crowdnms mode=annotate marks as not kept, or the objects that are part of another one
 * of their class: thin outlines without labels, below the survivors.
 *
 * Labels do not cover each other. In the order of rank, each takes the first of these places that no label has taken:
 * above its box, inside the top, below the box, inside the bottom, each from the left edge and then from the right one.
 * A label that finds none is left out, and so are those of all but the 512 best-ranked survivors of a frame; their
 * outlines stay.
 *
 * Only the pixels of outlines and labels are written, in place; a frame without detections is not even mapped. Outlines
 * lie inside their boxes. In formats with subsampled chroma, a chroma sample takes the colour as soon as one of its
 * pixels belongs to the outline.
 *
 * Names of classes are UTF-8. The font has ASCII, the letters of Latin-1 and Latin Extended-A, modern Greek, and
 * Cyrillic from U+0400 to U+045F with U+0490 and U+0491. An empty rectangle is drawn for any other character, a
 * combining one too, and for bytes that are no UTF-8. A name ends after 256 characters.
 *
 * #crowdoverlay:color and #crowdoverlay:candidate-color take names and numbers as people write them: `red`, `#f00`,
 * `#ff0000`, `0xff0000`, or `class` for a colour for each class. A text that cannot be read is answered with a warning
 * on the bus, and the colour stays as it was.
 *
 * Frames in CUDA memory (NV12, RGBA) are drawn on there, by two kernels that the host does not wait for, but where the
 * name of a class is new; the picture is the same. Boxes in CUDA memory are read there; `stats` then does not count
 * them, crowdnms does.
 *
 * Frames of a format that the element does not take end the stream with an error that names the element to put before
 * it, say videoconvert.
 *
 * Of a frame with a #GstVideoCropMeta the part that is shown is drawn on; where it is NV12 in CUDA memory, the part has
 * to begin at an even column and row.
 *
 * A frame that cannot be drawn on, or whose boxes were lost on the way, are of another frame or cannot be read, goes on
 * without them: it is counted in `failures` of
 * #crowdoverlay:stats, and the first one from start to stop is reported in a warning on the bus.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc ! video/x-raw,width=1280,height=720 ! crowdinject ! crowdnms ! \
 *   crowdoverlay draw-summary=true ! videoconvert ! autovideosink
 * ]|
 */

#include "overlay/gstcrowdoverlay.h"

#include <gst/video/video.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/element.hpp"
#include "base/mappedframe.hpp"
#include "base/negotiation.hpp"
#include "base/shownpart.hpp"
#include "base/transform.hpp"
#include "gpu/device.hpp"
#include "gpu/parts.hpp"
#include "overlay/draw/composer.hpp"
#include "overlay/draw/detections.hpp"
#include "overlay/draw/device_overlay.hpp"
#include "overlay/draw/frame.hpp"
#include "overlay/gstcrowdoverlaysettings.hpp"

GST_DEBUG_CATEGORY_STATIC(crowd_overlay_debug);
#define GST_CAT_DEFAULT crowd_overlay_debug

using crowd::DeviceOutcome;
using crowd::overlay::LiveSettings;
using crowd::overlay::Settings;
using crowd::overlay::Show;

namespace {

struct Stats {
  guint64 frames = 0;
  guint64 survivors = 0;
  guint64 candidates = 0;
  guint64 failures = 0;

  GstStructure* structure() const {
    return gst_structure_new("crowdoverlay-stats", "frames", G_TYPE_UINT64, frames, "survivors", G_TYPE_UINT64,
                             survivors, "candidates", G_TYPE_UINT64, candidates, "failures", G_TYPE_UINT64, failures,
                             nullptr);
  }
};

/** Lives from start to stop. */
struct State {
  GstVideoInfo info{};
  bool on_device = false;  ///< frames are in CUDA memory
  GstCrowdBoxesBorders borders = GST_CROWD_BOXES_BORDERS_UNKNOWN;
  crowd::draw::Detections detections;
  crowd::draw::Composer composer;
  std::unique_ptr<crowd::draw::DeviceOverlay> device_overlay = crowd::make_device_part<crowd::draw::DeviceOverlay>();
  std::string problem;  ///< with the last frame that was not drawn as it should be
  crowd::RunWarning warning;
};

}  // namespace

struct GstCrowdOverlayImpl : crowd::ElementImpl<GstCrowdOverlay, Settings, Stats, State> {
  static const crowd::PropertyTable<Settings>& properties() {
    return crowd::overlay::properties();
  }
  static std::unique_ptr<State> open(GstCrowdOverlay* self, const Settings& settings);
};

struct _GstCrowdOverlay {
  GstBaseTransform parent;
  GstCrowdOverlayImpl* impl;
};

G_DEFINE_FINAL_TYPE(GstCrowdOverlay, gst_crowd_overlay, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowdoverlay, "crowdoverlay", GST_RANK_NONE, GST_TYPE_CROWD_OVERLAY)

using Base = crowd::ElementBase<GstCrowdOverlay>;

/** Posts what is wrong with the settings, where the application gets it: not in NULL, when buses are closed. */
static void gst_crowd_overlay_warn_of_settings(GstCrowdOverlay* self) {
  GST_OBJECT_LOCK(self);
  const std::string problem = crowd::overlay::take_problem(self->impl->settings);
  GST_OBJECT_UNLOCK(self);
  if (!problem.empty())
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", problem.c_str()), (nullptr));
}

std::unique_ptr<State> GstCrowdOverlayImpl::open(GstCrowdOverlay* self, const Settings&) {
  gst_crowd_overlay_warn_of_settings(self);
  return std::make_unique<State>();
}

static gboolean gst_crowd_overlay_set_caps(GstBaseTransform* transform, GstCaps* caps, GstCaps*) {
  State& state = *GST_CROWD_OVERLAY(transform)->impl->state;
  state.on_device = crowd::is_on_device(caps);
  state.borders = gst_crowd_boxes_borders_before(transform->sinkpad);
  return gst_video_info_from_caps(&state.info, caps);
}

// In place, so the base class hands on what downstream proposes; what is read from device memory is added to it.
static gboolean gst_crowd_overlay_propose_allocation(GstBaseTransform* transform, GstQuery* decide, GstQuery* query) {
  GST_BASE_TRANSFORM_CLASS(gst_crowd_overlay_parent_class)->propose_allocation(transform, decide, query);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps && crowd::is_on_device(caps))
    crowd::meta::advertise_boxes(query, {crowd::meta::candidates_on_device, crowd::meta::survivors_on_device});
  return TRUE;
}

/** Reads what to draw on the frame. */
static void gst_crowd_overlay_read(State& state, GstBuffer* buffer, const LiveSettings& settings) {
  auto& detections = state.detections;
  const GstVideoInfo& info = state.info;
  detections.read(buffer, {guint(info.width), guint(info.height), info.par_n, info.par_d, state.borders},
                  state.on_device, settings.show != Show::survivors);
  if (settings.show == Show::survivors) {
    detections.candidates.clear();
    detections.device_candidates = nullptr;
  }
  if (settings.show == Show::candidates) {
    detections.survivors.clear();
    detections.device_survivors = nullptr;
    detections.summary.survivors.reset();
  }
}

/** Says what to draw on the frame. */
static std::span<const crowd::draw::Primitive> gst_crowd_overlay_compose(State& state, const LiveSettings& settings) {
  return state.composer.build(GST_VIDEO_INFO_WIDTH(&state.info), GST_VIDEO_INFO_HEIGHT(&state.info), settings.style,
                              state.detections.candidates, state.detections.survivors, state.detections.summary);
}

/** Returns why not, or null. */
static const char* gst_crowd_overlay_paint(State& state, GstBuffer* buffer,
                                           std::span<const crowd::draw::Primitive> primitives) {
  // The frame's own reference would make the buffer, and with it the memory, read-only.
  const crowd::MappedFrame frame(buffer, state.info, int{GST_MAP_READWRITE} | int{GST_VIDEO_FRAME_MAP_FLAG_NO_REF});
  if (!frame) {
    state.problem = crowd::mapping_problem(buffer, state.info);
    return state.problem.c_str();
  }
  const auto part = crowd::shown_part(*frame, state.info);
  if (!part)
    return crowd::part_is_missing;
  crowd::draw::paint(crowd::draw::canvas_of(*frame, *part), primitives);
  return nullptr;
}

/** Returns what is missing in the picture and why, or null. Composing keeps its memory; painting takes none. */
static const char* gst_crowd_overlay_draw(State& state, GstBuffer* buffer, const LiveSettings& settings,
                                          DeviceOutcome& outcome) {
  try {
    gst_crowd_overlay_read(state, buffer, settings);
    const char* failure = nullptr;
    if (state.on_device) {
      crowd::DeviceReport report = state.device_overlay->draw(buffer, state.info, settings.style, state.detections);
      outcome = report.outcome;
      state.problem = std::move(report.problem);
      failure = outcome == DeviceOutcome::done ? nullptr : state.problem.c_str();
    } else if (const auto primitives = gst_crowd_overlay_compose(state, settings); !primitives.empty()) {
      failure = gst_crowd_overlay_paint(state, buffer, primitives);
    }
    return failure ? failure : state.detections.problem;
  } catch (const std::bad_alloc&) {
    state.detections = {};
    state.composer = {};
    return "there is no memory for so many boxes; set show=survivors, or lower the detector's capacity";
  }
}

static void gst_crowd_overlay_count(GstCrowdOverlay* self, const State& state, bool failure) {
  GST_OBJECT_LOCK(self);
  Stats& stats = self->impl->stats;
  stats.frames++;
  stats.survivors += state.detections.survivors.size();
  stats.candidates += state.detections.candidates.size();
  stats.failures += failure ? 1 : 0;
  GST_OBJECT_UNLOCK(self);
}

static GstFlowReturn gst_crowd_overlay_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  auto* self = GST_CROWD_OVERLAY(transform);
  State& state = *self->impl->state;
  GST_OBJECT_LOCK(self);
  const LiveSettings settings = self->impl->settings.live;
  GST_OBJECT_UNLOCK(self);
  DeviceOutcome outcome = DeviceOutcome::done;
  const char* problem = gst_crowd_overlay_draw(state, buffer, settings, outcome);
  gst_crowd_overlay_count(self, state, problem != nullptr);
  if (crowd::is_fatal(outcome))
    return crowd::fail_for_gpu(transform, outcome, problem);
  if (problem)
    state.warning.post(
        self, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "A frame is not drawn as it should be: %s. Further ones are only counted, see failures in stats.", problem);
  return GST_FLOW_OK;
}

static void gst_crowd_overlay_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = GST_CROWD_OVERLAY(object);
  Base::set_property(object, id, value, spec);
  GST_OBJECT_LOCK(self);
  const bool is_open = GST_STATE(self) > GST_STATE_NULL;
  GST_OBJECT_UNLOCK(self);
  if (is_open)
    gst_crowd_overlay_warn_of_settings(self);
}

static void gst_crowd_overlay_class_init(GstCrowdOverlayClass* klass) {
  GST_DEBUG_CATEGORY_INIT(crowd_overlay_debug, "crowdoverlay", 0, "draws detections");
  Base::class_init(
      klass,
      {.name = "Crowd overlay",
       .classification = "Analyzer/Visualization/Video",
       .description = "Draws boxes, classes, scores and counts of detections",
       .stats =
           "Since the start, all uint64: frames, survivors and candidates drawn (but those in device memory), failures "
           "(frames that could not be drawn on, or whose boxes were lost on the way or could not be read)"});
  crowd::add_video_templates(GST_ELEMENT_CLASS(klass), GST_VIDEO_CAPS_MAKE(CROWD_DRAW_FORMATS));

  G_OBJECT_CLASS(klass)->set_property = gst_crowd_overlay_set_property;
  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->propose_allocation = gst_crowd_overlay_propose_allocation;
  transform_class->set_caps = gst_crowd_overlay_set_caps;
  transform_class->transform_ip = gst_crowd_overlay_transform_ip;
}

static void gst_crowd_overlay_init(GstCrowdOverlay* self) {
  Base::init(self);
}
