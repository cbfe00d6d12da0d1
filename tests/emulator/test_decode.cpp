// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Decoding on a device against decoding on the host, to the bit, without a GPU.

#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/keepbest.hpp"
#include "device_decoding.hpp"
#include "gpu/launchgraphs.hpp"
#include "tensors/decode_kernel.hpp"
#include "tensors/layouts.hpp"

namespace crowd::test {
namespace {

using namespace tensors;

constexpr float untouched = -12345;

/// Memory for candidates, and for one more that nothing is written to.
struct Room {
  struct alignas(16) Box {
    float x1, y1, x2, y2;
  };
  explicit Room(std::uint32_t for_candidates)
      : capacity(for_candidates),
        boxes(capacity + 1, {untouched, untouched, untouched, untouched}),
        scores(capacity + 1, untouched),
        classes(capacity + 1, -1) {}

  DecodedArrays out() {
    return {&count, &boxes[0].x1, scores.data(), classes.data(), capacity};
  }

  std::vector<RawBox> candidates() const {
    const std::uint32_t stored = std::min(count, capacity);
    std::vector<RawBox> list;
    for (std::uint32_t i = 0; i < stored; i++)
      list.push_back(
          {boxes[i].x1, boxes[i].y1, boxes[i].x2, boxes[i].y2, scores[i], static_cast<std::uint32_t>(classes[i])});
    for (std::uint32_t i = stored; i <= capacity; i++) {
      EXPECT_EQ(scores[i], untouched);
      EXPECT_EQ(boxes[i].x1, untouched);
      EXPECT_EQ(classes[i], -1);
    }
    return list;
  }

  std::uint32_t capacity;
  std::uint32_t count = 77;
  std::vector<Box> boxes;
  std::vector<float> scores;
  std::vector<std::int32_t> classes;
};

void decode(DeviceDecoder& decoder, const Answer& answer, unsigned batch, const DecodeSettings& settings, Room& room) {
  const auto placements = make_placements(batch);
  const DeviceDecodeSettings on_device{settings.score_threshold, settings.classes.data(),
                                       static_cast<std::uint32_t>(settings.classes.size()),
                                       settings.objectness_threshold};
  EXPECT_EQ(decoder.enqueue(answer.tensors(), batch, placements.data(), on_device, room.out(), nullptr), cudaSuccess);
}

/// What the device gives where there is room for `capacity`, after the same from the host.
void compare(const Network& network, DeviceDecoder& decoder, const Answer& answer, unsigned batch,
             const DecodeSettings& settings, std::uint32_t capacity) {
  auto expected = decode_on_host(network, answer, batch, settings);
  Room room(capacity);
  decode(decoder, answer, batch, settings, room);
  EXPECT_EQ(room.count, expected.size());
  keep_best(expected, capacity);
  expect_same(expected, room.candidates());
}

constexpr std::uint32_t ample = 1 << 15;

class DeviceDecoding : public testing::TestWithParam<const char*> {};

TEST_P(DeviceDecoding, gives_the_bits_of_the_host) {
  for (const Type type : {Type::float32, Type::float16}) {
    const Network network = make_network(GetParam(), type);
    const auto decoder = make_device_decoder(network, 9);
    ASSERT_TRUE(decoder);
    for (const unsigned batch : {9u, 1u}) {
      SCOPED_TRACE(testing::Message() << "type " << int(type) << ", batch " << batch);
      const Answer answer = make_answer(network, batch, batch);
      compare(network, *decoder, answer, batch, {.1F, {}}, ample);
      compare(network, *decoder, answer, batch, {-1, {}}, ample);
      compare(network, *decoder, answer, batch, {.05F, {0x15u}}, ample);
      compare(network, *decoder, answer, batch, {.05F, {0, 7, 1}}, ample);
      compare(network, *decoder, answer, batch, {2, {}}, ample);
      compare(network, *decoder, answer, batch, {.01F, {}, .5F}, ample);
    }
  }
}

TEST_P(DeviceDecoding, gives_the_bits_of_the_host_for_any_bits) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 2);
  ASSERT_TRUE(decoder);
  for (unsigned seed = 0; seed < 3; seed++) {
    const Answer answer = make_answer(network, 2, seed, true);
    compare(network, *decoder, answer, 2, {.3F, {}}, ample);
    compare(network, *decoder, answer, 2, {.3F, {}}, 40);
    compare(network, *decoder, answer, 2, {-INFINITY, {}}, 300);
  }
}

