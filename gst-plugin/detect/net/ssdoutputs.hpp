// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// An SSD's layers of anchors, gathered in one tensor as TensorFlow gathers them: by layer, row, column and anchor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensors/tensor.hpp"

namespace crowd::net {

class SsdOutputs {
 public:
  /// For layers of [1, anchors x 4, rows, columns] and [1, anchors x classes, rows, columns]. Nothing, with the reason,
  /// where they do not go together.
  static std::optional<SsdOutputs> make(const std::vector<tensors::Dims>& boxes,
                                        const std::vector<tensors::Dims>& classes, std::string& problem);

  std::int64_t anchors() const {
    return anchors_;
  }
  std::int64_t classes() const {
    return classes_;
  }

  /// From the layers' data, in the order of make(), to [anchors, 4] and [anchors, classes].
  void gather(const std::vector<const float*>& boxes, const std::vector<const float*>& classes, float* encodings,
              float* logits) const;

 private:
  struct Layer {
    std::int64_t cells, anchors;
  };

  static void gather_one(const std::vector<Layer>& layers, const std::vector<const float*>& planes, std::int64_t values,
                         float* out);

  std::vector<Layer> layers_;
  std::int64_t anchors_ = 0;
  std::int64_t classes_ = 0;
};

}  // namespace crowd::net
