// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/networks.hpp"

#include <optional>
#include <utility>

#include "tensors/layouts.hpp"
#include "tensors/shipped.hpp"

namespace crowd {

namespace {

GQuark quark_of(const std::string& text) {
  return g_quark_from_string(text.c_str());
}

std::vector<NeededTensor> needed_by(const tensors::Description& description) {
  std::vector<NeededTensor> needed;
  const tensors::Layout& layout = *tensors::find_layout(description.group_id);
  for (std::size_t i = 0; i < description.outputs.size(); i++) {
    const tensors::TensorInfo& output = description.outputs[i];
    if (tensors::needs_output(layout, output.id))
      needed.push_back({quark_of(output.id), quark_of(output.name), i});
  }
  return needed;
}

std::optional<TensorNetwork> read(const std::string& name, bool frame_is_input, std::string& problem) {
  const std::string path = tensors::find_description(name, problem);
  if (path.empty())
    return std::nullopt;
  auto description = tensors::read_description(path, problem);
  if (!description)
    return std::nullopt;
  std::vector<std::string> names;
  if (!description->labels.empty()) {
    auto read = tensors::read_labels(description->labels, problem);
    if (!read)
      return std::nullopt;
    names = *std::move(read);
  }
  // Messages then name tensors as the frame does.
  if (frame_is_input)
    for (tensors::TensorInfo& output : description->outputs)
      output.name = output.id;
  std::vector<NeededTensor> needed = needed_by(*description);
  return TensorNetwork{name, *std::move(description), frame_is_input, std::move(needed), labels_of(names)};
}

}  // namespace

std::vector<TensorNetwork> read_network(const std::string& model_info, std::string& problem) {
  std::vector<TensorNetwork> networks;
  if (auto network = read(model_info, false, problem))
    networks.push_back(*std::move(network));
  return networks;
}

std::vector<TensorNetwork> read_shipped_networks(std::string& problem) {
  std::vector<TensorNetwork> networks;
  for (const std::string& name : tensors::description_names())
    if (auto network = read(name, true, problem))
      networks.push_back(*std::move(network));
  if (networks.empty() && problem.empty())
    problem = "no descriptions of networks are installed: set GST_CROWD_LAYOUTS to their folder, or model-info";
  return networks;
}

}  // namespace crowd
