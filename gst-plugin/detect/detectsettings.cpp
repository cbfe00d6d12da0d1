// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/detectsettings.hpp"

#include <gst/crowd/gstcrowdboxesmeta.h>

namespace crowd {

namespace {

enum {
  PROP_0,
  PROP_DETECTOR,
  PROP_CASCADE,
  PROP_LABEL,
  PROP_SCALE_FACTOR,
  PROP_WIN_STRIDE,
  PROP_PADDING,
  PROP_HIT_THRESHOLD,
  PROP_MIN_SIZE,
  PROP_MAX_SIZE,
  PROP_FIT,
  PROP_MAX_CANDIDATES,
  PROP_INTERVAL,
  PROP_END,
};

static_assert(PROP_END == last_detect_property + 1);

std::string to_string(const GValue* value) {
  const char* text = g_value_get_string(value);
  return text ? text : "";
}

constexpr auto live = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                                               GST_PARAM_CONTROLLABLE);

void install_model_properties(GObjectClass* object_class) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  const Model defaults;
  g_object_class_install_property(object_class, PROP_DETECTOR,
                                  g_param_spec_enum("detector", "Detector", "What to look for, and how",
                                                    detector_type(), defaults.detector, flags));
  g_object_class_install_property(
      object_class, PROP_CASCADE,
      g_param_spec_string("cascade", "Cascade",
                          "XML file of the cascade that face-haar and face-lbp run, an error with people; unset: the "
                          "frontal face of package opencv-data",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, PROP_LABEL,
      g_param_spec_string("label", "Label", "Class name of the candidates; unset: person or face", nullptr, flags));
}

void install_search_properties(GObjectClass* object_class) {
  const crowd::Search defaults;
  g_object_class_install_property(
      object_class, PROP_SCALE_FACTOR,
      g_param_spec_double("scale-factor", "Scale factor",
                          "Ratio between neighbouring window sizes; smaller finds more windows and takes longer", 1.01,
                          4, defaults.scale_factor, live));
  g_object_class_install_property(
      object_class, PROP_WIN_STRIDE,
      g_param_spec_int(
          "win-stride", "Window stride",
          "people: step between windows, pixels of the frame scaled so that the window is 64x128. Quick in "
          "multiples of 8; on a CPU a frame takes some 4 times as long with 4, 25 times with an odd "
          "number",
          1, 64, defaults.win_stride, live));
  g_object_class_install_property(
      object_class, PROP_PADDING,
      g_param_spec_int("padding", "Padding",
                       "people: how far windows may leave the frame, pixels of the frame scaled so that the window is "
                       "64x128",
                       0, 64, defaults.padding, live));
  g_object_class_install_property(
      object_class, PROP_HIT_THRESHOLD,
      g_param_spec_double(
          "hit-threshold", "Hit threshold",
          "people: least score, the margin of the SVM; 0, OpenCV's own default, lets in more that is not a person", -10,
          10, defaults.hit_threshold, live));
  g_object_class_install_property(
      object_class, PROP_MIN_SIZE,
      g_param_spec_int(
          "min-size", "Least size",
          "Least height of a window in pixels of the frame, which is enlarged for less than the classifier's "
          "own (people 128, faces 24); a standing person fills 3/4 of the height. 0: 88 for people, the "
          "classifier's own for faces",
          0, G_MAXINT16, defaults.min_size, live));
  g_object_class_install_property(
      object_class, PROP_MAX_SIZE,
      g_param_spec_int("max-size", "Largest size",
                       "Largest height of a window in pixels of the frame; 0: as large as the frame", 0, G_MAXINT16,
                       defaults.max_size, live));
}

void install_output_properties(GObjectClass* object_class) {
  const PerFrame defaults;
  g_object_class_install_property(object_class, PROP_FIT,
                                  g_param_spec_enum("fit", "Fit", "people: what the boxes enclose", fit_type(),
                                                    defaults.search.body ? FIT_BODY : FIT_WINDOW, live));
  g_object_class_install_property(
      object_class, PROP_MAX_CANDIDATES,
      g_param_spec_uint(
          "max-candidates", "Most candidates",
          "Most windows of a frame to hand on, the best-scored; the rest is counted as overflow in stats, and in "
          "the meta's count",
          1, GST_CROWD_BOXES_MAX_CAPACITY, defaults.max_candidates, live));
  g_object_class_install_property(
      object_class, PROP_INTERVAL,
      g_param_spec_uint("interval", "Interval",
                        "Search every n-th frame; frames between carry the candidates of the last one searched", 1,
                        G_MAXUINT, defaults.interval, live));
}

}  // namespace

