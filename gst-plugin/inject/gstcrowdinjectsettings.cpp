// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/gstcrowdinjectsettings.hpp"

#include "gst/crowd/gstcrowdboxesmeta.h"

namespace crowd::inject {

namespace {

using scene::Format;
using scene::SceneKind;

using Table = PropertyTable<Settings>;

GType scene_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(SceneKind::oscars), "Group picture, 4646x1800, 147 faces, 2895 candidates", "oscars"},
      {static_cast<int>(SceneKind::crowd_run), "People crossing, 1920x1080, about 60 faces, 360 to 698 candidates",
       "crowd-run"},
      {static_cast<int>(SceneKind::mosaic), "Four crowd-runs, 3840x2160, about 240 faces, 1440 to 2792 candidates",
       "mosaic"},
      {static_cast<int>(SceneKind::uniform), "No structure, 3840x2160, no faces, 4096 candidates", "uniform"},
      {0, nullptr, nullptr}};
  static const GType type = register_enum("GstCrowdInjectScene", values);
  return type;
}

GType format_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Format::automatic),
       "JSON lines if the first character is a brace or a bracket, else MOTChallenge", "auto"},
      {static_cast<int>(Format::mot), "MOTChallenge: frame,id,left,top,width,height,conf[,x,y,z]", "mot"},
      {static_cast<int>(Format::jsonl), "JSON lines: {\"objects\": [{\"box\": [x1, y1, x2, y2], ...}]}", "jsonl"},
      {0, nullptr, nullptr}};
  static const GType type = register_enum("GstCrowdInjectFormat", values);
  return type;
}

GType numbering_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Numbering::counter), "Count buffers, from 0 at each start and segment", "counter"},
      {static_cast<int>(Numbering::timestamp), "Stream time of the buffer times the framerate, rounded", "timestamp"},
      {0, nullptr, nullptr}};
  static const GType type = register_enum("GstCrowdInjectNumbering", values);
  return type;
}

void add_scene_properties(Table& table, const Settings& defaults) {
  constexpr int max = GST_CROWD_BOXES_MAX_CAPACITY;
  table.add(
      g_param_spec_enum("scene", "Scene", "The synthetic crowd to inject; not used with a location", scene_type(),
                        static_cast<int>(defaults.scene.kind), settable_before_start),
      [](auto& s) -> auto& { return s.scene.kind; });
  table.add(
      g_param_spec_uint64("seed", "Seed",
                          "Chooses the crowd, any number: the same seed, scene and frame number give the same boxes on "
                          "every machine",
                          0, G_MAXUINT64, defaults.scene.seed, settable_before_start),
      [](auto& s) -> auto& { return s.scene.seed; });
  table.add(
      g_param_spec_int("candidates", "Candidates",
                       "Number of boxes to inject on each frame of a scene, from 0; -1: the scene's own number. With "
                       "uncover-every it counts the covered faces' boxes too",
                       -1, max, defaults.live.candidates, controllable),
      [](auto& s) -> auto& { return s.live.candidates; });
  table.add(
      g_param_spec_uint("classes", "Classes",
                        "Number of classes that a scene's objects are of, 1 or more; each object keeps its class", 1,
                        scene::max_class + 1, defaults.scene.classes, settable_before_start),
      [](auto& s) -> auto& { return s.scene.classes; });
  table.add(
      g_param_spec_float(
          "jitter", "Jitter",
          "How far a scene's boxes lie from their faces, in place and in size: standard deviation as a "
          "part of the face's side, from 0 (all alike) to 0.14 (NMS at IoU 0.5 leaves several boxes a face)",
          0.0f, scene::max_jitter, defaults.scene.jitter, settable_before_start),
      [](auto& s) -> auto& { return s.scene.jitter; });
  table.add(
      g_param_spec_uint("uncover-every", "Uncover every",
                        "Number of frames after which the oscars scene shows one more of its 147 faces, beginning "
                        "with none; 0: all faces from the first frame on",
                        0, G_MAXUINT, defaults.scene.uncover_every, settable_before_start),
      [](auto& s) -> auto& { return s.scene.uncover_every; });
}

