// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From a network's outputs to candidates, in the order of the batch and in it of the network's own (anchors, cells),
// raw: no NMS. A place gives one candidate at most, of its best class: the one whose value in the tensor is highest, of
// equals the lowest class id; a value of NaN is above all. It is a candidate if its score and its objectness are not
// below their thresholds and the filter lets its class through. So one with a score of NaN is handed on, for crowdnms
// to count as invalid; where a network gives the class as a number that is none, the score is NaN and the class 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensors/description.hpp"
#include "tensors/placement.hpp"
#include "tensors/tensor.hpp"

namespace crowd::tensors {

struct RawBox {
  float x1, y1, x2, y2;  ///< pixels of the frame, half-open
  float score;
  std::uint32_t class_id;
  bool operator==(const RawBox&) const = default;
};

struct DecodeSettings {
  float score_threshold = 0.1F;
  std::vector<std::uint32_t> classes;  ///< bit i of word i / 32: class i is let through; empty: all are
  float objectness_threshold = 0;      ///< of layouts that have one, before it multiplies the score
};

/// For one layout and one size of input. Const functions may be called from several threads.
class Decoder {
 public:
  /// For a network that has these outputs (the engine's, in any order, matched by name or, where there is one of that
  /// shape alone, by shape) and an input of `width` x `height`. Null, with the reason and remedy, where they are not
  /// what the description's layout has.
  static std::unique_ptr<Decoder> make(const Description& description, const std::vector<TensorInfo>& outputs,
                                       int width, int height, std::string& problem);

  virtual ~Decoder() = default;

  /// Classes that the outputs tell apart.
  virtual unsigned classes() const = 0;

  /// Places for candidates in the outputs of one input: anchors or cells.
  virtual std::size_t places() const = 0;

  /// Appends the candidates of outputs in host memory, in the order of make(), to `boxes`. placements[i] is of the i-th
  /// of the batch. False, with the reason, where shapes are not those that make() saw but for the batch.
  virtual bool decode(std::span<const Tensor> outputs, std::span<const InputPlacement> placements,
                      const DecodeSettings& settings, std::vector<RawBox>& boxes, std::string& problem) const = 0;
};

}  // namespace crowd::tensors