TEST_P(DeviceDecoding, keeps_the_best_where_there_is_no_room) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 3);
  ASSERT_TRUE(decoder);
  const Answer answer = make_answer(network, 3, 5);
  const auto found = static_cast<std::uint32_t>(decode_on_host(network, answer, 3, {.01F, {}}).size());
  ASSERT_GT(found, 50u);
  for (const std::uint32_t capacity : {0u, 1u, 17u, found - 1, found, found + 1})
    compare(network, *decoder, answer, 3, {.01F, {}}, capacity);
}

TEST_P(DeviceDecoding, keeps_the_first_of_equals) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 2);
  ASSERT_TRUE(decoder);
  Answer answer = make_answer(network, 2, 6);
  for (std::size_t output = 0; output < answer.values.size(); output++)
    for (std::size_t e = 0; e < answer.values[output].size(); e++)
      answer.set(output, e, std::round(4 * answer.values[output][e]) / 4);
  for (const std::uint32_t capacity : {70u, 300u})
    compare(network, *decoder, answer, 2, {-1, {}}, capacity);
}

TEST_P(DeviceDecoding, may_be_replayed_as_a_graph) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 2);
  ASSERT_TRUE(decoder);
  Answer answer = make_answer(network, 2, 21);
  const Answer other = make_answer(network, 2, 22);
  const auto placements = make_placements(2);
  Room room(100);
  LaunchGraphs<int> graphs;
  const int before = EmulatedGraph::launches;
  for (int round = 0; round < 4; round++) {
    if (round == 2)
      for (std::size_t output = 0; output < answer.values.size(); output++)
        std::ranges::copy(other.values[output], answer.values[output].begin());
    EXPECT_EQ(graphs.launch(0, nullptr,
                            [&](cudaStream_t stream) {
                              return decoder->enqueue(answer.tensors(), 2, placements.data(), {.01F, nullptr, 0},
                                                      room.out(), stream) == cudaSuccess;
                            }),
              cudaSuccess);
    auto expected = decode_on_host(network, answer, 2, {.01F, {}});
    EXPECT_EQ(room.count, expected.size());
    keep_best(expected, 100);
    expect_same(expected, room.candidates());
  }
  EXPECT_EQ(EmulatedGraph::launches - before, 3) << "all but the first";
}

TEST_P(DeviceDecoding, gives_one_answer_in_any_order_of_threads) {
  const Network network = make_network(GetParam());
  const auto decoder = make_device_decoder(network, 2);
  ASSERT_TRUE(decoder);
  const Answer answer = make_answer(network, 2, 23);
  for (std::uint64_t order = 0; order < 4; order++) {
    emulator::seed(order);
    compare(network, *decoder, answer, 2, {.01F, {}}, 33);
  }
}

