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
 * Candidates come as #GstCrowdBoxesMeta (crowddetect, crowdinject) or as #GstVideoRegionOfInterestMeta with a detection
 * (DL Streamer and others); `meta-source` chooses. Metadata that is not a detection is left untouched.
 *
 * Survivors leave as #GstVideoRegionOfInterestMeta. Its structure "detection" holds `label_id` (int), `confidence`
 * (double) and `x_min`, `x_max`, `y_min`, `y_max` (double, fractions of the frame, not clipped to it); its structure
 * "nms" holds `cluster-id` (int: rank of the cluster's survivor, -1 for none), `members` (uint: candidates that the
 * survivor stands for, itself included), `suppressed` (uint: the others of them), `score` (double) and `kept`
 * (boolean). In `mode=replace` the candidates are gone afterwards: a #GstCrowdBoxesMeta is removed, also a broken one,
 * and new regions are added in rank order; of regions that were candidates the survivors stay, with everything attached
 * to them, and children of suppressed ones go to the survivor that stands for their parent. In `mode=annotate`
 * candidates stay, and every valid one has a region that says whether it is `kept`.
 *
 * Nothing is lost silently: `stats` counts candidates, survivors, suppressed ones, invalid boxes, those below
 * `score-threshold`, those beyond `max-candidates` and metadata that cannot be read. Such a frame goes on without it.
 * A frame without metadata is a frame without candidates.
 *
 * Properties that do not go together (say `method=paper` with a `paper-k` that does not divide `paper-d-max`) are an
 * error when the element starts. While it plays it posts one warning and clusters as before until they fit.
 *
 * Regions are lost by converters and scalers: put crowdnms behind them, and before a tee, which makes every branch copy
 * the metadata.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=100 ! crowdinject ! crowdnms iou-threshold=0.4 post-messages=true ! \
 *   fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "gstcrowdnms.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"
#include "meta/adapter.hpp"
#include "nmsengine.hpp"
#include "nmssettings.hpp"
#include "nmsstats.hpp"
#include "transform.hpp"

GST_DEBUG_CATEGORY_STATIC(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

namespace {

using namespace crowd;

/// From start() to stop(), used by the streaming thread alone.
struct State {
  BackendChoice backend = BackendChoice::cpu;
  meta::FrameSize frame_size;
  std::vector<std::unique_ptr<meta::Adapter>> adapters;
  NmsEngine::Config config{};  // what the engine was last prepared for
  bool warned_settings = false;
  bool warned_refused = false;
  bool warned_broken = false;
  bool warned_overflow = false;
  bool warned_size = false;
};

}  // namespace

struct GstCrowdNmsPrivate {
  NmsSettings settings;  // under the object lock, like stats
  NmsStats stats;
  CudaDevice device;
  NmsEngine engine{device};
  State state;
};

struct _GstCrowdNms {
  GstBaseTransform parent;
  GstCrowdNmsPrivate* p;
};

G_DEFINE_TYPE(GstCrowdNms, gst_crowd_nms, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowdnms, "crowdnms", GST_RANK_NONE, GST_TYPE_CROWD_NMS)

namespace {

guint prop_stats;

NmsSettings copy_settings(GstCrowdNms* self) {
  GST_OBJECT_LOCK(self);
  const NmsSettings settings = self->p->settings;
  GST_OBJECT_UNLOCK(self);
  return settings;
}

GstStructure* stats_structure(GstCrowdNms* self) {
  GST_OBJECT_LOCK(self);
  const NmsStats stats = self->p->stats;
  const CrowdNmsMethod method = self->p->settings.params.method;
  GST_OBJECT_UNLOCK(self);
  return stats.structure(method);
}

void count_frame(GstCrowdNms* self, const NmsEngine::Result* result, bool broken) {
  GST_OBJECT_LOCK(self);
  self->p->stats.count(result, broken, self->p->state.config.params.method);
  GST_OBJECT_UNLOCK(self);
}

void post_frame_message(GstCrowdNms* self, GstBuffer* buffer) {
  // Read without the lock: written by this thread only.
  GstStructure* message = self->p->stats.message(GST_BASE_TRANSFORM(self)->segment, buffer);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), message));
}

