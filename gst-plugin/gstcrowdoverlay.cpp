// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowdoverlay
 * @title: crowdoverlay
 *
 * Draws the detections of a frame into the frame: an outline around each box and above it the class, the score and the
 * number of candidates it stands for.
 *
 * #crowdoverlay:show chooses what is drawn. *Survivors* are #GstVideoRegionOfInterestMeta, from crowdnms or any other
 * detector, or the boxes of a #GstCrowdBoxesMeta of survivors: outline and label. *Candidates* are the boxes of a
 * #GstCrowdBoxesMeta or, without one, the regions that crowdnms mode=annotate marks as not kept: thin outlines without
 * labels, below the survivors.
 *
 * Only the pixels of outlines and labels are written, in place; a frame without detections is not even mapped. Outlines
 * lie inside their boxes. In formats with subsampled chroma, a chroma sample takes the colour as soon as one of its
 * pixels belongs to the outline. Text is drawn in ASCII; other characters show as an empty rectangle.
 *
 * Frames in CUDA memory (NV12, RGBA) are drawn on there, by one kernel that nobody waits for, but where the name of a
 * class is new; the picture is the same. Boxes in CUDA memory are read there; `stats` then does not count them,
 * crowdnms does.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc ! video/x-raw,width=1280,height=720 ! crowdinject ! crowdnms ! \
 *   crowdoverlay draw-summary=true ! videoconvert ! autovideosink
 * ]|
 */

#include "gstcrowdoverlay.h"

#include <gst/video/video.h>

#include <memory>
#include <new>
#include <utility>

#include "device.hpp"
#include "draw/detections.hpp"
#include "draw/device_overlay.hpp"
#include "draw/frame.hpp"
#include "draw/scene.hpp"
#include "mappedframe.hpp"
#include "meta/negotiation.hpp"
#include "transform.hpp"

GST_DEBUG_CATEGORY_STATIC(crowd_overlay_debug);
#define GST_CAT_DEFAULT crowd_overlay_debug

using crowd::DeviceOutcome;

namespace {

enum Show { SHOW_SURVIVORS, SHOW_CANDIDATES, SHOW_BOTH };

enum {
  PROP_0,
  PROP_SHOW,
  PROP_COLOR,
  PROP_CANDIDATE_COLOR,
  PROP_THICKNESS,
  PROP_CANDIDATE_THICKNESS,
  PROP_FONT_SCALE,
  PROP_DRAW_LABELS,
  PROP_DRAW_SCORES,
  PROP_DRAW_COUNTS,
  PROP_DRAW_SUMMARY,
  PROP_STATS,
};

struct Settings {
  Show show = SHOW_SURVIVORS;
  crowd::draw::Style style;
};

struct Stats {
  guint64 frames = 0;
  guint64 survivors = 0;
  guint64 candidates = 0;
  guint64 failures = 0;
};

/** Lives from start to stop. */
struct State {
  GstVideoInfo info{};
  bool on_device = false;  ///< frames are in CUDA memory
  crowd::draw::Detections detections;
  crowd::draw::Scene scene;
  crowd::draw::DeviceOverlay device_overlay;
  bool warned = false;
};

}  // namespace

struct GstCrowdOverlayImpl {
  Settings settings;
  Stats stats;
  std::unique_ptr<State> state;
};

struct _GstCrowdOverlay {
  GstBaseTransform parent;
  GstCrowdOverlayImpl* impl;
};

G_DEFINE_FINAL_TYPE(GstCrowdOverlay, gst_crowd_overlay, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowdoverlay, "crowdoverlay", GST_RANK_NONE, GST_TYPE_CROWD_OVERLAY)

