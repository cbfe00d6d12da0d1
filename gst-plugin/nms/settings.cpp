// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nms/settings.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace crowd {

namespace {

enum Property : guint {
  prop_0,
  prop_method,
  prop_iou_threshold,
  prop_score_threshold,
  prop_metric,
  prop_comparator,
  prop_pixel_offset,
  prop_class_agnostic,
  prop_max_candidates,
  prop_max_detections,
  prop_paper_k,
  prop_paper_d_max,
  prop_backend,
  prop_cuda_device_id,
  prop_meta_source,
  prop_meta_output,
  prop_mode,
  prop_post_messages,
  prop_output_delay,
  prop_end
};

constexpr guint most_candidates = 1u << 24;
constexpr guint most_paper_d_max = 65536;

constexpr GEnumValue method_values[] = {
    {CROWD_NMS_GREEDY, "exact: dies if a surviving better-ranked candidate overlaps it", "greedy"},
    {CROWD_NMS_MAP_REDUCE, "one pass: dies if any better-ranked candidate overlaps it", "map-reduce"},
    {CROWD_NMS_PAPER, "Algorithms 1 and 2 of Oro et al. 2020 to the letter, a reference", "paper"},
    {0, nullptr, nullptr}};

constexpr GEnumValue metric_values[] = {
    {CROWD_NMS_IOU, "intersection over union", "iou"},
    {CROWD_NMS_IOS, "intersection over the smaller area", "ios"},
    {CROWD_NMS_OVER_HIGHER, "intersection over the better-ranked box's area (Algorithm 1)", "over-higher"},
    {CROWD_NMS_OVER_LOWER, "intersection over the worse-ranked box's area", "over-lower"},
    {0, nullptr, nullptr}};

constexpr GEnumValue comparator_values[] = {
    {CROWD_NMS_GREATER, "overlap > iou-threshold suppresses (torchvision, OpenCV)", "greater"},
    {CROWD_NMS_GREATER_EQUAL, "overlap >= iou-threshold suppresses", "greater-equal"},
    {0, nullptr, nullptr}};

constexpr GEnumValue backend_values[] = {
    {int(BackendChoice::automatic), "the GPU for frames of 500 candidates or more where there is one, else the CPU",
     "auto"},
    {int(BackendChoice::cuda), "the GPU; an error where there is none", "cuda"},
    {int(BackendChoice::cpu), "the CPU", "cpu"},
    {0, nullptr, nullptr}};
static_assert(gpu_crossover == 500, "backend_values says 500");

constexpr GEnumValue mode_values[] = {
    {int(meta::Mode::replace), "only survivors are left", "replace"},
    {int(meta::Mode::annotate), "all candidates are left, each marked as kept or not", "annotate"},
    {0, nullptr, nullptr}};

GType method_type() {
  static const GType type = g_enum_register_static("GstCrowdNmsMethod", method_values);
  return type;
}

GType metric_type() {
  static const GType type = g_enum_register_static("GstCrowdNmsMetric", metric_values);
  return type;
}

GType comparator_type() {
  static const GType type = g_enum_register_static("GstCrowdNmsComparator", comparator_values);
  return type;
}

GType backend_type() {
  static const GType type = g_enum_register_static("GstCrowdNmsBackend", backend_values);
  return type;
}

GType mode_type() {
  static const GType type = g_enum_register_static("GstCrowdNmsMode", mode_values);
  return type;
}

// Of a float score that is not below one of them, the other is not above it either.
float float_not_below(double threshold) {
  const auto either = static_cast<float>(threshold);
  return static_cast<double>(either) < threshold ? std::nextafter(either, std::numeric_limits<float>::infinity())
                                                 : either;
}

// The values are the ids of the rows of the table of adapters.
GType register_kinds(const char* name, bool sources) {
  static std::vector<GEnumValue> values[2];
  std::vector<GEnumValue>& own = values[sources];
  own.push_back({int(meta::KindId::automatic),
                 sources ? "the first of the others that the frame carries"
                         : "boxes in device memory where downstream reads them there, else regions of interest",
                 "auto"});
  for (const meta::AdapterRow& row : meta::adapter_rows()) {
    if (sources || row.writes)
      own.push_back({int(row.id), row.description, row.nick});
  }
  if (!sources)
    own.push_back({int(meta::KindId::all), "as each of the others", "all"});
  own.push_back({0, nullptr, nullptr});
  return g_enum_register_static(name, own.data());
}

GType source_type() {
  static const GType type = register_kinds("GstCrowdNmsMetaSource", true);
  return type;
}

GType output_type() {
  static const GType type = register_kinds("GstCrowdNmsMetaOutput", false);
  return type;
}

constexpr auto fixed = GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto live =
    GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);

