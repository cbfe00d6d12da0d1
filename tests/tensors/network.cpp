// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tensors/shipped.hpp"

namespace crowd::test {

using namespace tensors;

namespace {

struct Shape {
  std::string id;
  Dims dims;
};

struct Row {
  const char* name;
  int width, height;
  std::vector<Shape> outputs;
};

const Row rows[] = {
    {"person-net", 300, 300, {{"ssd-encodings-out-boxes", {-1, 1917, 4}}, {"ssd-encodings-out-scores", {-1, 1917, 2}}}},
    {"ssd-boxes", 300, 200, {{"ssd-boxes-out-boxes", {-1, 333, 4}}, {"ssd-boxes-out-scores", {-1, 333, 5}}}},
    {"face-net",
     96,
     64,
     {{"centerface-out-heat", {-1, 1, 16, 24}},
      {"centerface-out-sizes", {-1, 2, 16, 24}},
      {"centerface-out-offsets", {-1, 2, 16, 24}},
      {"centerface-out-landmarks", {-1, 10, 16, 24}}}},
    {"yolo-v8", 160, 96, {{"yolo-v8-out", {-1, 4 + 40, 315}}}},
    {"yolo-v5", 160, 96, {{"yolo-v5-out", {-1, 945, 5 + 7}}}},
    {"yolo-v26", 160, 96, {{"yolo-v26-out", {-1, 300, 6}}}},
    {"blazeface", 256, 256, {{"blazeface-out-boxes", {-1, 896, 16}}, {"blazeface-out-scores", {-1, 896, 1}}}},
    {"ultra-light-face",
     320,
     240,
     {{"ssd-mobilenet-v1-variant-1-out-boxes", {-1, 442, 4}},
      {"ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", {-1, 442, 2}}}},
};

/// Whether element `e` of the output is a score, by the layout's definition.
bool is_score(const std::string& id, const Dims& dims, std::size_t e) {
  const auto last = static_cast<std::size_t>(dims.back());
  if (id == "yolo-v8-out")
    return e / last % static_cast<std::size_t>(dims[1]) >= 4;
  if (id == "yolo-v5-out")
    return e % last >= 4;
  if (id == "yolo-v26-out")
    return e % last == 4;
  return id.ends_with("-scores") || id.ends_with("-heat");
}

bool is_logit(const std::string& id) {
  return id == "ssd-encodings-out-scores" || id == "blazeface-out-scores";
}

bool is_in_pixels(const std::string& id) {
  return id.starts_with("yolo") || id == "blazeface-out-boxes";
}

float odd_value(std::mt19937& lots) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float values[] = {std::numeric_limits<float>::quiet_NaN(),
                              infinity,
                              -infinity,
                              1e30F,
                              -1e30F,
                              0.F,
                              -0.F,
                              .25F,
                              88.9F,
                              -103.9F,
                              1e-42F};
  return values[lots() % std::size(values)];
}

float usual_value(const std::string& id, const Dims& dims, std::size_t e, std::mt19937& lots) {
  std::uniform_real_distribution<float> uniform(0, 1);
  std::normal_distribution<float> normal;
  if (is_score(id, dims, e))
    return is_logit(id) ? 3 * normal(lots) - 3 : std::pow(uniform(lots), 6.F);
  if (id == "yolo-v26-out" && e % 6 == 5)
    return static_cast<float>(lots() % 80);
  if (is_in_pixels(id))
    return 100 * uniform(lots) + 1;
  return id == "ssd-boxes-out-boxes" || id == "ssd-mobilenet-v1-variant-1-out-boxes" ? uniform(lots) : normal(lots);
}

}  // namespace

Network make_network(const std::string& name, Type type) {
  Network network;
  network.name = name;
  std::string problem;
  const auto description = read_description(find_description(name, problem), problem);
  EXPECT_TRUE(description) << problem;
  if (!description)
    return network;
  network.description = *description;
  for (const Row& row : rows) {
    if (row.name != name)
      continue;
    network.width = row.width;
    network.height = row.height;
    for (const Shape& shape : row.outputs)
      for (const TensorInfo& described : network.description.outputs)
        if (described.id == shape.id)
          network.outputs.push_back({described.name, shape.id, type, shape.dims});
  }
  EXPECT_FALSE(network.outputs.empty()) << name;
  return network;
}

std::vector<Tensor> Answer::tensors() const {
  std::vector<Tensor> list;
  for (std::size_t i = 0; i < values.size(); i++)
    list.push_back(
        {types[i], dims[i], types[i] == Type::float16 ? static_cast<const void*>(halves[i].data()) : values[i].data()});
  return list;
}

float Answer::at(std::size_t output, std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
  const Dims& of = dims[output];
  const auto size = [&of](std::size_t d) { return d < of.size() ? static_cast<std::size_t>(of[d]) : 1; };
  return values[output].at(((i * size(1) + j) * size(2) + k) * size(3) + l);
}

void Answer::set(std::size_t output, std::size_t element, float value) {
  if (types[output] == Type::float16) {
    halves[output].at(element) = half_of(value);
    value = value_of_half(halves[output][element]);
  }
  values[output].at(element) = value;
}

Answer make_answer(const Network& network, unsigned batch, unsigned seed, bool odd) {
  std::mt19937 lots(seed);
  Answer answer;
  for (const TensorInfo& info : network.outputs) {
    Dims dims = info.dims;
    dims[0] = batch;
    const std::size_t elements = elements_of(dims);
    answer.dims.push_back(dims);
    answer.types.push_back(info.type);
    answer.values.emplace_back(elements);
    answer.halves.emplace_back(info.type == Type::float16 ? elements : 0);
    for (std::size_t e = 0; e < elements; e++)
      answer.set(answer.values.size() - 1, e,
                 odd && lots() % 16 == 0 ? odd_value(lots) : usual_value(info.id, dims, e, lots));
  }
  return answer;
}

std::uint16_t half_of(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return sign | 0x7E00;
  const double magnitude = std::abs(static_cast<double>(value));
  if (magnitude >= 65520)
    return sign | 0x7C00;
  const int exponent = magnitude < std::ldexp(1, -14) ? -14 : std::ilogb(magnitude);
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // 1024 steps and more have the leading bit, which adds one to the exponent.
  return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent + 14) * 1024 + steps));
}

float value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float sign = half & 0x8000 ? -1.F : 1.F;
  if (exponent == 31)
    return fraction ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1 + fraction / 1024., exponent - 15);
  return sign * static_cast<float>(magnitude);
}

std::vector<InputPlacement> make_placements(unsigned batch) {
  std::vector<InputPlacement> placements;
  for (unsigned i = 0; i < batch; i++)
    placements.push_back({17.5F * static_cast<float>(i), -3.F * static_cast<float>(i), 1 + .3F * static_cast<float>(i),
                          2 - .1F * static_cast<float>(i)});
  return placements;
}

}  // namespace crowd::test