INSTANTIATE_TEST_SUITE_P(Layout, DeviceDecoding, testing::ValuesIn(network_names), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(DeviceDecoder, adds_up_many_tiles) {
  Network network = make_network("face-net");
  network.width = 4 * 256;
  network.height = 4 * 160;
  for (TensorInfo& output : network.outputs) {
    output.dims[2] = 160;
    output.dims[3] = 256;
  }
  const auto decoder = make_device_decoder(network, 1);
  ASSERT_TRUE(decoder);
  compare(network, *decoder, make_answer(network, 1, 1), 1, {.02F, {}}, 1 << 16);
}

/// A launch without a decoder, with memory of the test's own.
struct Launch {
  Launch(const Network& network, const Answer& of, std::uint32_t capacity) : answer(of), room(capacity) {
    std::string problem;
    EXPECT_TRUE(make_plan(network.description, network.outputs, network.width, network.height, planned, problem));
    EXPECT_TRUE(take_outputs(planned, answer.tensors(), 1, work.outputs));
    hits.resize(planned.plan.places);
    work.plan = planned.plan;
    work.anchors = planned.anchors.data();
    work.placements = placements.data();
    work.selection = {.1F, surely_below(.1F), nullptr, 0};
    work.places = planned.plan.places;
    work.tiles = (work.places + tile_places - 1) / tile_places;
    words.resize(2 * std::size_t{work.tiles});
    work.state = &state;
    work.tile_words = words.data();
    work.hits = hits.data();
    const DecodedArrays out = room.out();
    work.count = out.count;
    work.boxes = out.boxes;
    work.scores = out.scores;
    work.classes = out.classes;
    work.capacity = out.capacity;
  }

  const Answer& answer;
  Room room;
  Planned planned;
  DecodeState state{};
  std::vector<std::uint32_t> words;
  std::vector<Hit> hits;
  std::vector<InputPlacement> placements = make_placements(1);
  DecodeWork work{};
};

/// As if the tiles before it had announced what they have, and none but the first its sum: blocks of the emulator run
/// one after another, and find sums.
TEST(DeviceDecoder, adds_up_what_tiles_under_way_have) {
  constexpr std::uint32_t tiles = 100, first = 5;
  Network network = make_network("face-net");
  network.width = 4 * 160;
  network.height = 4 * 160;
  for (TensorInfo& output : network.outputs)
    output.dims[2] = output.dims[3] = 160;
  const Answer answer = make_answer(network, 1, 1);
  Launch launch(network, answer, 1 << 15);
  ASSERT_EQ(launch.work.tiles, tiles);

  // All blocks take tiles from the last on. Those behind it have no places.
  launch.state.tickets = tiles - 1;
  std::uint32_t before = first;
  launch.words[0] = up_to_tile | first;
  for (std::uint32_t k = 1; k < tiles - 1; k++) {
    launch.words[k] = of_tile | k;
    before += k;
  }
  EXPECT_EQ(launch_decode(launch.work, nullptr), cudaSuccess);

  const Room& room = launch.room;
  const auto expected = decode_on_host(network, answer, 1, {.1F, {}});
  const std::uint32_t own = room.count - before;
  ASSERT_GT(own, 20u);
  ASSERT_LT(own, tile_places);
  for (std::uint32_t i = 0; i < own; i++)
    EXPECT_EQ(room.scores[before + i], expected[expected.size() - own + i].score);
  EXPECT_EQ(room.scores[before - 1], untouched);
  EXPECT_EQ(room.scores[before + own], untouched);
}

TEST(DeviceDecoder, leaves_its_state_as_it_was) {
  const Network network = make_network("person-net");
  const Answer answer = make_answer(network, 1, 1);
  for (const std::uint32_t capacity : {4u, 2000u}) {
    Launch launch(network, answer, capacity);
    EXPECT_EQ(launch_decode(launch.work, nullptr), cudaSuccess);
    EXPECT_GT(launch.room.count, 4u);
    EXPECT_THAT(launch.words, testing::Each(0u));
    EXPECT_EQ(launch.state.tickets, 0u);
    EXPECT_EQ(launch.state.ended, 0u);
  }
}

TEST(DeviceDecoder, refuses_what_it_was_not_made_for) {
  const Network network = make_network("yolo-v8");
  const auto decoder = make_device_decoder(network, 2);
  ASSERT_TRUE(decoder);
  EXPECT_EQ(decoder->places(), 315u);
  EXPECT_EQ(decoder->classes(), 40u);
  EXPECT_GE(decoder->device_bytes(), 2 * 315 * 8u);
  const Answer answer = make_answer(network, 3, 1);
  const auto placements = make_placements(3);
  Room room(8);
  const auto enqueue = [&](const std::vector<Tensor>& outputs, unsigned batch) {
    return decoder->enqueue(outputs, batch, placements.data(), {}, room.out(), nullptr);
  };
  EXPECT_EQ(enqueue(answer.tensors(), 0), cudaErrorInvalidValue);
  EXPECT_EQ(enqueue(answer.tensors(), 3), cudaErrorInvalidValue);
  EXPECT_EQ(enqueue({}, 1), cudaErrorInvalidValue);
  auto outputs = answer.tensors();
  outputs[0].dims[1]++;
  EXPECT_EQ(enqueue(outputs, 1), cudaErrorInvalidValue);
  EXPECT_EQ(room.count, 77u);
  EXPECT_EQ(enqueue(answer.tensors(), 2), cudaSuccess);
}

TEST(DeviceDecoder, says_why_there_is_none) {
  Network network = make_network("yolo-v8");
  const auto report_of = [&](unsigned max_batch) {
    DeviceReport report;
    EXPECT_FALSE(
        DeviceDecoder::make(network.description, network.outputs, network.width, network.height, max_batch, report));
    return report;
  };
  EXPECT_THAT(report_of(0).problem, testing::HasSubstr("take from 1 to"));
  EXPECT_THAT(report_of(1u << 31).problem, testing::HasSubstr("take from 1 to"));
  EmulatedMemory::full = true;
  const DeviceReport full = report_of(2);
  EmulatedMemory::full = false;
  EXPECT_EQ(full.outcome, DeviceOutcome::out_of_memory);
  EXPECT_THAT(full.problem, testing::HasSubstr("fewer tiles"));
  EmulatedMemory::lost = true;
  const DeviceReport lost = report_of(2);
  EmulatedMemory::lost = false;
  EXPECT_EQ(lost.outcome, DeviceOutcome::failed);
  network.description.parameters["activation"] = "softmax";
  const DeviceReport refused = report_of(2);
  EXPECT_EQ(refused.outcome, DeviceOutcome::dropped);
  EXPECT_THAT(refused.problem, testing::HasSubstr("none or sigmoid"));
}

}  // namespace
}  // namespace crowd::test
