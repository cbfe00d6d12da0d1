// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel that fills a network's batch against the host's loop, without a GPU: bit for bit.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "detect/net/fill.hpp"
#include "emulator.hpp"

namespace crowd::test {
namespace {

using net::Crop;
using net::FillWork;

constexpr int width = 150, height = 84;

/// Noise as NV12 or, packed, as RGBA.
struct Noise {
  explicit Noise(bool packed, unsigned seed) : bytes(std::size_t{width} * height * 4) {
    std::mt19937 random(seed);
    for (auto& byte : bytes)
      byte = static_cast<std::uint8_t>(random());
    picture.width = width;
    picture.height = height;
    for (int i = 0; i < 3; i++) {
      net::Samples& component = picture.components[i];
      const bool chroma = !packed && i > 0;
      component.stride = packed ? width * 4 : width;
      component.step = packed ? 4 : chroma ? 2 : 1;
      component.shift_x = component.shift_y = chroma;
      component.data = bytes.data() + (packed ? i : chroma ? width * height + i - 1 : 0);
      picture.offsets[i] = chroma ? 128 : packed ? 0 : 16;
      for (int k = 0; k < 3; k++)
        picture.matrix[i][k] = packed ? (i == k ? 1.F : 0.F) : 0.3F + 0.7F * static_cast<float>((i + k) % 3 - 1);
    }
  }
  std::vector<std::uint8_t> bytes;
  net::Picture picture;
};

std::vector<Crop> crops() {
  std::vector<Crop> all(3);
  all[0].place = {0, 0, 1.4F, 0.9F};
  all[0].content_width = 64;
  all[0].content_height = 48;
  all[1].place = {31.25F, 17.5F, 3.7F, 3.7F};
  all[1].content_width = 33;
  all[1].content_height = 20.5F;
  all[1].taps_x = all[1].taps_y = 3;
  all[2].place = {-20, 60, 2.5F, 2.5F};
  all[2].content_width = 64;
  all[2].content_height = 48;
  all[2].taps_x = 2;
  return all;
}

class Fill : public testing::TestWithParam<std::tuple<bool, bool, tensors::Type>> {};

TEST_P(Fill, is_the_hosts_bit_for_bit) {
  const auto [packed, planar, type] = GetParam();
  const Noise noise(packed, 7);
  const std::vector<Crop> of = crops();
  FillWork work;
  work.picture = noise.picture;
  work.crops = of.data();
  work.count = static_cast<int>(of.size());
  work.encoding.width = 64;
  work.encoding.height = 48;
  work.encoding.planar = planar;
  for (int i = 0; i < 3; i++) {
    work.encoding.channel_of[i] = 2 - i;
    work.encoding.factor[i] = type == tensors::Type::uint8 ? 1.F : 2.F / 255;
    work.encoding.offset[i] = type == tensors::Type::uint8 ? 0.F : -1.F;
  }
  work.type = type;
  const std::size_t bytes = of.size() * 3 * 64 * 48 * tensors::bytes_of(type);
  std::vector<std::uint8_t> expected(bytes + 1, 0xa5), got(bytes + 1, 0xa5);
  work.batch = expected.data();
  net::fill(work);
  work.batch = got.data();
  ASSERT_EQ(net::fill_on_device(work, nullptr), 0);
  EXPECT_EQ(expected, got);
  EXPECT_EQ(got.back(), 0xa5);
}

INSTANTIATE_TEST_SUITE_P(every, Fill,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Values(tensors::Type::float32, tensors::Type::float16,
                                                          tensors::Type::uint8)));

}  // namespace
}  // namespace crowd::test