void add_recording_properties(Table& table, const Settings& defaults) {
  table.add(
      g_param_spec_string("location", "Location",
                          "Path of a file or pipe of recorded candidates to inject instead of a scene: MOTChallenge "
                          "det.txt or JSON lines, of at most 1 GiB; NULL: a scene",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.location; });
  table.add(
      g_param_spec_enum("format", "Format", "What kind of file the location is", format_type(),
                        static_cast<int>(defaults.format), settable_before_start),
      [](auto& s) -> auto& { return s.format; });
  table.add(
      g_param_spec_boolean(
          "strict", "Strict",
          "Whether a line of the file that does not fit the format is an error; if not, such lines are "
          "skipped, counted in the stats, and the first is warned about",
          defaults.strict, settable_before_start),
      [](auto& s) -> auto& { return s.strict; });
  table.add(
      g_param_spec_boolean(
          "loop", "Loop",
          "Whether a recording starts over after its last frame; if not, later frames have no candidates",
          defaults.live.loop, controllable),
      [](auto& s) -> auto& { return s.live.loop; });
  table.add(
      g_param_spec_uint("recorded-width", "Recorded width",
                        "Width in pixels of the film that was recorded from, to scale its boxes to the frame where the "
                        "file does not say; 0: no scaling. Goes with recorded-height",
                        0, G_MAXINT, defaults.recorded_width, settable_before_start),
      [](auto& s) -> auto& { return s.recorded_width; });
  table.add(
      g_param_spec_uint("recorded-height", "Recorded height",
                        "Height in pixels of the film that was recorded from; 0: no scaling. Goes with recorded-width",
                        0, G_MAXINT, defaults.recorded_height, settable_before_start),
      [](auto& s) -> auto& { return s.recorded_height; });
}

void add_output_properties(Table& table, const Settings& defaults) {
  table.add(
      g_param_spec_string("labels", "Labels",
                          "Names of classes 0, 1, ... with commas between them; NULL: the scene's or the file's own",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.labels; });
  table.add(
      g_param_spec_uint(
          "max-candidates", "Max candidates",
          "Capacity of the metadata, in boxes; the boxes beyond it, the last in the order of the scene or of the file, "
          "are not attached but still counted, in the metadata and as overflow in stats. 0: as many as the frame has",
          0, GST_CROWD_BOXES_MAX_CAPACITY, defaults.live.max_candidates, controllable),
      [](auto& s) -> auto& { return s.live.max_candidates; });
  table.add(
      g_param_spec_enum(
          "numbering", "Numbering",
          "Where a frame's number comes from, which decides its boxes. Use timestamp to seek in a film, or "
          "where frames may be missing",
          numbering_type(), static_cast<int>(defaults.numbering), settable_before_start),
      [](auto& s) -> auto& { return s.numbering; });
  table.add(
      g_param_spec_boolean("truth", "Truth",
                           "Whether to attach the true objects of a scene too, as a custom meta named GstCrowdTruth",
                           defaults.live.truth, controllable),
      [](auto& s) -> auto& { return s.live.truth; });
  table.add(
      g_param_spec_string("truth-location", "Truth location",
                          "Path of a file to write the true objects of a scene to, in MOTChallenge gt.txt form; it is "
                          "emptied first, and each frame number is written once. NULL: none",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.truth_location; });
}

}  // namespace

const PropertyTable<Settings>& properties() {
  static const Table table = [] {
    const Settings defaults;
    Table rows;
    add_scene_properties(rows, defaults);
    add_recording_properties(rows, defaults);
    add_output_properties(rows, defaults);
    return rows;
  }();
  return table;
}

}  // namespace crowd::inject