void install_rule_properties(GObjectClass* object_class, const NmsSettings& defaults) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const CrowdNmsParams& params = defaults.params;
  g_object_class_install_property(
      object_class, prop_method,
      g_param_spec_enum("method", "Method",
                        "Who is suppressed. map-reduce keeps a subset of greedy's survivors; paper ignores metric, "
                        "comparator, pixel-offset, class-agnostic and score-threshold",
                        method_type(), params.method, live));
  g_object_class_install_property(
      object_class, prop_iou_threshold,
      g_param_spec_double("iou-threshold", "Overlap threshold",
                          "Overlap of two boxes, as a ratio from 0 to 1 by metric, above which the worse-ranked one is "
                          "suppressed",
                          0, 1, params.overlap_threshold, live));
  g_object_class_install_property(
      object_class, prop_score_threshold,
      g_param_spec_double(
          "score-threshold", "Score threshold",
          "Lowest score, in the detector's own unit, of a candidate that counts; -inf: every score does", -infinity,
          infinity, defaults.score_threshold, live));
  g_object_class_install_property(
      object_class, prop_metric,
      g_param_spec_enum("metric", "Overlap metric", "What the intersection of two boxes is divided by", metric_type(),
                        params.metric, live));
  g_object_class_install_property(
      object_class, prop_comparator,
      g_param_spec_enum("comparator", "Comparator", "Whether an overlap equal to iou-threshold suppresses",
                        comparator_type(), params.comparator, live));
  g_object_class_install_property(
      object_class, prop_pixel_offset,
      g_param_spec_uint("pixel-offset", "Pixel offset",
                        "Added to widths and heights, in pixels: 0 for half-open boxes, 1 where the last pixel is "
                        "inclusive (older detectors)",
                        0, 1, params.pixel_offset, live));
  g_object_class_install_property(
      object_class, prop_class_agnostic,
      g_param_spec_boolean("class-agnostic", "Class-agnostic",
                           "Let boxes suppress boxes of other classes too, instead of only those of their own",
                           params.class_agnostic, live));
}

void install_limit_properties(GObjectClass* object_class, const NmsSettings& defaults) {
  g_object_class_install_property(
      object_class, prop_max_candidates,
      g_param_spec_uint(
          "max-candidates", "Most candidates",
          "Candidates of a frame that are looked at: the first in the order of the metadata, whatever their "
          "scores. Memory is set aside for them, about 100 bytes each. The rest is counted as overflow "
          "in stats",
          1, most_candidates, defaults.max_candidates, live));
  g_object_class_install_property(
      object_class, prop_max_detections,
      g_param_spec_uint("max-detections", "Most detections",
                        "Survivors of a frame that are kept, the best-ranked ones; 0: all. The rest is counted as "
                        "clipped in stats",
                        0, G_MAXUINT, defaults.max_detections, live));
  g_object_class_install_property(
      object_class, prop_paper_k,
      g_param_spec_uint(
          "paper-k", "Partitions of the paper's rows",
          "Method paper only: k, the number of partitions of a row of matrix B; a divisor of paper-d-max. "
          "On the GPU paper-d-max / paper-k may be at most 1024",
          1, most_paper_d_max, defaults.params.paper_k, live));
  g_object_class_install_property(
      object_class, prop_paper_d_max,
      g_param_spec_uint("paper-d-max", "Side of the paper's matrix",
                        "Method paper only: D_max, the number of slots for candidates. On the GPU matrix B takes "
                        "D_max * D_max bytes; 0: max-candidates rounded up to a multiple of paper-k",
                        0, most_paper_d_max, defaults.params.paper_d_max, live));
}

void install_environment_properties(GObjectClass* object_class, const NmsSettings& defaults) {
  g_object_class_install_property(
      object_class, prop_backend,
      g_param_spec_enum("backend", "Backend", "What does the clustering; the survivors are the same. stats says which",
                        backend_type(), int(defaults.backend), fixed));
  g_object_class_install_property(
      object_class, prop_cuda_device_id,
      g_param_spec_int("cuda-device-id", "CUDA device ID",
                       "Number of the GPU to use; -1: that of the neighbours, else the first", -1, G_MAXINT,
                       defaults.cuda_device_id, fixed));
  g_object_class_install_property(
      object_class, prop_meta_source,
      g_param_spec_enum("meta-source", "Metadata read", "Which metadata of a frame holds the candidates", source_type(),
                        int(defaults.source), live));
  g_object_class_install_property(
      object_class, prop_meta_output,
      g_param_spec_enum("meta-output", "Metadata written",
                        "As which metadata survivors leave; regions that were candidates are edited in place",
                        output_type(), int(defaults.output), live));
  g_object_class_install_property(
      object_class, prop_mode,
      g_param_spec_enum("mode", "Mode", "What is left on the frame", mode_type(), int(defaults.mode), live));
  g_object_class_install_property(
      object_class, prop_post_messages,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message \"crowdnms\" on the bus for every frame: timestamp, stream-time, "
                           "running-time, duration and nms-time in nanoseconds, counts, backend, method, and whether "
                           "it was clustered in CUDA memory (on-device, nms-time is 0)",
                           defaults.post_messages, live));
  g_object_class_install_property(
      object_class, prop_output_delay,
      g_param_spec_uint(
          "output-delay", "Output delay",
          "Frames that are held back, 0 or 1: with 1 the GPU works on a frame while the host does what is "
          "left of the one before. Adds a frame of latency, 40 ms where the caps have no framerate, or 0/1",
          0, 1, defaults.output_delay, fixed));
}

}  // namespace

