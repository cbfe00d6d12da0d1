// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The networks whose tensors crowdtensordec knows, by the ids of tensors.
#pragma once

#include <glib.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/labels.hpp"
#include "tensors/description.hpp"

namespace crowd {

/// A tensor that is needed to decode a network.
struct NeededTensor {
  GQuark id;          ///< what it holds, see tensors/layouts.hpp
  GQuark name;        ///< in the model's file
  std::size_t index;  ///< among the outputs of the description
};

struct TensorNetwork {
  std::string name;  ///< of the description
  tensors::Description description;
  bool frame_is_input;  ///< whatever the description says of the input
  std::vector<NeededTensor> needed;
  Labels labels;  ///< empty where there are no names
};

/// That of `model_info`, a file or the name of a description that is shipped. None, with the reason, where it cannot be
/// read.
std::vector<TensorNetwork> read_network(const std::string& model_info, std::string& problem);

/// All that are shipped. None, with the reason, where there are no descriptions.
std::vector<TensorNetwork> read_shipped_networks(std::string& problem);

}  // namespace crowd