// The matrix of the paper belongs to the element's capacity, not to the number of candidates of a frame.
NmsEngine::Config engine_config(const NmsSettings& settings, BackendChoice backend) {
  NmsEngine::Config config = {backend, settings.params, settings.max_candidates};
  const std::uint32_t k = config.params.paper_k;
  if (!config.params.paper_d_max)
    config.params.paper_d_max = (config.capacity + k - 1) / k * k;
  if (config.params.method != CROWD_NMS_PAPER)
    config.params.paper_d_max = 0;
  return config;
}

bool prepare_engine(GstCrowdNms* self, const NmsEngine::Config& config) {
  NmsEngine& engine = self->p->engine;
  const CrowdNmsStatus status = engine.prepare(config);
  switch (status) {
    case CROWD_NMS_OK:
      self->p->state.config = config;
      return true;
    case CROWD_NMS_NO_GPU:
      GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", engine.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_OUT_OF_MEMORY:
      GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                        ("Not enough memory (%s). Lower max-candidates.", engine.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_CUDA_ERROR:
      GST_ELEMENT_ERROR(self, RESOURCE, FAILED,
                        ("CUDA failed (%s). Set backend=auto or backend=cpu.", engine.problem().c_str()), (NULL));
      break;
    default:
      GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("These properties do not go together: %s.", engine.problem().c_str()),
                        (NULL));
  }
  return false;
}

// An application sets properties one by one, so on the way from one good state to the next they may not fit.
void follow_settings(GstCrowdNms* self, const NmsSettings& settings) {
  State& state = self->p->state;
  const NmsEngine::Config config = engine_config(settings, state.backend);
  if (self->p->engine.prepare(config) == CROWD_NMS_OK) {
    state.config = config;
    state.warned_settings = false;
  } else if (!std::exchange(state.warned_settings, true)) {
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("These properties do not go together: %s. The previous settings stay in force until they fit.",
                         self->p->engine.problem().c_str()),
                        (NULL));
  }
}

void warn_broken(GstCrowdNms* self, const char* problem) {
  bool& warned = self->p->state.warned_broken;
  if (!std::exchange(warned, true))
    GST_WARNING_OBJECT(self,
                       "broken candidates are dropped, the frame goes on: %s (further ones are only counted, see "
                       "stats.broken-metas)",
                       problem);
}

void warn_overflow(GstCrowdNms* self, const CrowdNmsReport& report) {
  bool& warned = self->p->state.warned_overflow;
  if (report.overflow && !std::exchange(warned, true))
    GST_WARNING_OBJECT(self,
                       "only %u of %u candidates are looked at: raise max-candidates or the detector's capacity "
                       "(further ones are only counted, see stats.overflow)",
                       report.candidates - report.overflow, report.candidates);
}

void warn_gpu(GstCrowdNms* self, NmsEngine::GpuOutcome outcome) {
  const char* problem = self->p->engine.problem().c_str();
  if (outcome == NmsEngine::GpuOutcome::lost)
    GST_ELEMENT_WARNING(self, RESOURCE, FAILED, ("The GPU failed; clustering goes on on the CPU."), ("%s", problem));
  else if (outcome == NmsEngine::GpuOutcome::refused && !std::exchange(self->p->state.warned_refused, true))
    GST_WARNING_OBJECT(self, "the GPU refuses a frame, which is clustered on the CPU: %s (further ones are not told)",
                       problem);
}

void warn_unknown_size(GstCrowdNms* self) {
  bool& warned = self->p->state.warned_size;
  if (!std::exchange(warned, true))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The caps have no width and height, so boxes are neither clipped nor scaled to the frame. Put "
                         "a capsfilter with both before crowdnms."),
                        (NULL));
}

/// Where this frame's candidates are: a row of adapter_rows(), -1 if there are none.
int find_source(const State& state, const NmsSettings& settings, GstBuffer* buffer) {
  const int rows = static_cast<int>(state.adapters.size());
  const int first = settings.source_row < 0 ? 0 : settings.source_row;
  const int last = settings.source_row < 0 ? rows : settings.source_row + 1;
  for (int row = first; row < last; row++) {
    if (state.adapters[static_cast<std::size_t>(row)]->probe(buffer))
      return row;
  }
  return -1;
}