guint install_nms_properties(GObjectClass* object_class) {
  const NmsSettings defaults;
  install_rule_properties(object_class, defaults);
  install_limit_properties(object_class, defaults);
  install_environment_properties(object_class, defaults);
  return prop_end;
}

void set_nms_property(NmsSettings& settings, guint id, const GValue* value) {
  CrowdNmsParams& params = settings.params;
  switch (static_cast<Property>(id)) {
    case prop_method:
      params.method = static_cast<CrowdNmsMethod>(g_value_get_enum(value));
      break;
    case prop_iou_threshold:
      params.overlap_threshold = g_value_get_double(value);
      break;
    case prop_score_threshold:
      settings.score_threshold = g_value_get_double(value);
      params.score_threshold = float_not_below(settings.score_threshold);
      break;
    case prop_metric:
      params.metric = static_cast<CrowdNmsMetric>(g_value_get_enum(value));
      break;
    case prop_comparator:
      params.comparator = static_cast<CrowdNmsComparator>(g_value_get_enum(value));
      break;
    case prop_pixel_offset:
      params.pixel_offset = g_value_get_uint(value);
      break;
    case prop_class_agnostic:
      params.class_agnostic = g_value_get_boolean(value);
      break;
    case prop_max_candidates:
      settings.max_candidates = g_value_get_uint(value);
      break;
    case prop_max_detections:
      settings.max_detections = g_value_get_uint(value);
      break;
    case prop_paper_k:
      params.paper_k = g_value_get_uint(value);
      break;
    case prop_paper_d_max:
      params.paper_d_max = g_value_get_uint(value);
      break;
    case prop_backend:
      settings.backend = static_cast<BackendChoice>(g_value_get_enum(value));
      break;
    case prop_cuda_device_id:
      settings.cuda_device_id = g_value_get_int(value);
      break;
    case prop_meta_source:
      settings.source = static_cast<meta::KindId>(g_value_get_enum(value));
      break;
    case prop_meta_output:
      settings.output = static_cast<meta::KindId>(g_value_get_enum(value));
      break;
    case prop_mode:
      settings.mode = static_cast<meta::Mode>(g_value_get_enum(value));
      break;
    case prop_post_messages:
      settings.post_messages = g_value_get_boolean(value);
      break;
    case prop_output_delay:
      settings.output_delay = g_value_get_uint(value) > 0;
      break;
    case prop_0:
    case prop_end:
      g_assert_not_reached();
  }
}

void get_nms_property(const NmsSettings& settings, guint id, GValue* value) {
  const CrowdNmsParams& params = settings.params;
  switch (static_cast<Property>(id)) {
    case prop_method:
      return g_value_set_enum(value, params.method);
    case prop_iou_threshold:
      return g_value_set_double(value, params.overlap_threshold);
    case prop_score_threshold:
      return g_value_set_double(value, settings.score_threshold);
    case prop_metric:
      return g_value_set_enum(value, params.metric);
    case prop_comparator:
      return g_value_set_enum(value, params.comparator);
    case prop_pixel_offset:
      return g_value_set_uint(value, params.pixel_offset);
    case prop_class_agnostic:
      return g_value_set_boolean(value, gboolean(params.class_agnostic));
    case prop_max_candidates:
      return g_value_set_uint(value, settings.max_candidates);
    case prop_max_detections:
      return g_value_set_uint(value, settings.max_detections);
    case prop_paper_k:
      return g_value_set_uint(value, params.paper_k);
    case prop_paper_d_max:
      return g_value_set_uint(value, params.paper_d_max);
    case prop_backend:
      return g_value_set_enum(value, int(settings.backend));
    case prop_cuda_device_id:
      return g_value_set_int(value, settings.cuda_device_id);
    case prop_meta_source:
      return g_value_set_enum(value, int(settings.source));
    case prop_meta_output:
      return g_value_set_enum(value, int(settings.output));
    case prop_mode:
      return g_value_set_enum(value, int(settings.mode));
    case prop_post_messages:
      return g_value_set_boolean(value, settings.post_messages);
    case prop_output_delay:
      return g_value_set_uint(value, settings.output_delay);
    case prop_0:
    case prop_end:
      g_assert_not_reached();
  }
}

const char* method_nick(CrowdNmsMethod method) {
  return method_values[method].value_nick;
}

void mark_nms_enums_as_api() {
  for (const GType type :
       {method_type(), metric_type(), comparator_type(), backend_type(), mode_type(), source_type(), output_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}

}  // namespace crowd
