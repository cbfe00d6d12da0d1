// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/gstcrowdinjectsettings.hpp"

#include "gst/crowd/gstcrowdboxesmeta.h"

namespace crowd::inject {

namespace {

using scene::Format;
using scene::Kind;

enum Property : guint {
  prop_scene = 1,
  prop_seed,
  prop_candidates,
  prop_classes,
  prop_jitter,
  prop_uncover_every,
  prop_location,
  prop_format,
  prop_strict,
  prop_loop,
  prop_recorded_width,
  prop_recorded_height,
  prop_labels,
  prop_max_candidates,
  prop_numbering,
  prop_truth,
  prop_truth_location,
  prop_stats
};

constexpr auto at_any_time = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                      GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
constexpr auto before_start =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto read_only = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

GType registered_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

GType scene_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Kind::oscars), "Group picture, 4646x1800, 147 faces, 2895 candidates", "oscars"},
      {static_cast<int>(Kind::crowd_run), "People crossing, 1920x1080, about 60 faces, 360 to 698 candidates",
       "crowd-run"},
      {static_cast<int>(Kind::mosaic), "Four crowd-runs, 3840x2160, about 240 faces, 1440 to 2792 candidates",
       "mosaic"},
      {static_cast<int>(Kind::uniform), "No structure, 3840x2160, no faces, 4096 candidates", "uniform"},
      {0, nullptr, nullptr}};
  static const GType type = registered_enum("GstCrowdInjectScene", values);
  return type;
}

GType format_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Format::automatic),
       "JSON lines if the first character is a brace or a bracket, else MOTChallenge", "auto"},
      {static_cast<int>(Format::mot), "MOTChallenge: frame,id,left,top,width,height,conf[,x,y,z]", "mot"},
      {static_cast<int>(Format::jsonl), "JSON lines: {\"objects\": [{\"box\": [x1, y1, x2, y2], ...}]}", "jsonl"},
      {0, nullptr, nullptr}};
  static const GType type = registered_enum("GstCrowdInjectFormat", values);
  return type;
}

GType numbering_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Numbering::counter), "Count buffers, from 0 at each start and segment", "counter"},
      {static_cast<int>(Numbering::timestamp), "Stream time of the buffer times the framerate, rounded", "timestamp"},
      {0, nullptr, nullptr}};
  static const GType type = registered_enum("GstCrowdInjectNumbering", values);
  return type;
}

void install_scene_properties(GObjectClass* object_class) {
  const Settings defaults;
  constexpr int most = GST_CROWD_BOXES_MAX_CAPACITY;
  g_object_class_install_property(
      object_class, prop_scene,
      g_param_spec_enum("scene", "Scene", "The synthetic crowd to inject; not used with a location", scene_type(),
                        static_cast<int>(defaults.scene.kind), before_start));
  g_object_class_install_property(
      object_class, prop_seed,
      g_param_spec_uint64("seed", "Seed",
                          "Chooses the crowd, any number: the same seed, scene and frame number give the same boxes on "
                          "every machine",
                          0, G_MAXUINT64, defaults.scene.seed, before_start));
  g_object_class_install_property(
      object_class, prop_candidates,
      g_param_spec_int("candidates", "Candidates",
                       "Number of boxes to inject on each frame of a scene, from 0; -1: the scene's own number. With "
                       "uncover-every it counts the covered faces' boxes too",
                       -1, most, defaults.live.candidates, at_any_time));
  g_object_class_install_property(
      object_class, prop_classes,
      g_param_spec_uint("classes", "Classes",
                        "Number of classes that a scene's objects are of, 1 or more; each object keeps its class", 1,
                        scene::highest_class + 1, defaults.scene.classes, before_start));
  g_object_class_install_property(
      object_class, prop_jitter,
      g_param_spec_float(
          "jitter", "Jitter",
          "How far a scene's boxes lie from their faces, in place and in size: standard deviation as a "
          "part of the face's side, from 0 (all alike) to 0.14 (NMS at IoU 0.5 leaves several boxes a face)",
          0.0f, scene::most_jitter, defaults.scene.jitter, before_start));
  g_object_class_install_property(
      object_class, prop_uncover_every,
      g_param_spec_uint("uncover-every", "Uncover every",
                        "Number of frames after which the oscars scene shows one more of its 147 faces, beginning "
                        "with none; 0: all faces from the first frame on",
                        0, G_MAXUINT, defaults.scene.uncover_every, before_start));
}