GstFlowReturn cluster(GstCrowdNms* self, GstBuffer* buffer, const NmsSettings& settings, int source_row) {
  State& state = self->p->state;
  meta::Adapter& source = *state.adapters[static_cast<std::size_t>(source_row)];
  meta::Adapter& output = *state.adapters[static_cast<std::size_t>(settings.output_row)];
  const bool in_place = &source == &output;
  const bool replace = settings.mode == meta::Mode::replace;
  const bool with_stand_ins = !replace || (in_place && source.rewrite_needs_stand_ins());
  const NmsEngine::Config& config = state.config;

  meta::Candidates candidates;
  const char* problem = nullptr;
  if (!source.read(buffer, state.frame_size, config.capacity, candidates, problem)) {
    warn_broken(self, problem);
    if (replace)
      source.remove(buffer);
    source.release();
    count_frame(self, nullptr, true);
    return GST_FLOW_OK;
  }

  NmsEngine::Result result;
  const std::uint32_t room = settings.max_detections ? settings.max_detections : config.capacity;
  if (self->p->engine.run(config, candidates, room, with_stand_ins, result) != CROWD_NMS_OK) {
    source.release();
    GST_ELEMENT_ERROR(self, LIBRARY, FAILED,
                      ("Clustering failed (%s). Try backend=cpu.", self->p->engine.problem().c_str()), (NULL));
    return GST_FLOW_ERROR;
  }
  warn_gpu(self, result.gpu);
  warn_overflow(self, result.report);

  if (in_place)
    source.rewrite(buffer, candidates, result.verdict, settings.mode);
  else
    output.write(buffer, state.frame_size, candidates, result.verdict, settings.mode);
  if (!in_place && replace)
    source.remove(buffer);
  source.release();
  count_frame(self, &result, false);
  return GST_FLOW_OK;
}

}  // namespace

static GstFlowReturn gst_crowd_nms_transform_ip(GstBaseTransform* trans, GstBuffer* buffer) {
  auto* self = GST_CROWD_NMS(trans);
  const NmsSettings settings = copy_settings(self);
  follow_settings(self, settings);
  const int source_row = find_source(self->p->state, settings, buffer);
  if (source_row < 0) {
    count_frame(self, nullptr, false);
  } else {
    if (!self->p->state.frame_size.known())
      warn_unknown_size(self);
    if (const GstFlowReturn flow = cluster(self, buffer, settings, source_row); flow != GST_FLOW_OK)
      return flow;
  }
  GST_LOG_OBJECT(self, "%u candidates, %u survivors", self->p->stats.last().candidates,
                 self->p->stats.last().survivors);
  if (settings.post_messages)
    post_frame_message(self, buffer);
  return GST_FLOW_OK;
}

static gboolean gst_crowd_nms_set_caps(GstBaseTransform* trans, GstCaps* incaps, GstCaps*) {
  auto* self = GST_CROWD_NMS(trans);
  const GstStructure* structure = gst_caps_get_structure(incaps, 0);
  int width = 0, height = 0;
  gst_structure_get_int(structure, "width", &width);
  gst_structure_get_int(structure, "height", &height);
  const bool known = width > 0 && height > 0;
  self->p->state.frame_size = known ? meta::FrameSize{guint(width), guint(height)} : meta::FrameSize{};
  return TRUE;
}

static gboolean gst_crowd_nms_stop(GstBaseTransform* trans) {
  auto* self = GST_CROWD_NMS(trans);
  self->p->engine.close();
  self->p->device.close();
  self->p->state = State{};
  return TRUE;
}

// backend=cuda is an error here where there is no GPU, so that it fails at the state change; backend=auto goes on.
static gboolean gst_crowd_nms_start(GstBaseTransform* trans) {
  auto* self = GST_CROWD_NMS(trans);
  const NmsSettings settings = copy_settings(self);
  State& state = self->p->state;
  state = State{};
  state.backend = settings.backend;
  for (const meta::AdapterRow& row : meta::adapter_rows())
    state.adapters.push_back(row.make());
  GST_OBJECT_LOCK(self);
  self->p->stats = NmsStats{};
  GST_OBJECT_UNLOCK(self);

  std::string problem;
  if (settings.backend != BackendChoice::cpu &&
      !self->p->device.open(GST_ELEMENT(self), settings.cuda_device_id, problem)) {
    if (settings.backend == BackendChoice::cuda) {
      GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", problem.c_str()), (NULL));
      return FALSE;
    }
    GST_INFO_OBJECT(self, "clustering on the CPU: %s", problem.c_str());
    state.backend = BackendChoice::cpu;
  }
  if (!prepare_engine(self, engine_config(settings, state.backend))) {
    gst_crowd_nms_stop(trans);
    return FALSE;
  }
  if (!self->p->engine.no_gpu_reason().empty())
    GST_INFO_OBJECT(self, "clustering on the CPU: %s", self->p->engine.no_gpu_reason().c_str());
  return TRUE;
}

