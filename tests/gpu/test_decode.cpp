// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decoding on the GPU against decoding on the host, to the bit. Prints device times.

#include "device_decoding.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/keepbest.hpp"
#include "device_array.hpp"
#include "environment.hpp"

namespace crowd::test {
namespace {

/// Outputs of a batch on the device, and room for what they hold.
class DeviceFrame {
 public:
  DeviceFrame(const Answer& answer, unsigned batch, const DecodeSettings& settings, std::uint32_t capacity)
      : batch_(batch),
        capacity_(capacity),
        threshold_(settings.score_threshold),
        bits_(settings.classes),
        words_(static_cast<std::uint32_t>(settings.classes.size())),
        placements_(make_placements(batch)),
        count_(1),
        boxes_(std::size_t{4} * (capacity + 1)),
        scores_(capacity + 1),
        classes_(capacity + 1) {
    for (std::size_t i = 0; i < answer.values.size(); i++) {
      const bool half = answer.types[i] == Type::float16;
      if (half)
        halves_.emplace_back(answer.halves[i]);
      else
        floats_.emplace_back(answer.values[i]);
      outputs_.push_back({answer.types[i], answer.dims[i],
                          half ? static_cast<const void*>(halves_.back().get()) : floats_.back().get()});
    }
  }

  cudaError_t enqueue(DeviceDecoder& decoder, cudaStream_t stream) const {
    return decoder.enqueue(outputs_, batch_, placements_.get(), {threshold_, bits_.get(), words_},
                           {count_.get(), boxes_.get(), scores_.get(), classes_.get(), capacity_}, stream);
  }

  /// Waits.
  std::uint32_t count() const {
    return count_.download()[0];
  }
  std::vector<RawBox> candidates() const {
    const auto boxes = boxes_.download(), scores = scores_.download();
    const auto classes = classes_.download();
    std::vector<RawBox> list;
    for (std::size_t i = 0; i < std::min(count(), capacity_); i++)
      list.push_back({boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3], scores[i],
                      static_cast<std::uint32_t>(classes[i])});
    EXPECT_EQ(classes[capacity_], 0x7f7f7f7f) << "nothing is written past the end";
    return list;
  }

