// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Networks without a network: the shipped descriptions, outputs of a size that tests take little time for, and values
// made up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensors/decoder.hpp"
#include "tensors/description.hpp"

namespace crowd::test {

struct Network {
  std::string name;
  tensors::Description description;
  std::vector<tensors::TensorInfo> outputs;  ///< as an engine gives them
  int width = 0, height = 0;
};

/// Names of the shipped descriptions, one for each layout.
inline constexpr const char* network_names[] = {"person-net", "ssd-boxes", "face-net",  "yolo-v8",
                                                "yolo-v5",    "yolo-v26",  "blazeface", "ultra-light-face"};

/// Fails the test where the description cannot be read.
Network make_network(const std::string& name, tensors::Type type = tensors::Type::float32);

/// What a network says to a batch.
struct Answer {
  std::vector<std::vector<float>> values;          ///< also of half precision, as they are after rounding
  std::vector<std::vector<std::uint16_t>> halves;  ///< empty where the type is float32
  std::vector<tensors::Dims> dims;
  std::vector<tensors::Type> types;

  std::vector<tensors::Tensor> tensors() const;
  /// Element [i][j][k] or [i][j][k][l] of an output.
  float at(std::size_t output, std::size_t i, std::size_t j, std::size_t k, std::size_t l = 0) const;
  void set(std::size_t output, std::size_t element, float value);
};

/// Values such as detectors give: few scores are high. With `odd` ones NaN, infinite, huge or equal are among them.
Answer make_answer(const Network& network, unsigned batch, unsigned seed, bool odd = false);

/// Rounds to nearest, ties to even.
std::uint16_t half_of(float value);
/// By the definition of the format.
float value_of_half(std::uint16_t half);

std::vector<tensors::InputPlacement> make_placements(unsigned batch);

}  // namespace crowd::test
