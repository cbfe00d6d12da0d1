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
      {DETECTOR_PERSON_NET, "People: network (SSDLite), its file from gst-crowd-fetch-model", "person-net"},
      {DETECTOR_FACE_NET, "Faces: network (CenterFace), its file from gst-crowd-fetch-model", "face-net"},
      {DETECTOR_NETWORK, "What the network of the properties model and model-info finds", "network"},
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

GType engine_type() {
  static const GEnumValue values[] = {
      {ENGINE_AUTO, "The first of the others that is there and reads the model", "auto"},
      {ENGINE_OPENCV, "OpenCV's dnn, on the CPU: ONNX and frozen SSD graphs of TensorFlow", "opencv"},
      {ENGINE_ONNXRUNTIME, "ONNX Runtime, on the CPU or, for frames in CUDA memory, on the GPU: ONNX", "onnxruntime"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCrowdDetectEngine", values);
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
      g_param_spec_string("label", "Label",
                          "Class name of the candidates of a detector with one class; unset: person or face", nullptr,
                          settable_before_start),
      [](auto& s) -> auto& { return s.model.label; });
}

void add_network_properties(Table& table) {
  const Model defaults;
  table.add(
      g_param_spec_string("model", "Model",
                          "networks: file of the model, .onnx or, for SSD, .pb; unset: the one that "
                          "gst-crowd-fetch-model has put into the user's cache (detector=network has none)",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.model.file; });
  table.add(
      g_param_spec_string("model-info", "Description of the model",
                          "networks: what the model's tensors are, a file with the keys of GStreamer's .modelinfo or "
                          "the name of one that is shipped; unset: MODEL.modelinfo beside the file that model "
                          "names, else the detector's",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.model.description; });
  table.add(
      g_param_spec_string("label-file", "Label file",
                          "networks: names of the classes, one a line; unset: what the description says", nullptr,
                          settable_before_start),
      [](auto& s) -> auto& { return s.model.label_file; });
  table.add(
      g_param_spec_string("class-filter", "Class filter",
                          "networks: labels or numbers (from 0) of the classes to hand on, separated by commas; unset: "
                          "all",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.model.class_filter; });
  table.add(
      g_param_spec_enum("engine", "Engine", "networks: the library that runs the model", engine_type(), defaults.engine,
                        settable_before_start),
      [](auto& s) -> auto& { return s.model.engine; });
  table.add(
      g_param_spec_uint("threads", "Threads",
                        "networks: threads of the CPU for a frame; 0: as many as the engine takes. OpenCV has one "
                        "number for all that it does in a program",
                        0, 1024, defaults.threads, settable_before_start),
      [](auto& s) -> auto& { return s.model.threads; });
  table.add(
      g_param_spec_boolean(
          "cuda-graph", "CUDA graph",
          "networks in CUDA memory: record a run before the first frame, which takes milliseconds, and "
          "replay it: less CPU time a frame, and up to 2.6 times as many frames a second. CUDA refuses waits "
          "for the whole device to all threads of the process meanwhile, which decoders that are opened or "
          "closed may not endure",
          defaults.cuda_graph, settable_before_start),
      [](auto& s) -> auto& { return s.model.cuda_graph; });
}

void add_tile_properties(Table& table) {
  const PerFrame defaults;
  table.add(
      g_param_spec_double("score-threshold", "Score threshold",
                          "networks: min score of a candidate, 0 to 1; lower ones are not handed on", 0, 1,
                          defaults.score_threshold, controllable),
      [](auto& s) -> auto& { return s.per_frame.score_threshold; });
  table.add(
      g_param_spec_string("tiles", "Tiles",
                          "networks: COLUMNSxROWS, up to 8x8: the frame is searched in so many overlapping parts, and "
                          "as a whole, which finds smaller objects and takes as many times as long",
                          "1x1", settable_at_any_time),
      [](const DetectSettings& s, GValue* value) { g_value_set_string(value, s.tiles.c_str()); },
      [](DetectSettings& s, const GValue* value) {
        s.tiles = text_of(value);
        if (!net::parse_tiles(s.tiles, s.per_frame.tiles))
          s.per_frame.tiles.columns = s.per_frame.tiles.rows = 0;
      });
  table.add(
      g_param_spec_double("tile-overlap", "Tile overlap",
                          "networks: what neighbouring tiles share, as a part of a tile's side. An object as large as "
                          "that is whole in one of them",
                          0, net::max_tile_overlap, defaults.tiles.overlap, controllable),
      [](auto& s) -> auto& { return s.per_frame.tiles.overlap; });
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
          "people: minimum score, the margin of the SVM; 0, OpenCV's own default, lets in more that is not a person",
          -10, 10, defaults.hit_threshold, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.hit_threshold; });
  table.add(
      g_param_spec_int(
          "min-size", "Min size",
          "Minimum height of a window in pixels of the frame, which is enlarged for less than the classifier's "
          "own (people 128, faces 24); a standing person fills 3/4 of the height. 0: 88 for people, the "
          "classifier's own for faces",
          0, G_MAXINT16, defaults.min_size, controllable),
      [](auto& s) -> auto& { return s.per_frame.search.min_size; });
  table.add(
      g_param_spec_int("max-size", "Max size",
                       "Maximum height of a window in pixels of the frame; 0: as large as the frame", 0, G_MAXINT16,
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
      g_param_spec_uint("max-candidates", "Max candidates",
                        "Maximum number of candidates of a frame to hand on, the best-scored; the rest is counted as "
                        "overflow in stats, and in "
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
    add_network_properties(rows);
    add_tile_properties(rows);
    return rows;
  }();
  return table;
}

}  // namespace crowd