 private:
  unsigned batch_;
  std::uint32_t capacity_;
  float threshold_;
  Array<std::uint32_t> bits_;
  std::uint32_t words_;
  Array<InputPlacement> placements_;
  Array<std::uint32_t> count_;
  Array<float> boxes_, scores_;
  Array<std::int32_t> classes_;
  std::vector<Array<float>> floats_;
  std::vector<Array<std::uint16_t>> halves_;
  std::vector<Tensor> outputs_;
};

void compare(const Network& network, DeviceDecoder& decoder, const Answer& answer, unsigned batch,
             const DecodeSettings& settings, std::uint32_t capacity) {
  auto expected = decode_on_host(network, answer, batch, settings);
  const DeviceFrame frame(answer, batch, settings, capacity);
  expect_cuda(frame.enqueue(decoder, nullptr));
  EXPECT_EQ(frame.count(), expected.size());
  keep_best(expected, capacity);
  expect_same(expected, frame.candidates());
}

constexpr std::uint32_t ample = 1 << 15;

class DeviceDecoding : public testing::TestWithParam<const char*> {};

TEST_P(DeviceDecoding, gives_the_bits_of_the_host) {
  for (const Type type : {Type::float32, Type::float16})
    for (const unsigned batch : {9u, 1u}) {
      const Network network = make_network(GetParam(), type);
      const auto decoder = make_device_decoder(network, 9);
      ASSERT_TRUE(decoder);
      for (unsigned seed = 0; seed < (quick() ? 1u : 10u); seed++) {
        const Answer answer = make_answer(network, batch, seed, seed % 2 != 0);
        compare(network, *decoder, answer, batch, {.1F, {}}, ample);
        compare(network, *decoder, answer, batch, {.05F, {0x15u, 3}}, ample);
        for (const std::uint32_t capacity : {0u, 1u, 70u, 1000u})
          compare(network, *decoder, answer, batch, {-1, {}}, capacity);
      }
    }
}

TEST_P(DeviceDecoding, may_be_replayed_as_a_graph_without_a_wait) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 9);
  ASSERT_TRUE(decoder);
  std::vector<Answer> answers;
  std::vector<DeviceFrame> frames;
  const DecodeSettings settings{.05F, {}};
  for (unsigned i = 0; i < 8; i++) {
    answers.push_back(make_answer(network, 9, i));
    frames.emplace_back(answers.back(), 9, settings, i % 2 ? 60 : ample);
  }
  cuda::Stream stream;
  expect_cuda(cuda::allocate(stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  expect_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
  for (const DeviceFrame& frame : frames)
    expect_cuda(frame.enqueue(*decoder, stream.get()));
  expect_cuda(cudaStreamEndCapture(stream.get(), &graph));
  expect_cuda(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 0; round < (quick() ? 2 : 200); round++)
    expect_cuda(cudaGraphLaunch(exec, stream.get()));
  expect_cuda(cudaStreamSynchronize(stream.get()));
  for (unsigned i = 0; i < 8; i++) {
    auto expected = decode_on_host(network, answers[i], 9, settings);
    EXPECT_EQ(frames[i].count(), expected.size());
    keep_best(expected, i % 2 ? 60 : ample);
    expect_same(expected, frames[i].candidates());
  }
  expect_cuda(cudaGraphExecDestroy(exec));
  expect_cuda(cudaGraphDestroy(graph));
}

INSTANTIATE_TEST_SUITE_P(Layout, DeviceDecoding, testing::ValuesIn(network_names), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// A network of a size that is usual.
struct Usual {
  const char* name;
  int width, height;
  std::vector<Dims> dims;
  unsigned batch;
};

const Usual usual[] = {
    {"person-net", 300, 300, {{-1, 1917, 4}, {-1, 1917, 2}}, 10},
    {"face-net", 768, 576, {{-1, 1, 144, 192}, {-1, 2, 144, 192}, {-1, 2, 144, 192}, {-1, 10, 144, 192}}, 1},
    {"face-net", 1280, 736, {{-1, 1, 184, 320}, {-1, 2, 184, 320}, {-1, 2, 184, 320}, {-1, 10, 184, 320}}, 10},
    {"yolo-v8", 640, 640, {{-1, 84, 8400}}, 1},
    {"yolo-v8", 640, 640, {{-1, 84, 8400}}, 10},
    {"yolo-v5", 640, 640, {{-1, 25200, 85}}, 1},
};

/// Microseconds on the device, the median of `rounds`, each of several launches back to back.
double time_of(DeviceDecoder& decoder, const DeviceFrame& frame, int rounds) {
  constexpr int launches = 20;
  cuda::Event begin, end;
  expect_cuda(cuda::allocate_timer(begin));
  expect_cuda(cuda::allocate_timer(end));
  std::vector<float> times;
  for (int round = 0; round < rounds; round++) {
    expect_cuda(cudaEventRecord(begin.get(), nullptr));
    for (int i = 0; i < launches; i++)
      expect_cuda(frame.enqueue(decoder, nullptr));
    expect_cuda(cudaEventRecord(end.get(), nullptr));
    expect_cuda(cudaEventSynchronize(end.get()));
    expect_cuda(cudaEventElapsedTime(&times.emplace_back(), begin.get(), end.get()));
  }
  std::ranges::sort(times);
  return static_cast<double>(times[times.size() / 2]) * 1000 / launches;
}

TEST(DeviceDecoder, gives_the_bits_of_the_host_for_networks_of_usual_sizes) {
  for (const Usual& it : usual) {
    Network network = make_network(it.name);
    network.width = it.width;
    network.height = it.height;
    for (std::size_t i = 0; i < it.dims.size(); i++)
      network.outputs[i].dims = it.dims[i];
    const auto decoder = make_device_decoder(network, it.batch);
    ASSERT_TRUE(decoder);
    const Answer answer = make_answer(network, it.batch, 1);
    const DecodeSettings settings{.9F, {}};
    compare(network, *decoder, answer, it.batch, settings, 1 << 20);
    compare(network, *decoder, answer, it.batch, settings, 500);
    const DeviceFrame ample_frame(answer, it.batch, settings, 1 << 20), small_frame(answer, it.batch, settings, 500);
    const int rounds = quick() ? 1 : 51;
    std::printf("%s %dx%d, batch %u: %u candidates; %.1f us, with room for 500 %.1f us\n", it.name, it.width, it.height,
                it.batch, ample_frame.count(), time_of(*decoder, ample_frame, rounds),
                time_of(*decoder, small_frame, rounds));
  }
}

}  // namespace
}  // namespace crowd::test
