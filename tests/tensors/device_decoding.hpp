// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a device decodes against what the host does, in the emulator and on a GPU.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "network.hpp"
#include "tensors/decoder.hpp"
#include "tensors/device_decoder.hpp"

namespace crowd::test {

using namespace tensors;

/// The bits, one pattern for all that is no number.
inline std::uint32_t bits_of(float value) {
  return std::isnan(value) ? ~0u : std::bit_cast<std::uint32_t>(value);
}

inline auto bits_of(const RawBox& box) {
  return std::tuple(bits_of(box.x1), bits_of(box.y1), bits_of(box.x2), bits_of(box.y2), bits_of(box.score),
                    box.class_id);
}

inline void expect_same(const std::vector<RawBox>& host, const std::vector<RawBox>& device) {
  ASSERT_EQ(device.size(), host.size());
  for (std::size_t i = 0; i < host.size(); i++)
    ASSERT_EQ(bits_of(device[i]), bits_of(host[i])) << "candidate " << i;
}

inline std::vector<RawBox> decode_on_host(const Network& network, const Answer& answer, unsigned batch,
                                          const DecodeSettings& settings) {
  std::string problem;
  const auto decoder = Decoder::make(network.description, network.outputs, network.width, network.height, problem);
  EXPECT_TRUE(decoder) << problem;
  std::vector<RawBox> boxes;
  EXPECT_TRUE(decoder->decode(answer.tensors(), make_placements(batch), settings, boxes, problem)) << problem;
  return boxes;
}

inline std::unique_ptr<DeviceDecoder> make_device_decoder(const Network& network, unsigned max_batch) {
  DeviceReport report;
  auto decoder =
      DeviceDecoder::make(network.description, network.outputs, network.width, network.height, max_batch, report);
  EXPECT_TRUE(decoder) << report.problem;
  EXPECT_EQ(report.problem, "");
  return decoder;
}

}  // namespace crowd::test