static GType gst_crowd_overlay_show_get_type() {
  static const GEnumValue values[] = {
      {SHOW_SURVIVORS, "Regions of interest, with labels", "survivors"},
      {SHOW_CANDIDATES, "Candidates: every raw box, thin and without labels", "candidates"},
      {SHOW_BOTH, "Candidates below survivors", "both"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstCrowdOverlayShow", values);
  return type;
}

static gboolean gst_crowd_overlay_start(GstBaseTransform* transform) {
  auto* self = GST_CROWD_OVERLAY(transform);
  GST_OBJECT_LOCK(self);
  self->impl->stats = {};
  GST_OBJECT_UNLOCK(self);
  self->impl->state = std::make_unique<State>();
  return TRUE;
}

static gboolean gst_crowd_overlay_stop(GstBaseTransform* transform) {
  GST_CROWD_OVERLAY(transform)->impl->state.reset();
  return TRUE;
}

static gboolean gst_crowd_overlay_set_caps(GstBaseTransform* transform, GstCaps* caps, GstCaps*) {
  State& state = *GST_CROWD_OVERLAY(transform)->impl->state;
  state.on_device = crowd::is_on_device(caps);
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
static void gst_crowd_overlay_read(State& state, GstBuffer* buffer, const Settings& settings) {
  auto& detections = state.detections;
  detections.read(buffer, GST_VIDEO_INFO_WIDTH(&state.info), GST_VIDEO_INFO_HEIGHT(&state.info), state.on_device);
  if (settings.show == SHOW_SURVIVORS) {
    detections.candidates.clear();
    detections.device_candidates = nullptr;
  }
  if (settings.show == SHOW_CANDIDATES) {
    detections.survivors.clear();
    detections.device_survivors = nullptr;
    detections.summary.survivors.reset();
  }
}

/** Says what to draw on the frame. */
static std::span<const crowd::draw::Primitive> gst_crowd_overlay_compose(State& state, const Settings& settings) {
  return state.scene.build(GST_VIDEO_INFO_WIDTH(&state.info), GST_VIDEO_INFO_HEIGHT(&state.info), settings.style,
                           state.detections.candidates, state.detections.survivors, state.detections.summary);
}

/** Returns why not, or null. */
static const char* gst_crowd_overlay_paint(const State& state, GstBuffer* buffer,
                                           std::span<const crowd::draw::Primitive> primitives) {
  // The frame's own reference would make the buffer, and with it the memory, read-only.
  const crowd::MappedFrame frame(buffer, state.info, int{GST_MAP_READWRITE} | int{GST_VIDEO_FRAME_MAP_FLAG_NO_REF});
  if (!frame)
    return "the frame cannot be mapped for writing";
  crowd::draw::paint(crowd::draw::canvas_of(*frame), primitives);
  return nullptr;
}

/** Returns what is missing in the picture and why, or null. Composing keeps its memory; painting takes none. */
static const char* gst_crowd_overlay_draw(State& state, GstBuffer* buffer, const Settings& settings,
                                          DeviceOutcome& outcome) {
  try {
    gst_crowd_overlay_read(state, buffer, settings);
    const char* failure = nullptr;
    if (state.on_device) {
      outcome = state.device_overlay.draw(buffer, state.info, settings.style, state.detections);
      failure = outcome == DeviceOutcome::done ? nullptr : state.device_overlay.problem();
    } else if (const auto primitives = gst_crowd_overlay_compose(state, settings); !primitives.empty()) {
      failure = gst_crowd_overlay_paint(state, buffer, primitives);
    }
    return failure ? failure : state.detections.problem;
  } catch (const std::bad_alloc&) {
    state.detections = {};
    state.scene = {};
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
  const Settings settings = self->impl->settings;
  GST_OBJECT_UNLOCK(self);
  DeviceOutcome outcome = DeviceOutcome::done;
  const char* problem = gst_crowd_overlay_draw(state, buffer, settings, outcome);
  gst_crowd_overlay_count(self, state, problem != nullptr);
  if (crowd::is_fatal(outcome))
    return crowd::fail_for_gpu(transform, outcome, problem);
  if (problem && !std::exchange(state.warned, true))
    GST_WARNING_OBJECT(self, "a frame is not drawn as it should, see failures in stats: %s", problem);
  return GST_FLOW_OK;
}

static GstStructure* gst_crowd_overlay_make_stats(const Stats& stats) {
  return gst_structure_new("crowdoverlay-stats", "frames", G_TYPE_UINT64, stats.frames, "survivors", G_TYPE_UINT64,
                           stats.survivors, "candidates", G_TYPE_UINT64, stats.candidates, "failures", G_TYPE_UINT64,
                           stats.failures, nullptr);
}

static void gst_crowd_overlay_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = GST_CROWD_OVERLAY(object);
  Settings& settings = self->impl->settings;
  crowd::draw::Style& style = settings.style;
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROP_SHOW:
      settings.show = static_cast<Show>(g_value_get_enum(value));
      break;
    case PROP_COLOR:
      style.color = g_value_get_uint(value);
      break;
    case PROP_CANDIDATE_COLOR:
      style.candidate_color = g_value_get_uint(value);
      break;
    case PROP_THICKNESS:
      style.thickness = g_value_get_int(value);
      break;
    case PROP_CANDIDATE_THICKNESS:
      style.candidate_thickness = g_value_get_int(value);
      break;
    case PROP_FONT_SCALE:
      style.font_scale = g_value_get_int(value);
      break;
    case PROP_DRAW_LABELS:
      style.labels = g_value_get_boolean(value);
      break;
    case PROP_DRAW_SCORES:
      style.scores = g_value_get_boolean(value);
      break;
    case PROP_DRAW_COUNTS:
      style.counts = g_value_get_boolean(value);
      break;
    case PROP_DRAW_SUMMARY:
      style.summary = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_crowd_overlay_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = GST_CROWD_OVERLAY(object);
  const Settings& settings = self->impl->settings;
  const crowd::draw::Style& style = settings.style;
  GST_OBJECT_LOCK(self);
  switch (id) {
    case PROP_SHOW:
      g_value_set_enum(value, settings.show);
      break;
    case PROP_COLOR:
      g_value_set_uint(value, style.color);
      break;
    case PROP_CANDIDATE_COLOR:
      g_value_set_uint(value, style.candidate_color);
      break;
    case PROP_THICKNESS:
      g_value_set_int(value, style.thickness);
      break;
    case PROP_CANDIDATE_THICKNESS:
      g_value_set_int(value, style.candidate_thickness);
      break;
    case PROP_FONT_SCALE:
      g_value_set_int(value, style.font_scale);
      break;
    case PROP_DRAW_LABELS:
      g_value_set_boolean(value, style.labels);
      break;
    case PROP_DRAW_SCORES:
      g_value_set_boolean(value, style.scores);
      break;
    case PROP_DRAW_COUNTS:
      g_value_set_boolean(value, style.counts);
      break;
    case PROP_DRAW_SUMMARY:
      g_value_set_boolean(value, style.summary);
      break;
    case PROP_STATS:
      g_value_take_boxed(value, gst_crowd_overlay_make_stats(self->impl->stats));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_crowd_overlay_finalize(GObject* object) {
  delete GST_CROWD_OVERLAY(object)->impl;
  G_OBJECT_CLASS(gst_crowd_overlay_parent_class)->finalize(object);
}

constexpr auto live_property = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                        GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);

static void gst_crowd_overlay_install_outlines(GObjectClass* object_class) {
  const Settings defaults;
  const crowd::draw::Style& style = defaults.style;
  g_object_class_install_property(object_class, PROP_SHOW,
                                  g_param_spec_enum("show", "What to show", "Which boxes are drawn",
                                                    gst_crowd_overlay_show_get_type(), defaults.show, live_property));
  g_object_class_install_property(
      object_class, PROP_COLOR,
      g_param_spec_uint("color", "Color of survivors",
                        "0xAARRGGBB of outline and label, opaque whatever AA is; AA = 0: a color for each class", 0,
                        G_MAXUINT32, style.color, live_property));
  g_object_class_install_property(
      object_class, PROP_CANDIDATE_COLOR,
      g_param_spec_uint("candidate-color", "Color of candidates",
                        "0xAARRGGBB of outlines, opaque whatever AA is; AA = 0: a color for each class", 0, G_MAXUINT32,
                        style.candidate_color, live_property));
  g_object_class_install_property(object_class, PROP_THICKNESS,
                                  g_param_spec_int("thickness", "Thickness of survivors",
                                                   "Width of outlines in pixels; 0: a 360th of the frame's height", 0,
                                                   64, style.thickness, live_property));
  g_object_class_install_property(
      object_class, PROP_CANDIDATE_THICKNESS,
      g_param_spec_int("candidate-thickness", "Thickness of candidates", "Width of outlines in pixels", 1, 64,
                       style.candidate_thickness, live_property));
  g_object_class_install_property(
      object_class, PROP_STATS,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Since the start: frames, survivors and candidates drawn (but those in device memory), failures "
          "(frames that could not be drawn on, or whose candidates could not be read)",
          GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_crowd_overlay_install_text(GObjectClass* object_class) {
  const crowd::draw::Style style;
  g_object_class_install_property(
      object_class, PROP_FONT_SCALE,
      g_param_spec_int("font-scale", "Size of text",
                       "Pixels per dot of the font, whose letters are 7 dots high; 0: a 540th of the frame's height", 0,
                       32, style.font_scale, live_property));
  g_object_class_install_property(object_class, PROP_DRAW_LABELS,
                                  g_param_spec_boolean("draw-labels", "Draw class names",
                                                       "Write the class of survivors", style.labels, live_property));
  g_object_class_install_property(
      object_class, PROP_DRAW_SCORES,
      g_param_spec_boolean("draw-scores", "Draw scores", "Write the score of survivors", style.scores, live_property));
  g_object_class_install_property(
      object_class, PROP_DRAW_COUNTS,
      g_param_spec_boolean("draw-counts", "Draw counts",
                           "Write the number of candidates that each survivor stands for, itself included",
                           style.counts, live_property));
  g_object_class_install_property(
      object_class, PROP_DRAW_SUMMARY,
      g_param_spec_boolean("draw-summary", "Draw summary",
                           "Write the numbers of candidates and survivors into the top left corner", style.summary,
                           live_property));
}

static void gst_crowd_overlay_add_templates(GstElementClass* element_class) {
  GstCaps* caps = gst_caps_from_string(GST_VIDEO_CAPS_MAKE(CROWD_DRAW_FORMATS));
  if (crowd::draw::DeviceOverlay::is_available())
    gst_caps_append(caps, crowd::device_caps());
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

static void gst_crowd_overlay_class_init(GstCrowdOverlayClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(crowd_overlay_debug, "crowdoverlay", 0, "draws detections");

  object_class->set_property = gst_crowd_overlay_set_property;
  object_class->get_property = gst_crowd_overlay_get_property;
  object_class->finalize = gst_crowd_overlay_finalize;
  gst_crowd_overlay_install_outlines(object_class);
  gst_crowd_overlay_install_text(object_class);

  gst_element_class_set_static_metadata(element_class, "Crowd overlay", "Analyzer/Visualization/Video",
                                        "Draws boxes, classes, scores and counts of detections", "gst-crowd authors");
  gst_crowd_overlay_add_templates(element_class);
  gst_type_mark_as_plugin_api(gst_crowd_overlay_show_get_type(), static_cast<GstPluginAPIFlags>(0));

  transform_class->propose_allocation = gst_crowd_overlay_propose_allocation;
  transform_class->start = gst_crowd_overlay_start;
  transform_class->stop = gst_crowd_overlay_stop;
  transform_class->set_caps = gst_crowd_overlay_set_caps;
  transform_class->before_transform = crowd::sync_controlled_properties;
  transform_class->transform_ip = gst_crowd_overlay_transform_ip;
  transform_class->passthrough_on_same_caps = FALSE;
}

static void gst_crowd_overlay_init(GstCrowdOverlay* self) {
  self->impl = new GstCrowdOverlayImpl;
}
