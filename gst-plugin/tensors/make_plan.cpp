// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From a description and a network's outputs to a plan.

#include <algorithm>

#include "tensors/layout_rows.hpp"

namespace crowd::tensors {

namespace {

void set_type(Values& values, const Planned& planned) {
  values.type = planned.infos[values.output].type;
}

std::string check_sizes(const Draft& draft) {
  const auto& plan = draft.planned.plan;
  if (draft.places < 1 || draft.places > max_places)
    return "it has " + std::to_string(draft.places) + " places for candidates, of at most " +
           std::to_string(max_places) + ": take smaller inputs or tiles";
  if (plan.classes < 1 || plan.classes > max_classes)
    return "it has " + std::to_string(plan.classes) + " classes, of at most " + std::to_string(max_classes);
  return {};
}

std::string check_classes(const Draft& draft, Parameters& parameters) {
  const std::uint32_t wanted = parameters.whole("classes", draft.planned.plan.classes, 1, max_classes);
  if (wanted == draft.planned.plan.classes || !parameters.problem().empty())
    return {};
  return "it has " + std::to_string(draft.planned.plan.classes) +
         " classes, and the description says classes=" + std::to_string(wanted) +
         " in [crowd]: correct it, or the group-id";
}

std::string draw_up(const Layout& layout, const Description& description, Draft& draft) {
  Parameters parameters(description.parameters);
  if (draft.channels > max_classes + 1 || draft.places > max_places || draft.rows > max_places ||
      draft.columns > max_places)
    return "its outputs are larger than any that are known: at most " + std::to_string(max_places) + " places and " +
           std::to_string(max_classes) + " classes";
  std::string problem = layout.draw_up(draft, parameters);
  if (problem.empty())
    problem = parameters.problem();
  if (problem.empty())
    problem = check_sizes(draft);
  if (problem.empty())
    problem = check_classes(draft, parameters);
  return problem.empty() ? parameters.problem() : problem;
}

}  // namespace

const Layout* find_layout(const std::string& group_id) {
  for (const Layout& layout : layouts())
    if (layout.group_id == group_id)
      return &layout;
  return nullptr;
}

std::string layout_names() {
  std::string names;
  for (std::size_t i = 0; i < layouts().size(); i++)
    names += (i == 0 ? "" : i + 1 == layouts().size() ? " or " : ", ") + std::string(layouts()[i].group_id);
  return names;
}

bool has_parameter(const Layout& layout, const std::string& key) {
  return std::ranges::find(layout.parameters, key) != layout.parameters.end();
}

std::string parameter_names(const Layout& layout) {
  std::string names;
  for (const char* name : layout.parameters)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

bool has_output(const Layout& layout, const std::string& id) {
  return std::ranges::any_of(layout.outputs, [&](const OutputRow& row) { return row.id == id; });
}

bool needs_output(const Layout& layout, const std::string& id) {
  return std::ranges::any_of(layout.outputs, [&](const OutputRow& row) { return row.id == id && row.read; });
}

std::string output_names(const Layout& layout) {
  std::string names;
  for (const OutputRow& row : layout.outputs)
    names += (names.empty() ? "" : ", ") + std::string(row.id) + " " + text_of(row);
  return names;
}

bool make_plan(const Description& description, const std::vector<TensorInfo>& outputs, int width, int height,
               Planned& planned, std::string& problem) {
  const Layout* layout = find_layout(description.group_id);
  if (!layout) {
    problem = "group-id=" + description.group_id + " in the description should be " + layout_names();
    return false;
  }
  if (width < 1 || height < 1) {
    problem = "an input of " + std::to_string(width) + "x" + std::to_string(height) + " has no pixels";
    return false;
  }
  for (const auto& [key, value] : description.parameters)
    if (!has_parameter(*layout, key)) {
      problem =
          key + "=" + value + " in the description: group-id=" + layout->group_id + " has " + parameter_names(*layout);
      return false;
    }
  planned = {};
  Draft draft{.width = width, .height = height, .planned = planned};
  if (!match_outputs(*layout, description, outputs, draft, problem))
    return false;
  const std::string refused = draw_up(*layout, description, draft);
  if (!refused.empty()) {
    problem = std::string("the network does not fit group-id=") + layout->group_id + ": " + refused;
    return false;
  }
  planned.plan.places = static_cast<std::uint32_t>(draft.places);
  for (Values* values : {&planned.plan.boxes, &planned.plan.sizes, &planned.plan.scores, &planned.plan.objectness})
    set_type(*values, planned);
  return true;
}

}  // namespace crowd::tensors
