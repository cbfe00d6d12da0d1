// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The pinned memory that boxes are uploaded from, with the emulator's runtime: no block is written that is still read.

#include "gpu/uploadring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace crowd::cuda {
namespace {

class Ring : public testing::Test {
 protected:
  /// Uploads a text and returns the block that it went through.
  void* upload(const std::string& text) {
    EXPECT_EQ(ring.take(text.size()), cudaSuccess);
    EXPECT_GE(ring.room(), text.size());
    std::memcpy(ring.data(), text.data(), text.size());
    EXPECT_EQ(ring.send(device.data(), text.size(), nullptr), cudaSuccess);
    EXPECT_EQ(std::string(device.data(), text.size()), text);
    return ring.data();
  }

  std::vector<char> device = std::vector<char>(1000);
  UploadRing ring;
};

TEST_F(Ring, goes_round_and_keeps_its_blocks) {
  std::vector<void*> blocks;
  for (int i = 0; i < 12; i++)
    blocks.push_back(upload("frame " + std::to_string(100 + i)));
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 4u);
  for (std::size_t i = 4; i < blocks.size(); i++)
    EXPECT_EQ(blocks[i], blocks[i - 4]);
}

TEST_F(Ring, grows_by_doubling) {
  for (int i = 0; i < 4; i++)
    upload(std::string(100, 'a'));
  upload(std::string(101, 'b'));
  EXPECT_EQ(ring.room(), 200u);
  const void* grown = ring.data();
  for (int i = 0; i < 3; i++)
    upload(std::string(10, 'c'));
  EXPECT_EQ(upload(std::string(200, 'd')), grown);
}

TEST_F(Ring, works_anew_after_clear) {
  for (int i = 0; i < 6; i++)
    upload("before");
  ring.clear();
  for (int i = 0; i < 6; i++)
    upload("after");
}

TEST_F(Ring, waits_for_what_is_still_read) {
  for (int i = 0; i < 4; i++)
    upload("round one");
  const int before = EmulatedEvent::waits;
  upload("round two");
  EXPECT_EQ(EmulatedEvent::waits, before + 1);
}

}  // namespace
}  // namespace crowd::cuda