GType detector_type() {
  static const GEnumValue values[] = {
      {DETECTOR_PEOPLE, "Standing people: HOG and the SVM built into OpenCV", "people"},
      {DETECTOR_FACE_HAAR, "Faces: cascade of Haar features", "face-haar"},
      {DETECTOR_FACE_LBP, "Faces: cascade of local binary patterns, quicker and less sure", "face-lbp"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstCrowdDetectDetector", values);
  return type;
}

GType fit_type() {
  static const GEnumValue values[] = {
      {FIT_WINDOW, "The whole window of the detector", "window"},
      {FIT_BODY, "The part of a people window that the person fills: 5/8 of the width, 3/4 of the height", "body"},
      {0, nullptr, nullptr},
  };
  static const GType type = g_enum_register_static("GstCrowdDetectFit", values);
  return type;
}

void install_detect_properties(GObjectClass* object_class) {
  install_model_properties(object_class);
  install_search_properties(object_class);
  install_output_properties(object_class);
}

void set_detect_property(DetectSettings& settings, guint id, const GValue* value) {
  auto& [model, per_frame] = settings;
  Search& search = per_frame.search;
  switch (id) {
    case PROP_DETECTOR:
      model.detector = static_cast<Detector>(g_value_get_enum(value));
      break;
    case PROP_CASCADE:
      model.cascade = to_string(value);
      break;
    case PROP_LABEL:
      model.label = to_string(value);
      break;
    case PROP_SCALE_FACTOR:
      search.scale_factor = g_value_get_double(value);
      break;
    case PROP_WIN_STRIDE:
      search.win_stride = g_value_get_int(value);
      break;
    case PROP_PADDING:
      search.padding = g_value_get_int(value);
      break;
    case PROP_HIT_THRESHOLD:
      search.hit_threshold = g_value_get_double(value);
      break;
    case PROP_MIN_SIZE:
      search.min_size = g_value_get_int(value);
      break;
    case PROP_MAX_SIZE:
      search.max_size = g_value_get_int(value);
      break;
    case PROP_FIT:
      search.body = g_value_get_enum(value) == FIT_BODY;
      break;
    case PROP_MAX_CANDIDATES:
      per_frame.max_candidates = g_value_get_uint(value);
      break;
    case PROP_INTERVAL:
      per_frame.interval = g_value_get_uint(value);
      break;
    default:
      g_assert_not_reached();
  }
}

void get_detect_property(const DetectSettings& settings, guint id, GValue* value) {
  const auto& [model, per_frame] = settings;
  const Search& search = per_frame.search;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  switch (id) {
    case PROP_DETECTOR:
      g_value_set_enum(value, model.detector);
      break;
    case PROP_CASCADE:
      g_value_set_string(value, text_or_null(model.cascade));
      break;
    case PROP_LABEL:
      g_value_set_string(value, text_or_null(model.label));
      break;
    case PROP_SCALE_FACTOR:
      g_value_set_double(value, search.scale_factor);
      break;
    case PROP_WIN_STRIDE:
      g_value_set_int(value, search.win_stride);
      break;
    case PROP_PADDING:
      g_value_set_int(value, search.padding);
      break;
    case PROP_HIT_THRESHOLD:
      g_value_set_double(value, search.hit_threshold);
      break;
    case PROP_MIN_SIZE:
      g_value_set_int(value, search.min_size);
      break;
    case PROP_MAX_SIZE:
      g_value_set_int(value, search.max_size);
      break;
    case PROP_FIT:
      g_value_set_enum(value, search.body ? FIT_BODY : FIT_WINDOW);
      break;
    case PROP_MAX_CANDIDATES:
      g_value_set_uint(value, per_frame.max_candidates);
      break;
    case PROP_INTERVAL:
      g_value_set_uint(value, per_frame.interval);
      break;
    default:
      g_assert_not_reached();
  }
}

}  // namespace crowd
