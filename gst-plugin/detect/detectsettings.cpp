// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectsettings.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>

namespace crowd {

namespace {

using Table = PropertyTable<DetectSettings>;

GType detector_type() {
  static const GEnumValue values[] = {
      {DETECTOR_PEOPLE, "Standing people: HOG and the SVM built into OpenCV", "people"},
      {DETECTOR_FACE_HAAR, "Faces: cascade of Haar features", "face-haar"},
      {DETECTOR_FACE_LBP, "Faces: cascade of local binary patterns, quicker and less sure", "face-lbp"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCrowdDetectDetector", values);
  return type;
}

GType fit_type() {
  static const GEnumValue values[] = {
      {FIT_WINDOW, "The whole window of the detector", "window"},
      {FIT_BODY, "The part of a people window that the person fills: 5/8 of the width, 3/4 of the height", "body"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCrowdDetectFit", values);
  return type;
}

void add_model_properties(Table& table) {
  const Model defaults;
  table.add(
      g_param_spec_enum("detector", "Detector", "What to look for, and how", detector_type(), defaults.detector,
                        settable_before_start),
      [](auto& s) -> auto& { return s.model.detector; });
  table.add(
      g_param_spec_string("cascade", "Cascade",
                          "XML file of the cascade that face-haar and face-lbp run, an error with people; unset: the "
                          "frontal face of package opencv-data",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.model.cascade; });
  table.add(
      g_param_spec_string("label", "Label", "Class name of the candidates; unset: person or face", nullptr,
                          settable_before_start),
      [](auto& s) -> auto& { return s.model.label; });
}

void add_search_properties(Table& table) {
  const Search defaults;
  table.add(
      g_param_spec_double("scale-factor", "Scale factor",
                          "Ratio between neighbouring window sizes; smaller finds more windows and takes longer", 1.01,
                          4, defaults.scale_factor, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.scale_factor; });
  table.add(
      g_param_spec_int(
          "win-stride", "Window stride",
          "people: step between windows, pixels of the frame scaled so that the window is 64x128. Quick in "
          "multiples of 8; on a CPU a frame takes some 4 times as long with 4, 25 times with an odd "
          "number",
          1, 64, defaults.win_stride, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.win_stride; });
  table.add(
      g_param_spec_int("padding", "Padding",
                       "people: how far windows may leave the frame, pixels of the frame scaled so that the window is "
                       "64x128",
                       0, 64, defaults.padding, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.padding; });
  table.add(
      g_param_spec_double(
          "hit-threshold", "Hit threshold",
          "people: least score, the margin of the SVM; 0, OpenCV's own default, lets in more that is not a person", -10,
          10, defaults.hit_threshold, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.hit_threshold; });
  table.add(
      g_param_spec_int(
          "min-size", "Least size",
          "Least height of a window in pixels of the frame, which is enlarged for less than the classifier's "
          "own (people 128, faces 24); a standing person fills 3/4 of the height. 0: 88 for people, the "
          "classifier's own for faces",
          0, G_MAXINT16, defaults.min_size, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.min_size; });
  table.add(
      g_param_spec_int("max-size", "Largest size",
                       "Largest height of a window in pixels of the frame; 0: as large as the frame", 0, G_MAXINT16,
                       defaults.max_size, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.max_size; });
}

void add_output_properties(Table& table) {
  const PerFrame defaults;
  table.add(
      g_param_spec_enum("fit", "Fit", "people: what the boxes enclose", fit_type(),
                        defaults.search.body ? FIT_BODY : FIT_WINDOW, controllable),
      [](const DetectSettings& s, GValue* value) {
        write_value(value, s.per_frame.search.body ? FIT_BODY : FIT_WINDOW);
      },
      [](DetectSettings& s, const GValue* value) { s.per_frame.search.body = g_value_get_enum(value) == FIT_BODY; });
  table.add(
      g_param_spec_uint(
          "max-candidates", "Most candidates",
          "Most windows of a frame to hand on, the best-scored; the rest is counted as overflow in stats, and in "
          "the meta's count",
          1, GST_CROWD_BOXES_MAX_CAPACITY, defaults.max_candidates, controllable),
      [](auto& s) -> auto& { return s.per_frame.max_candidates; });
  table.add(
      g_param_spec_uint("interval", "Interval",
                        "Search every n-th frame; frames between carry the candidates of the last one searched", 1,
                        G_MAXUINT, defaults.interval, controllable),
      [](auto& s) -> auto& { return s.per_frame.interval; });
}

}  // namespace

const PropertyTable<DetectSettings>& detect_properties() {
  static const Table table = [] {
    Table rows;
    add_model_properties(rows);
    add_search_properties(rows);
    add_output_properties(rows);
    return rows;
  }();
  return table;
}

}  // namespace crowd