void install_recording_properties(GObjectClass* object_class) {
  const Settings defaults;
  g_object_class_install_property(
      object_class, prop_location,
      g_param_spec_string("location", "Location",
                          "Path of a file or pipe of recorded candidates to inject instead of a scene: MOTChallenge "
                          "det.txt or JSON lines, of at most 1 GiB; NULL: a scene",
                          nullptr, before_start));
  g_object_class_install_property(object_class, prop_format,
                                  g_param_spec_enum("format", "Format", "What kind of file the location is",
                                                    format_type(), static_cast<int>(defaults.format), before_start));
  g_object_class_install_property(
      object_class, prop_strict,
      g_param_spec_boolean(
          "strict", "Strict",
          "Whether a line of the file that does not fit the format is an error; if not, such lines are "
          "skipped, counted in the stats, and the first is warned about",
          defaults.strict, before_start));
  g_object_class_install_property(
      object_class, prop_loop,
      g_param_spec_boolean(
          "loop", "Loop",
          "Whether a recording starts over after its last frame; if not, later frames have no candidates",
          defaults.live.loop, at_any_time));
  g_object_class_install_property(
      object_class, prop_recorded_width,
      g_param_spec_uint("recorded-width", "Recorded width",
                        "Width in pixels of the film that was recorded from, to scale its boxes to the frame where the "
                        "file does not say; 0: no scaling. Goes with recorded-height",
                        0, G_MAXINT, defaults.recorded_width, before_start));
  g_object_class_install_property(
      object_class, prop_recorded_height,
      g_param_spec_uint("recorded-height", "Recorded height",
                        "Height in pixels of the film that was recorded from; 0: no scaling. Goes with recorded-width",
                        0, G_MAXINT, defaults.recorded_height, before_start));
}

void install_output_properties(GObjectClass* object_class) {
  const Settings defaults;
  g_object_class_install_property(
      object_class, prop_labels,
      g_param_spec_string("labels", "Labels",
                          "Names of classes 0, 1, ... with commas between them; NULL: the scene's or the file's own",
                          nullptr, before_start));
  g_object_class_install_property(
      object_class, prop_max_candidates,
      g_param_spec_uint(
          "max-candidates", "Maximum candidates",
          "Capacity of the metadata, in boxes; the boxes beyond it, the last in the order of the scene or of the file, "
          "are not attached but still counted, in the metadata and as overflow in stats. 0: as many as the frame has",
          0, GST_CROWD_BOXES_MAX_CAPACITY, defaults.live.max_candidates, at_any_time));
  g_object_class_install_property(
      object_class, prop_numbering,
      g_param_spec_enum(
          "numbering", "Numbering",
          "Where a frame's number comes from, which decides its boxes. Use timestamp to seek in a film, or "
          "where frames may be missing",
          numbering_type(), static_cast<int>(defaults.numbering), before_start));
  g_object_class_install_property(
      object_class, prop_truth,
      g_param_spec_boolean("truth", "Truth",
                           "Whether to attach the true objects of a scene too, as a custom meta named GstCrowdTruth",
                           defaults.live.truth, at_any_time));
  g_object_class_install_property(
      object_class, prop_truth_location,
      g_param_spec_string("truth-location", "Truth location",
                          "Path of a file to write the true objects of a scene to, in MOTChallenge gt.txt form; it is "
                          "emptied first, and each frame number is written once. NULL: none",
                          nullptr, before_start));
  g_object_class_install_property(object_class, prop_stats,
                                  g_param_spec_boxed("stats", "Statistics",
                                                     "Since the start, all uint64: frames, candidates (those beyond "
                                                     "max-candidates included), overflow (candidates "
                                                     "beyond max-candidates), failures (frames that "
                                                     "numbering=timestamp could not number), objects (true objects), "
                                                     "skipped-lines (of the location)",
                                                     GST_TYPE_STRUCTURE, read_only));
}

