// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/layouts.hpp"

#include <algorithm>

#include "tensors/anchors.hpp"
#include "tensors/layout_rows.hpp"

namespace crowd::tensors {

namespace {

constexpr Dim places = free_dim('N');

/// The four values of a box in tensors [b,N,channels].
Values values_by_place(std::int64_t rows, std::int64_t channels, std::uint32_t first = 0) {
  Values values;
  values.first = first;
  values.place = static_cast<std::uint32_t>(channels);
  values.channel = 1;
  values.batch = static_cast<std::uint64_t>(rows * channels);
  return values;
}

/// Planes of `places` values, one for each of the channels.
Values values_by_channel(std::int64_t channels, std::int64_t places, std::int64_t first_channel = 0) {
  Values values;
  values.first = static_cast<std::uint32_t>(first_channel * places);
  values.place = 1;
  values.channel = static_cast<std::uint32_t>(places);
  values.batch = static_cast<std::uint64_t>(channels * places);
  return values;
}

void read_activation(Plan& plan, Parameters& parameters, bool sigmoid) {
  plan.sigmoid =
      parameters.choice("activation", {sigmoid ? "sigmoid" : "none", sigmoid ? "none" : "sigmoid"}) == "sigmoid";
}

void read_coordinates(const Draft& draft, Parameters& parameters, bool relative) {
  const std::string choice =
      parameters.choice("coordinates", {relative ? "relative" : "pixels", relative ? "pixels" : "relative"});
  Plan& plan = draft.planned.plan;
  plan.unit_x = choice == "relative" ? static_cast<float>(draft.width) : 1.F;
  plan.unit_y = choice == "relative" ? static_cast<float>(draft.height) : 1.F;
}

/// Whether y comes before x.
void set_order(Plan& plan, bool y_first) {
  plan.x = y_first;
  plan.y = !y_first;
  plan.width = 2 + y_first;
  plan.height = 3 - y_first;
}

std::string set_ssd_classes(const Draft& draft, Parameters& parameters) {
  const bool background = parameters.flag("background", true);
  if (draft.channels <= background)
    return "there is no class beside the background; give background=no in [crowd] of the description if there is none";
  draft.planned.plan.classes = static_cast<std::uint32_t>(draft.channels - background);
  draft.planned.plan.scores = values_by_place(draft.places, draft.channels, background);
  draft.planned.plan.scores.output = 1;
  return {};
}

std::string wrong_anchors(std::size_t anchors, const Draft& draft, const char* remedy) {
  return "the description's grids have " + std::to_string(anchors) + " anchors and the network has " +
         std::to_string(draft.places) + "; correct " + remedy + " in [crowd]";
}

std::string draw_up_ssd_encodings(Draft& draft, Parameters& parameters) {
  constexpr double max_cells = 512, max_ratio = 100;
  constexpr std::size_t max_layers = 16, max_ratios = 16;
  Plan& plan = draft.planned.plan;
  plan.form = Form::anchor_exp;
  plan.boxes = plan.sizes = values_by_place(draft.places, 4);
  set_order(plan, parameters.choice("box-order", {"yxhw", "xywh"}) == "yxhw");
  const std::vector<double> variances = parameters.numbers("variances", {.1, .1, .2, .2}, 4, true, 1e-6, 1e6);
  plan.variance_x = static_cast<float>(variances[0]);
  plan.variance_y = static_cast<float>(variances[1]);
  plan.variance_width = static_cast<float>(variances[2]);
  plan.variance_height = static_cast<float>(variances[3]);
  read_activation(plan, parameters, true);
  SsdAnchors anchors;
  anchors.grids = parameters.wholes("grids", {19, 10, 5, 3, 2, 1}, max_layers, 1, max_cells);
  anchors.min_scale = parameters.number("min-scale", .2, 1e-6, 1);
  anchors.max_scale = parameters.number("max-scale", .95, 1e-6, 1);
  anchors.ratios = parameters.numbers("ratios", {1, 2, .5, 3, .3333}, max_ratios, false, 1 / max_ratio, max_ratio);
  anchors.reduce_first = parameters.flag("reduce-first", true);
  if (!parameters.problem().empty())
    return {};
  if (const std::size_t count = count_anchors(anchors); count != static_cast<std::size_t>(draft.places))
    return wrong_anchors(count, draft, "grids, ratios or reduce-first");
  draft.planned.anchors = make_ssd_anchors(anchors, draft.width, draft.height);
  return set_ssd_classes(draft, parameters);
}

std::string draw_up_ready_boxes(Draft& draft, Parameters& parameters, bool y_first) {
  Plan& plan = draft.planned.plan;
  plan.form = Form::corners;
  plan.boxes = plan.sizes = values_by_place(draft.places, 4);
  set_order(plan, parameters.choice("box-order", {y_first ? "yxyx" : "xyxy", y_first ? "xyxy" : "yxyx"}) == "yxyx");
  read_activation(plan, parameters, false);
  read_coordinates(draft, parameters, true);
  return set_ssd_classes(draft, parameters);
}

std::string draw_up_ssd_boxes(Draft& draft, Parameters& parameters) {
  return draw_up_ready_boxes(draft, parameters, true);
}

std::string draw_up_ultra_light_face(Draft& draft, Parameters& parameters) {
  return draw_up_ready_boxes(draft, parameters, false);
}

std::string draw_up_centerface(Draft& draft, Parameters& parameters) {
  Plan& plan = draft.planned.plan;
  const std::int64_t cell = draft.width / draft.columns;
  if (cell * draft.columns != draft.width || cell * draft.rows != draft.height)
    return "its grid of " + std::to_string(draft.columns) + "x" + std::to_string(draft.rows) +
           " cells does not divide an input of " + std::to_string(draft.width) + "x" + std::to_string(draft.height) +
           "; give multiple-of=32 in [crowd] of the description";
  draft.places = draft.rows * draft.columns;
  plan.form = Form::cell;
  plan.columns = static_cast<std::uint32_t>(draft.columns);
  plan.unit_x = plan.unit_y = static_cast<float>(cell);
  plan.classes = 1;
  plan.scores = values_by_channel(1, draft.places);
  plan.sizes = values_by_channel(2, draft.places);
  plan.sizes.output = 1;
  plan.boxes = values_by_channel(2, draft.places);
  plan.boxes.output = 2;
  plan.x = plan.width = 1;
  plan.y = plan.height = 0;
  read_activation(plan, parameters, false);
  return {};
}

/// Places are many and channels few: the other way round is another layout.
std::string check_yolo(const Draft& draft, std::int64_t extra, const char* other) {
  if (draft.channels + extra <= draft.places)
    return {};
  return "it would have " + std::to_string(draft.channels) + " classes at " + std::to_string(draft.places) +
         " places, which is another layout than described; try group-id=" + other;
}

std::string draw_up_yolo_v8(Draft& draft, Parameters& parameters) {
  Plan& plan = draft.planned.plan;
  plan.form = Form::center;
  plan.classes = static_cast<std::uint32_t>(draft.channels);
  plan.boxes = plan.sizes = values_by_channel(draft.channels + 4, draft.places);
  plan.scores = values_by_channel(draft.channels + 4, draft.places, 4);
  read_activation(plan, parameters, false);
  read_coordinates(draft, parameters, false);
  return check_yolo(draft, 4, "yolo-v5-out");
}

std::string draw_up_yolo_v5(Draft& draft, Parameters& parameters) {
  Plan& plan = draft.planned.plan;
  plan.form = Form::center;
  plan.classes = static_cast<std::uint32_t>(draft.channels);
  plan.boxes = plan.sizes = values_by_place(draft.places, draft.channels + 5);
  plan.objectness = values_by_place(draft.places, draft.channels + 5, 4);
  plan.has_objectness = true;
  plan.scores = values_by_place(draft.places, draft.channels + 5, 5);
  read_activation(plan, parameters, false);
  read_coordinates(draft, parameters, false);
  return check_yolo(draft, 5, "yolo-v8-out");
}

std::string draw_up_yolo_v26(Draft& draft, Parameters& parameters) {
  Plan& plan = draft.planned.plan;
  plan.form = Form::corners;
  plan.boxes = plan.sizes = values_by_place(draft.places, 6);
  plan.scores = values_by_place(draft.places, 6, 4);
  plan.class_is_value = true;
  if (!parameters.has("classes"))
    return "its outputs do not tell how many classes there are: add classes= to [crowd] of the description";
  plan.classes = parameters.whole("classes", 1, 1, max_classes);
  read_activation(plan, parameters, false);
  read_coordinates(draft, parameters, false);
  return {};
}

std::string draw_up_blazeface(Draft& draft, Parameters& parameters) {
  constexpr double max_cells = 512, max_alike = 64;
  constexpr std::size_t max_layers = 16;
  constexpr float clip = 100;
  Plan& plan = draft.planned.plan;
  plan.form = Form::anchor_plain;
  plan.classes = 1;
  plan.boxes = plan.sizes = values_by_place(draft.places, 16);
  plan.scores = values_by_place(draft.places, 1);
  plan.scores.output = 1;
  plan.clip = clip;
  read_activation(plan, parameters, true);
  const std::vector<double> grids = parameters.wholes("grids", {16, 8}, max_layers, 1, max_cells);
  const std::vector<double> alike = parameters.wholes("anchors-per-cell", {2, 6}, max_layers, 1, max_alike);
  if (!parameters.problem().empty())
    return {};
  if (grids.size() != alike.size())
    return "grids and anchors-per-cell in [crowd] of the description should have a number for each layer";
  if (const std::size_t count = count_anchors(grids, alike); count != static_cast<std::size_t>(draft.places))
    return wrong_anchors(count, draft, "grids or anchors-per-cell");
  draft.planned.anchors = make_cell_anchors(grids, alike, draft.width, draft.height);
  return {};
}

constexpr OutputRow ssd_encodings_outputs[] = {
    {"ssd-encodings-out-boxes", {batch_dim, places, fixed_dim(4)}, 3},
    {"ssd-encodings-out-scores", {batch_dim, places, free_dim('C')}, 3},
};
constexpr OutputRow ssd_boxes_outputs[] = {
    {"ssd-boxes-out-boxes", {batch_dim, places, fixed_dim(4)}, 3},
    {"ssd-boxes-out-scores", {batch_dim, places, free_dim('C')}, 3},
};
constexpr OutputRow centerface_outputs[] = {
    {"centerface-out-heat", {batch_dim, fixed_dim(1), free_dim('H'), free_dim('W')}, 4},
    {"centerface-out-sizes", {batch_dim, fixed_dim(2), free_dim('H'), free_dim('W')}, 4},
    {"centerface-out-offsets", {batch_dim, fixed_dim(2), free_dim('H'), free_dim('W')}, 4},
    {"centerface-out-landmarks", {batch_dim, fixed_dim(10), free_dim('H'), free_dim('W')}, 4, false},
};
constexpr OutputRow yolo_v8_outputs[] = {{"yolo-v8-out", {batch_dim, free_dim('C', 4), places}, 3}};
constexpr OutputRow yolo_v5_outputs[] = {{"yolo-v5-out", {batch_dim, places, free_dim('C', 5)}, 3}};
constexpr OutputRow yolo_v26_outputs[] = {{"yolo-v26-out", {batch_dim, places, fixed_dim(6)}, 3}};
constexpr OutputRow blazeface_outputs[] = {
    {"blazeface-out-boxes", {batch_dim, places, fixed_dim(16)}, 3},
    {"blazeface-out-scores", {batch_dim, places, fixed_dim(1)}, 3},
};
// GStreamer's name for boxes that are ready is the same for every such network.
constexpr OutputRow ultra_light_face_outputs[] = {
    {"ssd-mobilenet-v1-variant-1-out-boxes", {batch_dim, places, fixed_dim(4)}, 3},
    {"ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", {batch_dim, places, free_dim('C')}, 3},
};

constexpr const char* ssd_encodings_parameters[] = {"activation", "classes",     "background", "box-order",
                                                    "variances",  "grids",       "min-scale",  "max-scale",
                                                    "ratios",     "reduce-first"};
constexpr const char* ssd_boxes_parameters[] = {"activation", "classes", "background", "box-order", "coordinates"};
constexpr const char* centerface_parameters[] = {"activation", "classes"};
constexpr const char* yolo_parameters[] = {"activation", "classes", "coordinates"};
constexpr const char* blazeface_parameters[] = {"activation", "classes", "grids", "anchors-per-cell"};

constexpr Layout table[] = {
    {"ssd-encodings-out", ssd_encodings_outputs, ssd_encodings_parameters, draw_up_ssd_encodings},
    {"ssd-boxes-out", ssd_boxes_outputs, ssd_boxes_parameters, draw_up_ssd_boxes},
    {"centerface-out", centerface_outputs, centerface_parameters, draw_up_centerface},
    {"yolo-v8-out", yolo_v8_outputs, yolo_parameters, draw_up_yolo_v8},
    {"yolo-v5-out", yolo_v5_outputs, yolo_parameters, draw_up_yolo_v5},
    {"yolo-v26-out", yolo_v26_outputs, yolo_parameters, draw_up_yolo_v26},
    {"blazeface-out", blazeface_outputs, blazeface_parameters, draw_up_blazeface},
    {"ultra-lightweight-face-detection-rfb-320-v1-variant-1-out", ultra_light_face_outputs, ssd_boxes_parameters,
     draw_up_ultra_light_face},
};

}  // namespace

std::span<const Layout> layouts() {
  return table;
}

}  // namespace crowd::tensors
