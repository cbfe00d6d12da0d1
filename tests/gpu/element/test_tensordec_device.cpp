// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tensors in device memory: what crowdtensordec makes of them there is what the host makes of them. Without the
// element, which takes a newer GStreamer.

#include <gmock/gmock.h>

#include "base/keepbest.hpp"
#include "device_boxes.hpp"
#include "device_decoding.hpp"
#include "gpu/device.hpp"
#include "tensordec/devicetensors.hpp"

namespace crowd::test {
namespace {

using testing::HasSubstr;

struct Uploaded {
  Uploaded(const Gpu& gpu, const Network& network, const Answer& answer) {
    add(gpu, network, answer);
  }
  /// Every other tensor goes to the second.
  Uploaded(const Gpu& gpu, const Gpu& second, const Network& network, const Answer& answer) {
    add(gpu, network, answer, &second);
  }

  std::vector<Ref<GstBuffer>> buffers;
  std::vector<GstMemory*> memories;

 private:
  void add(const Gpu& gpu, const Network& network, const Answer& answer, const Gpu* second = nullptr) {
    const std::vector<Tensor> tensors = answer.tensors();
    for (std::size_t i = 0; i < tensors.size(); i++) {
      buffers.push_back(
          upload(second && i % 2 ? *second : gpu, tensors[i].data, bytes_of(tensors[i].dims, network.outputs[i].type)));
      memories.push_back(gst_buffer_peek_memory(buffers.back().get(), 0));
    }
  }
};

TensorPlan plan_of(const Network& network, const Answer& answer) {
  TensorPlan plan{.description = &network.description,
                  .infos = network.outputs,
                  .input_width = network.width,
                  .input_height = network.height,
                  .placement = make_placements(2).back()};
  for (std::size_t i = 0; i < plan.infos.size(); i++)
    plan.infos[i].dims = answer.dims[i];
  return plan;
}

std::vector<RawBox> on_host(const TensorPlan& plan, const Answer& answer, const DeviceTensors::Settings& settings) {
  std::string problem;
  std::vector<RawBox> boxes;
  const auto decoder = Decoder::make(*plan.description, plan.infos, plan.input_width, plan.input_height, problem);
  EXPECT_TRUE(decoder && decoder->decode(answer.tensors(), {&plan.placement, 1},
                                         {settings.score_threshold, {}, settings.objectness_threshold}, boxes, problem))
      << problem;
  return boxes;
}

std::vector<RawBox> read_boxes(GstMemory* memory, guint capacity, std::uint32_t& count) {
  const MappedBoxes map(memory, capacity, GST_MAP_READ);
  EXPECT_TRUE(map);
  count = *map->count;
  std::vector<RawBox> boxes;
  for (guint i = 0; i < std::min(count, capacity); i++)
    boxes.push_back({map->boxes[i].x1, map->boxes[i].y1, map->boxes[i].x2, map->boxes[i].y2, map->scores[i],
                     static_cast<std::uint32_t>(map->classes[i])});
  return boxes;
}

void expect_as_on_host(const Gpu& gpu, DeviceTensors& tensors, const TensorPlan& plan, const Answer& answer,
                       const std::vector<GstMemory*>& memories, const DeviceTensors::Settings& settings) {
  MemoryRef candidates;
  const DeviceReport report = tensors.find(plan, memories, settings, candidates);
  ASSERT_EQ(report.outcome, DeviceOutcome::done) << report.problem;
  ASSERT_TRUE(is_cuda_memory(candidates.get()));
  ASSERT_EQ(gpu.synchronise(), cudaSuccess);
  auto expected = on_host(plan, answer, settings);
  std::uint32_t count = 0;
  const auto found = read_boxes(candidates.get(), settings.capacity, count);
  EXPECT_EQ(count, expected.size());
  keep_best(expected, settings.capacity);
  expect_same(expected, found);
}

class TensorsOnDevice : public testing::TestWithParam<const char*> {};

TEST_P(TensorsOnDevice, give_the_bits_of_the_host) {
  const Gpu gpu;
  const auto other = gpu.other_stream();
  const auto tensors = DeviceTensors::make();
  for (const Type type : {Type::float32, Type::float16}) {
    const Network network = make_network(GetParam(), type);
    tensors->forget_plan();
    for (const unsigned seed : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << "type " << int(type) << ", seed " << seed);
      const Answer answer = make_answer(network, 1, seed, seed == 3);
      const TensorPlan plan = plan_of(network, answer);
      const Uploaded same(gpu, network, answer), mixed(gpu, *other, network, answer),
          elsewhere(*other, network, answer);
      expect_as_on_host(gpu, *tensors, plan, answer, same.memories, {.2F, 0, 4096});
      expect_as_on_host(gpu, *tensors, plan, answer, mixed.memories, {.1F, .3F, 4096});
      expect_as_on_host(gpu, *tensors, plan, answer, elsewhere.memories, {.05F, 0, 7});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of, TensorsOnDevice, testing::ValuesIn(network_names), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TensorsOnDevice, that_are_shorter_than_their_dims_are_dropped) {
  const Gpu gpu;
  const Network network = make_network("yolo-v8");
  const Answer answer = make_answer(network, 1, 1);
  const TensorPlan plan = plan_of(network, answer);
  const Ref<GstBuffer> half = upload(gpu, answer.values[0].data(), answer.values[0].size() * 2);
  GstMemory* const memory = gst_buffer_peek_memory(half.get(), 0);
  const auto tensors = DeviceTensors::make();
  MemoryRef candidates;
  const DeviceReport report = tensors->find(plan, {&memory, 1}, {.1F, 0, 100}, candidates);
  EXPECT_EQ(report.outcome, DeviceOutcome::dropped);
  EXPECT_THAT(report.problem, HasSubstr("smaller than its dims"));
  EXPECT_EQ(candidates, nullptr);
  const Uploaded whole(gpu, network, answer);
  expect_as_on_host(gpu, *tensors, plan, answer, whole.memories, {.1F, 0, 4096});
}

TEST(TensorsOnDevice, of_another_context_are_followed_there_and_not_mixed) {
  const Gpu first, second;
  const Network network = make_network("ssd-boxes");
  const Answer answer = make_answer(network, 1, 1);
  const TensorPlan plan = plan_of(network, answer);
  const Uploaded here(first, network, answer), there(second, network, answer), mixed(first, second, network, answer);
  const auto tensors = DeviceTensors::make();
  expect_as_on_host(first, *tensors, plan, answer, here.memories, {.1F, 0, 4096});
  expect_as_on_host(second, *tensors, plan, answer, there.memories, {.1F, 0, 4096});
  expect_as_on_host(first, *tensors, plan, answer, here.memories, {.1F, 0, 4096});
  MemoryRef candidates;
  const DeviceReport report = tensors->find(plan, mixed.memories, {.1F, 0, 4096}, candidates);
  EXPECT_EQ(report.outcome, DeviceOutcome::dropped);
  EXPECT_THAT(report.problem, HasSubstr("different CUDA contexts"));
}

}  // namespace
}  // namespace crowd::test
