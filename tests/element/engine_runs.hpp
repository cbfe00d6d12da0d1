// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What tests of engines share.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "detect/net/engine.hpp"

namespace crowd::test {

/// The row of an engine that this build has.
inline const net::EngineRow& engine_row(const std::string& name) {
  for (const net::EngineRow& row : net::engines()) {
    if (row.name == name)
      return row;
  }
  throw std::invalid_argument("no engine " + name);
}

/// The same values at each call.
inline std::vector<float> noise(std::size_t values, float low, float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> range(low, high);
  std::vector<float> result(values);
  for (float& value : result)
    value = range(random);
  return result;
}

/// What each output holds.
inline std::vector<std::vector<float>> run(net::Engine& engine, const std::vector<float>& input,
                                           const tensors::Dims& dims) {
  std::string problem;
  std::vector<tensors::Tensor> outputs;
  EXPECT_EQ(input.size(), tensors::elements_of(dims));
  EXPECT_TRUE(engine.run({.dims = dims, .data = input.data()}, outputs, problem)) << problem;
  EXPECT_EQ(problem, "");
  std::vector<std::vector<float>> result;
  for (const tensors::Tensor& output : outputs) {
    const auto* const data = static_cast<const float*>(output.data);
    result.emplace_back(data, data + tensors::elements_of(output.dims));
  }
  return result;
}

}  // namespace crowd::test
