// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is wrong with candidates in device memory costs their frame the candidates at most, and is counted.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdcuda.h>

#include "device_boxes.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto write_on_device = static_cast<GstMapFlags>(int{GST_MAP_WRITE} | int{GST_MAP_FLAG_LAST} << 1);

MetaBoxes people(std::uint32_t n, std::uint64_t seed) {
  return candidates_of(crowd::test::crowd(n, 20, 640, 480, seed), 640, 480, 11);
}

class BadInput : public testing::TestWithParam<const char*> {
 protected:
  BadInput() : twins(gpu, GetParam()) {
    twins.device.ask_for_survivors_on_device();
    expect_good_frame();
  }

  bool held() const {
    return std::string(GetParam()).find("output-delay=1") != std::string::npos;
  }

  /// Makes a frame that is held back come out.
  void drain(Pipe& pipe) const {
    if (held()) {
      EXPECT_TRUE(pipe.send(gst_event_new_gap(0, GST_SECOND)));
    }
  }

  Ref<GstBuffer> frame() const {
    return gpu.frame(info_of("NV12", 64, 48));
  }

  /// Passes a frame and what comes out for it, held back or not.
  Ref<GstBuffer> pass(Ref<GstBuffer> buffer) {
    EXPECT_EQ(twins.device.push(std::move(buffer)), GST_FLOW_OK);
    drain(twins.device);
    Ref<GstBuffer> out = twins.device.pull();
    EXPECT_NE(out, nullptr);
    EXPECT_EQ(gpu.synchronise(), cudaSuccess);
    return out;
  }

  void expect_good_frame() {
    auto both = twins.frames(people(900, ++seed_));
    both.device = pass(std::move(both.device));
    EXPECT_EQ(twins.host.push(std::move(both.host)), GST_FLOW_OK);
    drain(twins.host);
    both.host = twins.host.pull();
    SCOPED_TRACE("seed=" + std::to_string(seed_));
    expect_same_survivors(both.host.get(), both.device.get());
  }

