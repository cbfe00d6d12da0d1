// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which output of a network is which of a layout.

#include <algorithm>

#include "tensors/layout_rows.hpp"

namespace crowd::tensors {

namespace {

constexpr std::size_t none = ~std::size_t{};

/// Whether an output of these dims may be this of the layout. The first dimension, the batch, may be anything.
bool fits(const OutputRow& row, const Dims& dims) {
  if (dims.size() != row.rank)
    return false;
  for (unsigned i = 1; i < row.rank; i++)
    if (row.dims[i].symbol ? dims[i] <= row.dims[i].plus : dims[i] != row.dims[i].plus)
      return false;
  return true;
}

/// Whether it is what was described, too.
bool fits(const TensorInfo& described, const Dims& dims) {
  if (described.dims.empty())
    return true;
  if (described.dims.size() != dims.size())
    return false;
  for (std::size_t i = 1; i < dims.size(); i++)
    if (described.dims[i] != any_size && described.dims[i] != dims[i])
      return false;
  return true;
}

std::string list_of(const std::vector<TensorInfo>& outputs) {
  std::string list;
  for (const TensorInfo& output : outputs)
    list += (list.empty() ? "" : ", ") + output.name + " " + text_of(output.dims);
  return list.empty() ? "none" : list;
}

const TensorInfo* find_id(const std::vector<TensorInfo>& tensors, const std::string& id) {
  const auto found = std::ranges::find(tensors, id, &TensorInfo::id);
  return found == tensors.end() ? nullptr : &*found;
}

std::size_t find_name(const std::vector<TensorInfo>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &TensorInfo::name);
  return found == tensors.end() ? none : static_cast<std::size_t>(found - tensors.begin());
}

/// The only one that fits, of those that have no name of the description.
std::size_t find_shape(const OutputRow& row, const TensorInfo& described, const Description& description,
                       const std::vector<TensorInfo>& outputs) {
  std::size_t found = none;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (!fits(row, outputs[i].dims) || !fits(described, outputs[i].dims) ||
        find_name(description.outputs, outputs[i].name) != none)
      continue;
    if (found != none)
      return none;
    found = i;
  }
  return found;
}

std::int64_t* size_of(Draft& draft, char symbol) {
  switch (symbol) {
    case 'N':
      return &draft.places;
    case 'C':
      return &draft.channels;
    case 'H':
      return &draft.rows;
    case 'W':
      return &draft.columns;
    default:
      return nullptr;
  }
}

/// False where it says another size than the outputs before it.
bool take_sizes(const OutputRow& row, const Dims& dims, Draft& draft) {
  for (unsigned i = 1; i < row.rank; i++) {
    std::int64_t* const size = size_of(draft, row.dims[i].symbol);
    if (!size)
      continue;
    const std::int64_t here = dims[i] - row.dims[i].plus;
    if (*size != 0 && *size != here)
      return false;
    *size = here;
  }
  return true;
}

bool match_output(const OutputRow& row, const TensorInfo& described, const Description& description,
                  const std::vector<TensorInfo>& outputs, std::size_t& found, std::string& problem) {
  found = find_name(outputs, described.name);
  if (found == none)
    found = find_shape(row, described, description, outputs);
  if (found == none) {
    problem = "the network has no output " + described.name + ", nor one alone of the shape " + text_of(row) + " of " +
              row.id + "; it has: " + list_of(outputs) + ". Name the group of the description as the output is named";
    return false;
  }
  const TensorInfo& output = outputs[found];
  if (!fits(row, output.dims) || !fits(described, output.dims)) {
    problem = "the network's output " + output.name + " is " + text_of(output.dims) + ", where the description has " +
              (described.dims.empty() ? text_of(row) : text_of(described.dims)) + " and " + row.id + " is " +
              text_of(row) + ": describe it as it is, or with another group-id";
    return false;
  }
  if (output.type == Type::uint8) {
    problem = "the network's output " + output.name + " is uint8: take a model with outputs in float32 or float16";
    return false;
  }
  return true;
}

}  // namespace

std::string text_of(const OutputRow& row) {
  std::string text;
  for (unsigned i = 0; i < row.rank; i++) {
    const auto [symbol, plus] = row.dims[i];
    text += text.empty() ? "[" : ",";
    text += plus || !symbol ? std::to_string(plus) : "";
    text += plus && symbol ? "+" : "";
    text += symbol ? std::string(1, symbol) : "";
  }
  return text + "]";
}

std::string text_of(const Dims& dims) {
  std::string text;
  for (const std::int64_t size : dims) {
    text += text.empty() ? "[" : ",";
    text += size == any_size ? "any" : std::to_string(size);
  }
  return text.empty() ? "[]" : text + "]";
}

bool match_outputs(const Layout& layout, const Description& description, const std::vector<TensorInfo>& outputs,
                   Draft& draft, std::string& problem) {
  for (const OutputRow& row : layout.outputs) {
    if (!row.read)
      continue;
    const TensorInfo* described = find_id(description.outputs, row.id);
    if (!described) {
      problem = std::string("the description has no output with id=") + row.id + ", which group-id=" + layout.group_id +
                " needs: add a group for it";
      return false;
    }
    std::size_t found = none;
    if (!match_output(row, *described, description, outputs, found, problem))
      return false;
    if (std::ranges::find(draft.planned.outputs, found) != draft.planned.outputs.end() ||
        !take_sizes(row, outputs[found].dims, draft)) {
      problem = "the network's outputs do not go together as " + output_names(layout) +
                "; it has: " + list_of(outputs) + ". Describe which is which by their names";
      return false;
    }
    draft.planned.outputs.push_back(found);
    draft.planned.infos.push_back(outputs[found]);
  }
  return true;
}

}  // namespace crowd::tensors
