// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel of draw/painter.hpp against what the host paints, without a GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include <cuda_runtime.h>

#include "boxes.hpp"
#include "emulator.hpp"
#include "overlay/draw/labels.hpp"
#include "overlay/draw/text.hpp"
#include "painting.hpp"

namespace crowd::test {
namespace {

/// Keeps what is uploaded, each in memory of its own, so that the address sanitizer sees a step beside it.
class Memory {
 public:
  Upload upload() {
    return [this](const void* bytes, std::size_t size) {
      auto& copy = copies_.emplace_back(std::malloc(size + 1), std::free);
      if (size > 0)
        std::memcpy(copy.get(), bytes, size);
      return copy.get();
    };
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> copies_;
};

void expect_as_host(const PaintedScene& scene, const Picture& picture) {
  Picture expected = picture, got = picture;
  scene.paint(expected.at(expected.bytes.data()));
  Memory memory;
  draw::DevicePainter painter;
  ASSERT_EQ(painter.set_labels(scene.names).problem, "");
  ASSERT_EQ(painter
                .paint(got.at(got.bytes.data()), scene.style, scene.candidates.on_device(memory.upload()),
                       scene.survivors.on_device(memory.upload()), scene.summary_on_device(memory.upload()), nullptr)
                .problem,
            "");
  EXPECT_EQ(difference(expected.bytes, got.bytes), "");
}

class Painter : public testing::TestWithParam<std::string> {
 protected:
  const PictureFormat& format() const {
    return picture_format(GetParam());
  }
};

TEST_P(Painter, paints_what_the_host_paints) {
  constexpr struct {
    int width, height;
    std::uint64_t seeds;
  } sizes[] = {{1, 1, 40}, {3, 5, 40}, {64, 48, 40}, {97, 61, 60}, {300, 40, 30}, {130, 200, 20}, {1700, 20, 12}};
  for (const auto& [width, height, seeds] : sizes)
    for (std::uint64_t seed = 1; seed <= seeds; seed++) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " seed " + std::to_string(seed));
      emulator::seed(seed);
      const auto candidates = static_cast<std::uint32_t>(seed * 7 % 41),
                 survivors = static_cast<std::uint32_t>(seed * 5 % 23);
      expect_as_host(strange_scene(width, height, candidates, survivors, seed),
                     Picture(format(), width, height, seed % 2, seed));
      ASSERT_FALSE(HasFailure());
    }
}

TEST_P(Painter, paints_more_than_its_lists_hold) {
  for (std::uint64_t seed = 1; seed <= 2; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_as_host(street_scene(120, 70, 4096, 700, seed), Picture(format(), 120, 70, true, seed));
    expect_as_host(strange_scene(70, 66, 2500, 900, seed), Picture(format(), 70, 66, true, seed));
  }
}

TEST_P(Painter, paints_a_crowd_of_five_thousand) {
  expect_as_host(street_scene(190, 130, 0, 5000, 3), Picture(format(), 190, 130, true, 3));
}

INSTANTIATE_TEST_SUITE_P(Format, Painter, testing::ValuesIn(picture_format_names()),
                         [](const auto& info) { return info.param; });

TEST(PainterLabels, change_and_go) {
  PaintedScene scene = street_scene(200, 120, 3, 5, 9);
  const Picture picture(picture_format("NV12"), 200, 120, true, 9);
  Memory memory;
  draw::DevicePainter painter;
  const auto boxes = scene.survivors.on_device(memory.upload());
  const auto expect_with = [&](std::vector<const char*> names) {
    scene.names = std::move(names);
    Picture expected = picture, got = picture;
    scene.paint(expected.at(expected.bytes.data()));
    ASSERT_EQ(painter.set_labels(scene.names).problem, "");
    ASSERT_EQ(painter
                  .paint(got.at(got.bytes.data()), scene.style, scene.candidates.on_device(memory.upload()), boxes,
                         scene.summary_on_device(memory.upload()), nullptr)
                  .problem,
              "");
    EXPECT_EQ(difference(expected.bytes, got.bytes), "");
  };
  expect_with({"a", "bc", "def"});
  expect_with({"a", "bc", "def"});
  expect_with({"ab", "c", "def"});
  expect_with({"ab", nullptr});
  expect_with({});
  painter.release();
  expect_with({"", "x", "y"});
}

// With no memory left nothing can be uploaded again.
TEST(PainterLabels, are_uploaded_once_in_whatever_order_frames_name_them) {
  PaintedScene scene = street_scene(200, 120, 0, 6, 9);
  scene.survivors.with_labels = true;
  scene.style.summary = false;
  const Picture picture(picture_format("NV12"), 200, 120, true, 9);
  draw::DevicePainter painter;
  draw::LabelTable table;
  std::vector<const char*> words = {"person", "car", "dog"};
  for (int i = 0; i < 6; i++) {
    Memory memory;
    table.begin_frame();
    scene.survivors.labels.clear();
    for (std::uint32_t k = 0; k < scene.survivors.count; k++)
      scene.survivors.labels.push_back(table.index_of(words[k % words.size()]));
    scene.names.assign(table.names().begin(), table.names().end());
    const auto boxes = scene.survivors.on_device(memory.upload());
    EmulatedMemory::full = i > 0;
    const DeviceReport report = painter.set_labels(table.names());
    EmulatedMemory::full = false;
    ASSERT_EQ(report.outcome, DeviceOutcome::done) << i;
    Picture expected = picture, got = picture;
    scene.paint(expected.at(expected.bytes.data()));
    ASSERT_EQ(painter.paint(got.at(got.bytes.data()), scene.style, {}, boxes, {}, nullptr).problem, "");
    EXPECT_EQ(difference(expected.bytes, got.bytes), "") << i;
    std::ranges::next_permutation(words, [](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
  }
}

TEST(PainterLabels, say_that_the_device_is_full) {
  draw::DevicePainter painter;
  const std::vector<const char*> names = {"a", "bc"};
  EmulatedMemory::full = true;
  const DeviceReport report = painter.set_labels(names);
  EmulatedMemory::full = false;
  EXPECT_EQ(report.outcome, DeviceOutcome::out_of_memory);
  EXPECT_NE(report.problem, "");
  EXPECT_EQ(painter.set_labels(names).outcome, DeviceOutcome::done);
}

TEST(PainterCanvas, is_refused_where_it_is_subsampled_unevenly) {
  Picture picture(picture_format("I420"), 16, 16, true, 1);
  draw::Canvas canvas = picture.at(picture.bytes.data());
  canvas.component[2].shift_y = 0;
  const PaintedScene scene = street_scene(16, 16, 1, 1, 1);
  const DeviceReport report = draw::DevicePainter().paint(canvas, scene.style, {}, {}, {}, nullptr);
  EXPECT_EQ(report.outcome, DeviceOutcome::dropped);
  EXPECT_NE(report.problem, "");
}

TEST(PainterCanvas, is_refused_where_samples_have_two_bytes) {
  Picture picture(picture_format("I420"), 16, 16, true, 1);
  draw::Canvas canvas = picture.at(picture.bytes.data());
  for (draw::Component& component : canvas.component)
    component.bytes = 2;
  const PaintedScene scene = street_scene(16, 16, 1, 1, 1);
  EXPECT_EQ(draw::DevicePainter().paint(canvas, scene.style, {}, {}, {}, nullptr).outcome, DeviceOutcome::dropped);
}

/// People side by side, so near that their labels meet; classes, names and calibrations of all kinds.
PaintedScene crowded_scene(int width, int height, std::uint32_t survivors, int scale, std::uint64_t seed) {
  PaintedScene scene = street_scene(width, height, 0, survivors, seed);
  scene.style.font_scale = scale;
  scene.style.counts = seed % 2;
  scene.words = {"person", "Ångström", "прохожий Ё", "άνθρωπος", "e\xcc\x81\xc0\xafx"};
  scene.names.clear();
  for (const std::string& word : scene.words)
    scene.names.push_back(word.c_str());
  Dice dice(seed);
  scene.survivors.with_labels = true;
  for (std::int32_t& label : scene.survivors.labels)
    label = static_cast<std::int32_t>(dice.below(6));
  scene.survivors.calibration = seed % 3 ? Calibration{4, -1} : Calibration{};
  return scene;
}

TEST(PainterCrowd, labels_are_placed_as_on_the_host) {
  for (const auto& [survivors, scale] : {std::pair{40u, 1}, {150u, 1}, {600u, 1}, {90u, 2}})
    for (std::uint64_t seed = 1; seed <= 6; seed++) {
      SCOPED_TRACE(std::to_string(survivors) + " seed " + std::to_string(seed));
      emulator::seed(seed);
      expect_as_host(crowded_scene(400, 260, survivors, scale, seed),
                     Picture(picture_format(seed % 2 ? "NV12" : "RGBA"), 400, 260, true, seed));
      ASSERT_FALSE(HasFailure());
    }
}

// All in one place: the longest way through the labels, and nearly none finds a place.
TEST(PainterCrowd, in_one_spot_is_placed_as_on_the_host) {
  PaintedScene scene = crowded_scene(300, 200, 5000, 1, 4);
  for (std::size_t i = 0; i < scene.survivors.boxes.size(); i += 4)
    std::ranges::copy(std::array{100.0F, 80.0F, 140.0F, 160.0F},
                      scene.survivors.boxes.begin() + static_cast<std::ptrdiff_t>(i));
  expect_as_host(scene, Picture(picture_format("NV12"), 300, 200, true, 4));
}

TEST(PainterLabels, follow_to_another_stream) {
  const PaintedScene scene = street_scene(200, 120, 0, 5, 9);
  const Picture picture(picture_format("NV12"), 200, 120, true, 9);
  Memory memory;
  draw::DevicePainter painter;
  ASSERT_EQ(painter.set_labels(scene.names).problem, "");
  const auto boxes = scene.survivors.on_device(memory.upload());
  Picture expected = picture;
  scene.paint(expected.at(expected.bytes.data()));
  int other = 0;
  for (auto* stream : {static_cast<CUstream_st*>(nullptr), reinterpret_cast<CUstream_st*>(&other)}) {
    Picture got = picture;
    ASSERT_EQ(
        painter
            .paint(got.at(got.bytes.data()), scene.style, {}, boxes, scene.summary_on_device(memory.upload()), stream)
            .problem,
        "");
    EXPECT_EQ(difference(expected.bytes, got.bytes), "");
  }
}

TEST(PainterTexts, say_that_the_device_is_full) {
  const PaintedScene scene = street_scene(64, 48, 0, 5, 9);
  Picture picture(picture_format("NV12"), 64, 48, true, 9);
  const Picture before = picture;
  Memory memory;
  draw::DevicePainter painter;
  const auto boxes = scene.survivors.on_device(memory.upload());
  EmulatedMemory::full = true;
  const DeviceReport report = painter.paint(picture.at(picture.bytes.data()), scene.style, {}, boxes, {}, nullptr);
  EmulatedMemory::full = false;
  EXPECT_EQ(report.outcome, DeviceOutcome::out_of_memory);
  EXPECT_NE(report.problem, "");
  EXPECT_EQ(before.bytes, picture.bytes);
}

TEST(Scores, are_rounded_as_the_standard_library_does) {
  struct Letters {
    std::string all;
    void put(char letter) {
      all += letter;
    }
  };
  const auto expect = [](float score) {
    char digits[64]{};
    const auto written = std::to_chars(digits, digits + sizeof digits, score, std::chars_format::fixed, 2);
    Letters letters;
    draw::put_score(letters, score);
    ASSERT_EQ(letters.all, std::string(&digits[0], written.ptr)) << score;
  };
  for (const float score : {0.0F, -0.0F, -0.001F, 0.005F, 0.125F, 0.375F, 0.995F, 1e6F, -1e6F, 1e-40F})
    expect(score);
  Dice dice(3);
  for (int i = 0; i < 200000; i++) {
    expect(static_cast<float>(dice.below(2000001)) / 1e6F - 1);
    expect(static_cast<float>(dice.below(1U << 30)) / 1024 - 500000);
  }
}

}  // namespace
}  // namespace crowd::test
