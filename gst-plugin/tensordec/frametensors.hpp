// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which tensors of a frame are those of a network.
#pragma once

#include <gst/analytics/analytics.h>
#include <gst/gst.h>

#include <string>
#include <vector>

#include "tensordec/networks.hpp"
#include "tensors/tensor.hpp"

namespace crowd {

/// Of the frame that find() was last called for, and valid as long as that has them.
struct FrameTensors {
  const TensorNetwork* network = nullptr;   ///< null where there are none
  std::vector<const GstTensor*> tensors{};  ///< the network's outputs, maybe among others
  bool ambiguous = false;                   ///< there are those of another network as well, or of another run of it
};

/// For one thread.
class TensorFinder {
 public:
  /// With `by_shape` tensors without a known id may be those of the one network, by their shapes.
  TensorFinder(std::vector<TensorNetwork> networks, bool by_shape)
      : networks_(std::move(networks)), by_shape_(by_shape) {}

  /// False, with the reason and remedy, where the frame has tensors, and they are of no network that is known.
  bool find(GstBuffer* frame, std::string& problem);

  const FrameTensors& found() const {
    return found_;
  }

 private:
  void match(const GstTensorMeta& meta);
  void take_all(const GstTensorMeta& meta);
  std::string unknown_in(GstBuffer* frame) const;

  std::vector<TensorNetwork> networks_;
  bool by_shape_;
  FrameTensors found_;
  std::vector<const GstTensor*> matched_;
};

/// Types, dims and names of the tensors, as the description's outputs are named where ids say which is which. Nothing,
/// with the reason and remedy, where one has a type or dims that none can be decoded of.
bool describe_tensors(const FrameTensors& tensors, std::vector<tensors::TensorInfo>& infos, std::string& problem);

/// Whether describe_tensors() would say the same.
bool are_described(const FrameTensors& tensors, const std::vector<tensors::TensorInfo>& infos);

}  // namespace crowd