// In place, so the base class hands on what downstream proposes; what we read is added to it.
static gboolean gst_crowd_nms_propose_allocation(GstBaseTransform* trans, GstQuery* decide, GstQuery* query) {
  GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->propose_allocation(trans, decide, query);
  for (const meta::AdapterRow& row : meta::adapter_rows()) {
    if (!gst_query_find_allocation_meta(query, row.api(), nullptr))
      gst_query_add_allocation_meta(query, row.api(), nullptr);
  }
  return TRUE;
}

static gboolean gst_crowd_nms_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  auto* self = GST_CROWD_NMS(trans);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && self->p->device.answer(GST_ELEMENT(self), query))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS(gst_crowd_nms_parent_class)->query(trans, direction, query);
}

static void gst_crowd_nms_set_context(GstElement* element, GstContext* context) {
  auto* self = GST_CROWD_NMS(element);
  self->p->device.set_context(element, context, copy_settings(self).cuda_device_id);
  GST_ELEMENT_CLASS(gst_crowd_nms_parent_class)->set_context(element, context);
}

static void gst_crowd_nms_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = GST_CROWD_NMS(object);
  if (id >= prop_stats) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  GST_OBJECT_LOCK(self);
  set_nms_property(self->p->settings, id, value);
  GST_OBJECT_UNLOCK(self);
}

static void gst_crowd_nms_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = GST_CROWD_NMS(object);
  if (id == prop_stats)
    g_value_take_boxed(value, stats_structure(self));
  else if (id < prop_stats)
    get_nms_property(copy_settings(self), id, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_crowd_nms_finalize(GObject* object) {
  delete GST_CROWD_NMS(object)->p;
  G_OBJECT_CLASS(gst_crowd_nms_parent_class)->finalize(object);
}

static void gst_crowd_nms_init(GstCrowdNms* self) {
  self->p = new GstCrowdNmsPrivate;
  auto* trans = GST_BASE_TRANSFORM(self);
  gst_base_transform_set_in_place(trans, TRUE);
  gst_base_transform_set_passthrough(trans, FALSE);
  gst_base_transform_set_qos_enabled(trans, FALSE);
}

static void gst_crowd_nms_class_init(GstCrowdNmsClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, "clustering of detections");

  object_class->set_property = gst_crowd_nms_set_property;
  object_class->get_property = gst_crowd_nms_get_property;
  object_class->finalize = gst_crowd_nms_finalize;
  prop_stats = install_nms_properties(object_class);
  g_object_class_install_property(
      object_class, prop_stats,
      g_param_spec_boxed("stats", "Statistics",
                         "Since the start: frames, frames-on-gpu, candidates, survivors, suppressed, invalid, "
                         "below-threshold, overflow, clipped, broken-metas, nms-time in nanoseconds; last-* for the "
                         "last frame; the backend it used (none, cpu, cuda) and the method",
                         GST_TYPE_STRUCTURE, GParamFlags(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  mark_nms_enums_as_api();

  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));
  gst_element_class_add_static_pad_template(element_class, &sink);
  gst_element_class_add_static_pad_template(element_class, &src);
  gst_element_class_set_static_metadata(element_class, "Non-maximum suppression of detections", "Filter/Analyzer/Video",
                                        "Clusters overlapping candidate boxes and leaves one box per object",
                                        "gst-crowd authors");
  element_class->set_context = gst_crowd_nms_set_context;

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->before_transform = crowd::sync_controlled_properties;
  trans_class->transform_ip = gst_crowd_nms_transform_ip;
  trans_class->set_caps = gst_crowd_nms_set_caps;
  trans_class->start = gst_crowd_nms_start;
  trans_class->stop = gst_crowd_nms_stop;
  trans_class->propose_allocation = gst_crowd_nms_propose_allocation;
  trans_class->query = gst_crowd_nms_query;
}