  void expect_dropped(Ref<GstBuffer> buffer) {
    const std::uint64_t before = twins.device.stat("nms", "failures");
    const Ref<GstBuffer> out = pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(count_metas(out.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
    EXPECT_TRUE(rois(out.get()).empty());
    EXPECT_EQ(twins.device.stat("nms", "failures"), before + 1);
    EXPECT_EQ(twins.device.stat("nms", "last-candidates"), 0u);
    EXPECT_EQ(pop_message(twins.device.bus(), GST_MESSAGE_ERROR), nullptr);
    expect_good_frame();
  }

  void attach_memory(GstBuffer* buffer, Ref<GstMemory> memory, guint capacity) const {
    ASSERT_NE(memory, nullptr);
    gst_buffer_add_crowd_boxes_meta(buffer, memory.release(), capacity, 64, 48, nullptr);
  }

  const Gpu gpu;
  Twins twins;

 private:
  std::uint64_t seed_ = 0;
};

TEST_P(BadInput, memory_smaller_than_its_capacity) {
  Ref<GstBuffer> buffer = frame();
  attach_memory(buffer.get(), upload(people(64, 1), gst_buffer_peek_memory(buffer.get(), 0)), 4096);
  expect_dropped(std::move(buffer));
}

TEST_P(BadInput, capacity_beyond_any) {
  for (const guint capacity : {GST_CROWD_BOXES_MAX_CAPACITY + 1, G_MAXUINT}) {
    Ref<GstBuffer> buffer = frame();
    attach_memory(buffer.get(), upload(people(64, 1), gst_buffer_peek_memory(buffer.get(), 0)), capacity);
    expect_dropped(std::move(buffer));
  }
}

TEST_P(BadInput, memory_that_is_still_mapped_for_writing) {
  Ref<GstBuffer> buffer = frame();
  Ref<GstMemory> memory = upload(people(64, 1), gst_buffer_peek_memory(buffer.get(), 0));
  ASSERT_NE(memory, nullptr);
  GstCrowdBoxesMap map;
  ASSERT_TRUE(gst_crowd_boxes_map_memory(&map, memory.get(), 64, write_on_device));
  attach_memory(buffer.get(), Ref<GstMemory>(gst_memory_ref(memory.get())), 64);
  expect_dropped(std::move(buffer));
  gst_crowd_boxes_unmap(&map);
}

TEST_P(BadInput, memory_that_somebody_has_freed) {
  GstCrowdBoxesLayout layout;
  gst_crowd_boxes_layout_init(&layout, 500);
  Ref<GstMemory> memory;
  {
    const Gpu::Current current(gpu);
    void* pointer = nullptr;
    ASSERT_EQ(cudaMalloc(&pointer, 64 << 20), cudaSuccess);
    memory = gpu.wrap(pointer, layout.size);
    ASSERT_EQ(cudaFree(pointer), cudaSuccess);
  }
  if (!memory)
    GTEST_SKIP() << "GStreamer up to 1.22 wraps no memory";
  Ref<GstBuffer> buffer = frame();
  attach_memory(buffer.get(), std::move(memory), 500);
  expect_dropped(std::move(buffer));
}

// All the room is looked at; what matters is that nothing beyond is.
TEST_P(BadInput, a_count_that_was_never_written) {
  MetaBoxes candidates = people(500, 1);
  candidates.count = 0xdeadbeef;
  Ref<GstBuffer> buffer = frame();
  attach_on_device(buffer.get(), candidates);
  const Ref<GstBuffer> out = pass(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  if (const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(out.get())) {
    EXPECT_LE(read(meta).count, candidates.capacity);
  }
  EXPECT_EQ(pop_message(twins.device.bus(), GST_MESSAGE_ERROR), nullptr);
  expect_good_frame();
}

TEST_P(BadInput, more_candidates_than_there_is_room_for_are_said_once) {
  MetaBoxes candidates = people(500, 1);
  candidates.count = candidates.capacity + 77;
  for (int i = 0; i < 3; i++) {
    Ref<GstBuffer> buffer = frame();
    attach_on_device(buffer.get(), candidates);
    EXPECT_NE(pass(std::move(buffer)), nullptr);
  }
  expect_good_frame();
  EXPECT_EQ(twins.device.stat("nms", "overflow"), 3 * 77u);
  EXPECT_THAT(take_warnings(twins.device.bus()), ElementsAre(HasSubstr("max-candidates")));
}

// Boxes that were never written: any bytes at all.
TEST_P(BadInput, garbage_for_boxes) {
  for (std::uint64_t seed = 1; seed <= 30; seed++) {
    Dice dice(seed);
    MetaBoxes candidates = people(1000, seed);
    const auto scramble = [&dice](auto& values) {
      auto* words = reinterpret_cast<std::uint32_t*>(values.data());
      for (std::size_t i = 0; i < values.size() * sizeof(values[0]) / sizeof(std::uint32_t); i++)
        words[i] = static_cast<std::uint32_t>(dice.bits());
    };
    scramble(candidates.boxes.boxes);
    scramble(candidates.boxes.scores);
    scramble(candidates.boxes.classes);
    auto both = twins.frames(candidates);
    both.device = pass(std::move(both.device));
    EXPECT_EQ(twins.host.push(std::move(both.host)), GST_FLOW_OK);
    drain(twins.host);
    both.host = twins.host.pull();
    SCOPED_TRACE("seed=" + std::to_string(seed));
    expect_same_survivors(both.host.get(), both.device.get());
  }
}

TEST_P(BadInput, candidates_of_another_context) {
  const Gpu other;
  const Ref<GstBuffer> elsewhere = other.frame(info_of("NV12", 64, 48));
  for (std::uint64_t seed = 1; seed <= 5; seed++) {
    const MetaBoxes candidates = people(700, seed);
    Ref<GstBuffer> buffer = frame(), expected = noise(info_of("NV12", 64, 48), 1);
    attach_on_device(buffer.get(), candidates, gst_buffer_peek_memory(elsewhere.get(), 0));
    attach(expected.get(), candidates);
    const Ref<GstBuffer> out = pass(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(other.synchronise(), cudaSuccess);
    EXPECT_EQ(twins.host.push(std::move(expected)), GST_FLOW_OK);
    drain(twins.host);
    expected = twins.host.pull();
    SCOPED_TRACE("seed=" + std::to_string(seed));
    expect_same_survivors(expected.get(), out.get());
    expect_good_frame();
  }
  EXPECT_EQ(twins.device.stat("nms", "failures"), 0u);
  twins.expect_same_stats();
}

TEST_P(BadInput, candidates_of_another_context_behind_a_frame_that_is_held) {
  if (!held())
    GTEST_SKIP() << "no frame is held";
  const Gpu other;
  const Ref<GstBuffer> elsewhere = other.frame(info_of("NV12", 64, 48));
  Ref<GstBuffer> first = frame(), second = frame();
  attach_on_device(first.get(), people(700, 1));
  attach_on_device(second.get(), people(700, 1), gst_buffer_peek_memory(elsewhere.get(), 0));
  EXPECT_EQ(twins.device.push(std::move(first)), GST_FLOW_OK);
  EXPECT_EQ(twins.device.push(std::move(second)), GST_FLOW_OK);
  first = twins.device.pull();
  ASSERT_NE(first, nullptr);
  EXPECT_NE(gst_buffer_get_crowd_survivors_meta(first.get()), nullptr);
  EXPECT_TRUE(twins.device.send(gst_event_new_gap(0, GST_SECOND)));
  second = twins.device.pull();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(second.get()), nullptr);
  EXPECT_EQ(twins.device.stat("nms", "failures"), gst_buffer_get_crowd_survivors_meta(second.get()) ? 0u : 1u);
  expect_good_frame();
}

// A frame is held at any time, so a wait until none is held would never end.
TEST_P(BadInput, frames_without_candidates_come_before_those_of_another_context) {
  const Gpu other;
  const GstVideoInfo info = info_of("NV12", 64, 48);
  std::uint64_t with_survivors = 0;
  for (unsigned i = 0; i < 6; i++) {
    Ref<GstBuffer> buffer = other.frame(info);
    if (i > 1)
      attach_on_device(buffer.get(), people(700, i));
    EXPECT_EQ(twins.device.push(std::move(buffer)), GST_FLOW_OK);
  }
  drain(twins.device);
  while (const Ref<GstBuffer> out = twins.device.pull())
    with_survivors += gst_buffer_get_crowd_survivors_meta(out.get()) != nullptr;
  EXPECT_EQ(with_survivors, 4u);
  EXPECT_EQ(twins.device.stat("nms", "failures"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, BadInput, testing::Values("backend=auto", "backend=cuda", "output-delay=1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase_if(name, [](char c) { return !g_ascii_isalnum(c); });
                           return name;
                         });

TEST(DeviceId, a_device_that_is_not_there_is_an_error_at_the_start) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  const Ref<GstElement> nms(gst_element_factory_make("crowdnms", nullptr));
  ASSERT_NE(nms, nullptr);
  gst_object_ref_sink(nms.get());
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(nms.get(), bus.get());
  g_object_set(nms.get(), "cuda-device-id", devices, nullptr);
  gst_util_set_object_arg(G_OBJECT(nms.get()), "backend", "cuda");
  EXPECT_EQ(gst_element_set_state(nms.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const std::string text = expect_one_resource_error(bus.get(), GST_RESOURCE_ERROR_NOT_FOUND);
  EXPECT_THAT(text, testing::AllOf(HasSubstr("device " + std::to_string(devices)), HasSubstr("backend=auto")));
  gst_element_set_state(nms.get(), GST_STATE_NULL);
  gst_element_set_bus(nms.get(), nullptr);
}

TEST(DeviceId, the_cpu_stands_in_for_a_device_that_is_not_there) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  const Gpu gpu;
  Twins twins(gpu, "", "meta-output=boxes cuda-device-id=" + std::to_string(devices));
  const auto out = twins.pass(people(900, 1));
  expect_same_survivors(out.host.get(), out.device.get(), false);
  EXPECT_EQ(twins.device.stat("nms", "frames-on-gpu"), 0u);
  twins.expect_same_stats();
}

TEST(DeviceId, frames_of_another_device_are_dropped) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2)
    GTEST_SKIP() << "one GPU";
  const Gpu gpu(0u), other(1u);
  Pipe pipe("crowdnms name=nms meta-output=boxes cuda-device-id=1", &other);
  pipe.set_caps(info_of("NV12", 64, 48), true);
  for (const Gpu* from : {&gpu, &other, &gpu}) {
    Ref<GstBuffer> buffer = from->frame(info_of("NV12", 64, 48));
    attach_on_device(buffer.get(), people(900, 1));
    const Ref<GstBuffer> out = pipe.pass(std::move(buffer));
    EXPECT_EQ(gst_buffer_get_crowd_survivors_meta(out.get()) != nullptr, from == &other);
  }
  EXPECT_EQ(pipe.stat("nms", "failures"), 2u);
}

}  // namespace
