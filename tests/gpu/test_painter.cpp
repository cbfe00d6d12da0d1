// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The painter of a GPU against what the host paints: every byte of a frame and of what lies between its rows.
// CROWD_PAINT_TIME=1 also prints how long a launch takes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "crowd/nms.h"
#include "device_runner.hpp"
#include "environment.hpp"
#include "painting.hpp"

namespace crowd::test {
namespace {

/// A scene and a frame in device memory.
class DeviceScene {
 public:
  DeviceScene(const PaintedScene& scene, const Picture& picture)
      : scene_(scene), picture_(picture), frame_(std::span<const std::uint8_t>(picture.bytes)) {
    const Upload upload = [this](const void* bytes, std::size_t size) {
      return memory_.emplace_back(std::span(static_cast<const std::byte*>(bytes), size)).as<const void>();
    };
    candidates_ = scene.candidates.on_device(upload);
    survivors_ = scene.survivors.on_device(upload);
    summary_ = scene.summary_on_device(upload);
    EXPECT_EQ(painter_.set_labels(scene.names).problem, "");
  }

  std::string paint(cudaStream_t stream = nullptr) {
    return painter_
        .paint(picture_.at(frame_.as<std::uint8_t>()), scene_.style, candidates_, survivors_, summary_, stream)
        .problem;
  }
  void restore() {
    frame_.upload(picture_.bytes.data(), picture_.bytes.size());
  }
  std::vector<std::uint8_t> result() const {
    std::vector<std::uint8_t> bytes(picture_.bytes.size());
    frame_.download(bytes.data(), bytes.size());
    return bytes;
  }

 private:
  const PaintedScene& scene_;
  const Picture& picture_;
  DeviceBytes frame_;
  std::vector<DeviceBytes> memory_;
  draw::DeviceBoxes candidates_, survivors_;
  draw::DeviceSummary summary_;
  draw::DevicePainter painter_;
};

std::vector<std::uint8_t> painted_by_host(const PaintedScene& scene, const Picture& picture) {
  Picture expected = picture;
  scene.paint(expected.at(expected.bytes.data()));
  return expected.bytes;
}

void expect_as_host(const PaintedScene& scene, const Picture& picture) {
  DeviceScene device(scene, picture);
  ASSERT_EQ(device.paint(), "");
  EXPECT_EQ(difference(painted_by_host(scene, picture), device.result()), "");
}

class Painter : public testing::TestWithParam<std::string> {
 protected:
  Picture picture(int width, int height, std::uint64_t seed) const {
    return Picture(picture_format(GetParam()), width, height, seed % 2, seed);
  }
};

TEST_P(Painter, paints_streets_as_the_host_does) {
  std::uint64_t seed = 0;
  for (const auto& [width, height] : {std::pair{768, 576}, {1920, 1080}, {1919, 1079}, {1, 1}, {16384, 16}})
    for (const auto& [candidates, survivors] : {std::pair{0u, 150u}, {4096u, 500u}, {300u, 0u}, {0u, 5000u}}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " seed " + std::to_string(++seed));
      expect_as_host(street_scene(width, height, candidates, survivors, seed), picture(width, height, seed));
    }
}

TEST_P(Painter, paints_strange_scenes_as_the_host_does) {
  for (const auto& [width, height] : {std::pair{768, 576}, {1920, 1080}, {1, 1}, {3, 5}, {97, 61}, {16384, 16}})
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " seed " + std::to_string(seed));
      expect_as_host(strange_scene(width, height, static_cast<std::uint32_t>(seed * 211), 400, seed),
                     picture(width, height, seed));
    }
}

INSTANTIATE_TEST_SUITE_P(Format, Painter, testing::ValuesIn(picture_format_names()),
                         [](const auto& info) { return info.param; });

TEST(PainterRepeated, paints_one_picture_a_hundred_times) {
  for (const char* format : {"NV12", "RGBA"}) {
    const Picture picture(picture_format(format), 1920, 1080, true, 5);
    const PaintedScene scene = street_scene(1920, 1080, 4096, 500, 5);
    const auto expected = painted_by_host(scene, picture);
    DeviceScene device(scene, picture);
    for (int i = 0; i < 100; i++) {
      device.restore();
      ASSERT_EQ(device.paint(), "");
      ASSERT_EQ(difference(expected, device.result()), "") << format << " run " << i;
    }
  }
}

class Event {
 public:
  Event() {
    expect_cuda(cudaEventCreate(&event_), "creating an event");
  }
  ~Event() {
    cudaEventDestroy(event_);
  }
  Event(const Event&) = delete;

  void record(cudaStream_t stream) {
    expect_cuda(cudaEventRecord(event_, stream), "recording an event");
  }
  float since(const Event& start) const {
    float ms = 0;
    expect_cuda(cudaEventSynchronize(event_), "waiting for an event");
    expect_cuda(cudaEventElapsedTime(&ms, start.event_, event_), "reading the time");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds that the device takes for one of a row of launches, the median of many rows.
float launch_time(DeviceScene&& device) {
  constexpr int rows = 51, launches = 20;
  cudaStream_t stream = nullptr;
  expect_cuda(cudaStreamCreate(&stream), "creating a stream");
  std::vector<float> times;
  for (int row = 0; row < rows; row++) {
    Event start, end;
    EXPECT_EQ(device.paint(stream), "");
    start.record(stream);
    for (int i = 0; i < launches; i++)
      EXPECT_EQ(device.paint(stream), "");
    end.record(stream);
    times.push_back(1000 * end.since(start) / launches);
  }
  cudaStreamDestroy(stream);
  std::ranges::nth_element(times, times.begin() + rows / 2);
  return times[rows / 2];
}

TEST(PainterTime, of_a_launch) {
  if (!is_set("CROWD_PAINT_TIME"))
    GTEST_SKIP() << "CROWD_PAINT_TIME=1 to measure";
  for (const char* format : {"NV12", "RGBA"})
    for (const auto& [candidates, survivors] :
         {std::pair{0u, 0u}, {0u, 150u}, {0u, 500u}, {4096u, 500u}, {0u, 5000u}}) {
      const Picture picture(picture_format(format), 1920, 1080, true, 6);
      const PaintedScene scene = street_scene(1920, 1080, candidates, survivors, 6);
      std::printf("%s 1920x1080, %u candidates, %u survivors: %.1f us\n", format, candidates, survivors,
                  static_cast<double>(launch_time(DeviceScene(scene, picture))));
    }
}

}  // namespace
}  // namespace crowd::test
