// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensordec/frametensors.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "tensors/textfile.hpp"

namespace crowd {

namespace {

using tensors::Type;

std::optional<Type> type_of(const GstTensor& tensor) {
  switch (tensor.data_type) {
    case GST_TENSOR_DATA_TYPE_FLOAT32:
      return Type::float32;
    case GST_TENSOR_DATA_TYPE_FLOAT16:
      return Type::float16;
    default:
      return std::nullopt;
  }
}

bool has_one_picture(const GstTensor& tensor) {
  return tensor.num_dims > 0 && tensor.dims[0] == 1;
}

std::string id_of(const GstTensor& tensor) {
  return tensor.id ? tensors::shortened(g_quark_to_string(tensor.id)) : "(without an id)";
}

bool is_named(const GstTensor& tensor, const NeededTensor& needed) {
  return tensor.id && (tensor.id == needed.id || tensor.id == needed.name);
}

/// The name of the description's output that a tensor is by its id, else the id.
std::string name_of(const TensorNetwork& network, const GstTensor& tensor) {
  const auto needed = std::ranges::find_if(network.needed, [&](const auto& one) { return is_named(tensor, one); });
  return needed == network.needed.end() ? id_of(tensor) : network.description.outputs[needed->index].name;
}

bool has_dims(const GstTensor& tensor, const tensors::Dims& dims) {
  return std::equal(dims.begin(), dims.end(), tensor.dims, tensor.dims + tensor.num_dims,
                    [](std::int64_t a, gsize b) { return static_cast<gsize>(a) == b; });
}

template <typename Do>
void for_each_meta(GstBuffer* frame, Do what) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(frame, &state, GST_TENSOR_META_API_TYPE))
    what(*reinterpret_cast<const GstTensorMeta*>(meta));
}

const GstTensor* find_tensor(const GstTensorMeta& meta, const NeededTensor& needed) {
  for (gsize i = 0; i < meta.num_tensors; i++)
    if (const GstTensor* tensor = meta.tensors[i]; tensor && is_named(*tensor, needed))
      return tensor;
  return nullptr;
}

}  // namespace

void TensorFinder::match(const GstTensorMeta& meta) {
  for (const TensorNetwork& network : networks_) {
    matched_.clear();
    for (const NeededTensor& needed : network.needed)
      if (const GstTensor* tensor = find_tensor(meta, needed))
        matched_.push_back(tensor);
    if (matched_.size() != network.needed.size())
      continue;
    // Another description of the same tensors: the first counts.
    if (found_.tensors == matched_)
      continue;
    if (found_.network) {
      found_.ambiguous = true;
      return;
    }
    found_.network = &network;
    found_.tensors.swap(matched_);
  }
}

// Those that cannot be an output of the network are left out, unless there are no others to name in a message.
void TensorFinder::take_all(const GstTensorMeta& meta) {
  if (found_.network)
    return;
  for (const bool any : {false, true})
    for (gsize i = 0; i < meta.num_tensors && (!any || found_.tensors.empty()); i++)
      if (const GstTensor* tensor = meta.tensors[i]; tensor && type_of(*tensor) && (any || has_one_picture(*tensor)))
        found_.tensors.push_back(tensor);
  if (!found_.tensors.empty())
    found_.network = &networks_.front();
}

std::string TensorFinder::unknown_in(GstBuffer* frame) const {
  constexpr std::size_t max_length = 300;
  std::string ids;
  for_each_meta(frame, [&](const GstTensorMeta& meta) {
    for (gsize i = 0; i < meta.num_tensors && ids.size() < max_length; i++)
      if (meta.tensors[i])
        ids += (ids.empty() ? "" : ", ") + id_of(*meta.tensors[i]);
  });
  if (ids.empty())
    return {};
  std::string known;
  for (const TensorNetwork& network : networks_) {
    known += (known.empty() ? "" : "; ") + network.name + " has ";
    for (const NeededTensor& needed : network.needed)
      known += (&needed == &network.needed.front() ? "" : " and ") + std::string(g_quark_to_string(needed.id));
  }
  return "they are " + ids + ", and " + known + ". Set model-info to a description of the network, or use its decoder";
}

bool TensorFinder::find(GstBuffer* frame, std::string& problem) {
  found_.network = nullptr;
  found_.tensors.clear();
  found_.ambiguous = false;
  for_each_meta(frame, [this](const GstTensorMeta& meta) {
    if (!found_.ambiguous)
      match(meta);
  });
  if (!found_.network && by_shape_)
    for_each_meta(frame, [this](const GstTensorMeta& meta) { take_all(meta); });
  if (found_.network)
    return true;
  problem = unknown_in(frame);
  return problem.empty();
}

bool describe_tensors(const FrameTensors& found, std::vector<tensors::TensorInfo>& infos, std::string& problem) {
  infos.clear();
  for (const GstTensor* tensor : found.tensors) {
    const auto type = type_of(*tensor);
    if (!type) {
      problem = id_of(*tensor) + " is neither of float32 nor of float16: let the network give one of these";
      return false;
    }
    if (!has_one_picture(*tensor)) {
      problem = id_of(*tensor) + " has a batch of " + (tensor->num_dims ? std::to_string(tensor->dims[0]) : "none") +
                ", and a frame is one: let the network's first dimension be 1";
      return false;
    }
    tensors::TensorInfo info{name_of(*found.network, *tensor), {}, *type, {}};
    std::transform(tensor->dims, tensor->dims + tensor->num_dims, std::back_inserter(info.dims),
                   [](gsize size) { return static_cast<std::int64_t>(std::min<gsize>(size, G_MAXINT64)); });
    infos.push_back(std::move(info));
  }
  return true;
}

bool are_described(const FrameTensors& found, const std::vector<tensors::TensorInfo>& infos) {
  return std::equal(found.tensors.begin(), found.tensors.end(), infos.begin(), infos.end(),
                    [&](const GstTensor* tensor, const tensors::TensorInfo& info) {
                      return type_of(*tensor) == info.type && has_dims(*tensor, info.dims);
                    });
}

}  // namespace crowd