std::string text_of(const GValue* value) {
  const char* text = g_value_get_string(value);
  return text ? text : "";
}

void set_text(GValue* value, const std::string& text) {
  g_value_set_string(value, text.empty() ? nullptr : text.c_str());
}

}  // namespace

void install_properties(GObjectClass* object_class) {
  install_scene_properties(object_class);
  install_recording_properties(object_class);
  install_output_properties(object_class);
}

bool set_property(Settings& settings, guint id, const GValue* value) {
  switch (id) {
    case prop_scene:
      settings.scene.kind = static_cast<Kind>(g_value_get_enum(value));
      break;
    case prop_seed:
      settings.scene.seed = g_value_get_uint64(value);
      break;
    case prop_candidates:
      settings.live.candidates = g_value_get_int(value);
      break;
    case prop_classes:
      settings.scene.classes = g_value_get_uint(value);
      break;
    case prop_jitter:
      settings.scene.jitter = g_value_get_float(value);
      break;
    case prop_uncover_every:
      settings.scene.uncover_every = g_value_get_uint(value);
      break;
    case prop_location:
      settings.location = text_of(value);
      break;
    case prop_format:
      settings.format = static_cast<Format>(g_value_get_enum(value));
      break;
    case prop_strict:
      settings.strict = g_value_get_boolean(value);
      break;
    case prop_loop:
      settings.live.loop = g_value_get_boolean(value);
      break;
    case prop_recorded_width:
      settings.recorded_width = g_value_get_uint(value);
      break;
    case prop_recorded_height:
      settings.recorded_height = g_value_get_uint(value);
      break;
    case prop_labels:
      settings.labels = text_of(value);
      break;
    case prop_max_candidates:
      settings.live.max_candidates = g_value_get_uint(value);
      break;
    case prop_numbering:
      settings.numbering = static_cast<Numbering>(g_value_get_enum(value));
      break;
    case prop_truth:
      settings.live.truth = g_value_get_boolean(value);
      break;
    case prop_truth_location:
      settings.truth_location = text_of(value);
      break;
    default:
      return false;
  }
  return true;
}

bool get_property(const Settings& settings, guint id, GValue* value) {
  switch (id) {
    case prop_scene:
      g_value_set_enum(value, static_cast<int>(settings.scene.kind));
      break;
    case prop_seed:
      g_value_set_uint64(value, settings.scene.seed);
      break;
    case prop_candidates:
      g_value_set_int(value, settings.live.candidates);
      break;
    case prop_classes:
      g_value_set_uint(value, settings.scene.classes);
      break;
    case prop_jitter:
      g_value_set_float(value, settings.scene.jitter);
      break;
    case prop_uncover_every:
      g_value_set_uint(value, settings.scene.uncover_every);
      break;
    case prop_location:
      set_text(value, settings.location);
      break;
    case prop_format:
      g_value_set_enum(value, static_cast<int>(settings.format));
      break;
    case prop_strict:
      g_value_set_boolean(value, settings.strict);
      break;
    case prop_loop:
      g_value_set_boolean(value, settings.live.loop);
      break;
    case prop_recorded_width:
      g_value_set_uint(value, settings.recorded_width);
      break;
    case prop_recorded_height:
      g_value_set_uint(value, settings.recorded_height);
      break;
    case prop_labels:
      set_text(value, settings.labels);
      break;
    case prop_max_candidates:
      g_value_set_uint(value, settings.live.max_candidates);
      break;
    case prop_numbering:
      g_value_set_enum(value, static_cast<int>(settings.numbering));
      break;
    case prop_truth:
      g_value_set_boolean(value, settings.live.truth);
      break;
    case prop_truth_location:
      set_text(value, settings.truth_location);
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace crowd::inject
