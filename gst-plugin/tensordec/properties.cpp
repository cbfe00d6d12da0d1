// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/setting_rows.hpp"
#include "tensordec/settings.hpp"

namespace crowd {

namespace {

using Table = PropertyTable<TensorDecSettings>;

constexpr auto nms_of = [](auto& settings) -> auto& {
  return settings.nms;
};
constexpr auto class_threshold_of = [](auto& settings) -> auto& {
  return settings.class_threshold;
};

constexpr GEnumValue compatibility_values[] = {
    {int(Compatibility::none), "NMS of the boxes as the network gives them, as crowdnms does it", "none"},
    {int(Compatibility::stock),
     "the boxes, to the pixel, of GStreamer 1.28's yolov8tensordec or ultralightfacedetectortensordec for tensors that "
     "these decode; on the CPU. class-agnostic, box-confidence-threshold and model-info's input do not count then",
     "stock"},
    {0, nullptr, nullptr}};

GType compatibility_type() {
  static const GType type = register_enum("GstCrowdTensorDecCompatibility", compatibility_values);
  return type;
}

void add_threshold_properties(Table& table, const TensorDecSettings& defaults) {
  table.add(
      g_param_spec_float("iou-threshold", "Overlap threshold",
                         "Intersection over union of two boxes, 0 to 1, above which the worse-scored one is suppressed",
                         0, 1, static_cast<float>(defaults.nms.params.overlap_threshold), controllable),
      [](const TensorDecSettings& s, GValue* value) {
        g_value_set_float(value, static_cast<float>(s.nms.params.overlap_threshold));
      },
      [](TensorDecSettings& s, const GValue* value) {
        s.nms.params.overlap_threshold = static_cast<double>(g_value_get_float(value));
      });
  table.add(g_param_spec_float("class-confidence-threshold", "Class confidence threshold",
                               "Lowest score, 0 to 1, of a candidate: that of its best class, times its objectness "
                               "where the network gives one",
                               0, 1, defaults.class_threshold, controllable),
            class_threshold_of);
  table.add(g_param_spec_float("score-threshold", "Score threshold",
                               "The same as class-confidence-threshold, 0 to 1, by the name that GStreamer's decoders "
                               "of SSD and of faces have for it",
                               0, 1, defaults.class_threshold, controllable),
            class_threshold_of);
  table.add(
      g_param_spec_float("box-confidence-threshold", "Box confidence threshold",
                         "Lowest objectness, 0 to 1, of a candidate; not used for networks that give none "
                         "(all but YOLOv5)",
                         0, 1, defaults.box_threshold, controllable),
      [](auto& s) -> auto& { return s.box_threshold; });
}

void add_limit_properties(Table& table, const TensorDecSettings& defaults) {
  table.add(
      g_param_spec_uint("max-detections", "Max detections",
                        "Survivors of a frame that are kept, the best-ranked ones; the rest is counted as clipped "
                        "in stats",
                        1, G_MAXUINT, defaults.nms.max_detections, controllable),
      [](auto& s) -> auto& { return s.nms.max_detections; });
  table.add(
      g_param_spec_uint("max-candidates", "Max candidates",
                        "Candidates of a frame, above the thresholds, that are clustered: the best-scored ones. "
                        "Memory is set aside for them, about 100 bytes each. The rest is counted as overflow in "
                        "stats",
                        1, max_candidates_limit, defaults.nms.max_candidates, controllable),
      [](auto& s) -> auto& { return s.nms.max_candidates; });
}

void add_network_properties(Table& table, const TensorDecSettings& defaults) {
  table.add(
      g_param_spec_enum("compatibility", "Compatibility", "Whose boxes are left, where rules differ in details",
                        compatibility_type(), int(defaults.compatibility), controllable),
      [](auto& s) -> auto& { return s.compatibility; });
  table.add(
      g_param_spec_string("model-info", "Description of the model",
                          "What the tensors are, and how the frame became the network's input: a file with the "
                          "keys of GStreamer's .modelinfo or the name of one that is shipped; unset: the first "
                          "that is shipped and has the tensors' ids, and the frame is the input",
                          nullptr, settable_before_start),
      [](auto& s) -> auto& { return s.model_info; });
  table.add(
      g_param_spec_string("label-file", "Label file",
                          "Names of the classes, one a line; unset: what the description says", nullptr,
                          settable_before_start),
      [](auto& s) -> auto& { return s.label_file; });
}

}  // namespace

const PropertyTable<TensorDecSettings>& tensordec_properties() {
  static const Table table = [] {
    const TensorDecSettings defaults;
    Table rows;
    add_threshold_properties(rows, defaults);
    add_limit_properties(rows, defaults);
    add_class_property(rows, nms_of);
    add_network_properties(rows, defaults);
    add_output_property(rows, nms_of);
    add_backend_properties(rows, nms_of);
    return rows;
  }();
  return table;
}

}  // namespace crowd
