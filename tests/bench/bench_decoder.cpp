// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * What decoding a network's outputs costs the host: YOLOv8's [1,84,8400] and YOLOv5's [1,25200,85], one picture.
 *
 *     bench_decoder [google benchmark's options]
 *
 * Arguments are one of so many places that score .3 to 1, and the threshold times 10000; other scores are below .0005.
 */

#include <benchmark/benchmark.h>

#include <random>

#include "tensors/decoder.hpp"

namespace {

using namespace crowd::tensors;

struct Head {
  const char* group;
  Dims dims;
  bool planes;  ///< a class after the other; else a place after the other
  unsigned numbers, scores_from;
};

const Head heads[] = {{"yolo-v8-out", {1, 84, 8400}, true, 84, 4}, {"yolo-v5-out", {1, 25200, 85}, false, 85, 4}};

std::vector<float> answer_of(const Head& head, unsigned one_of) {
  const std::size_t places = elements_of(head.dims) / head.numbers;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> low(0, .0005F), high(.3F, 1), pixels(10, 600);
  std::vector<float> values(elements_of(head.dims));
  for (std::size_t place = 0; place < places; place++) {
    const bool found = random() % one_of == 0;
    const unsigned best = head.scores_from + random() % (head.numbers - head.scores_from);
    for (unsigned i = 0; i < head.numbers; i++) {
      const bool is_high = found && (i == best || (!head.planes && i == head.scores_from));
      values[head.planes ? i * places + place : place * head.numbers + i] = i < head.scores_from ? pixels(random)
                                                                            : is_high            ? high(random)
                                                                                                 : low(random);
    }
  }
  return values;
}

void decode(benchmark::State& state, const Head& head) {
  std::string problem;
  Description description;
  description.group_id = head.group;
  description.outputs = {{head.group, head.group, Type::float32, head.dims}};
  const auto decoder = Decoder::make(description, description.outputs, 640, 640, problem);
  if (!decoder)
    return state.SkipWithError(problem.c_str());
  const auto values = answer_of(head, static_cast<unsigned>(state.range(0)));
  const Tensor tensor{Type::float32, head.dims, values.data()};
  const InputPlacement placement{};
  const DecodeSettings settings{static_cast<float>(state.range(1)) * 1e-4F, {}};
  std::vector<RawBox> boxes;
  for (auto _ : state) {
    boxes.clear();
    if (!decoder->decode({&tensor, 1}, {&placement, 1}, settings, boxes, problem))
      return state.SkipWithError(problem.c_str());
  }
  state.counters["candidates"] = static_cast<double>(boxes.size());
}

BENCHMARK_CAPTURE(decode, yolo_v8, heads[0])->ArgsProduct({{100, 3}, {2000, 1}})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode, yolo_v5, heads[1])->ArgsProduct({{100, 3}, {2000, 1}})->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
