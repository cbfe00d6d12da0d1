// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How long the device works on frames, with the emulator's events.

#include "gpu/devicetimes.hpp"

#include <gtest/gtest.h>

namespace crowd {
namespace {

class Times : public testing::Test {
 protected:
  Times() {
    EmulatedEvent::keeps_up = true;
    EXPECT_EQ(times.prepare(), cudaSuccess);
    made = EmulatedEvent::made;
    recorded = EmulatedEvent::recorded;
    waits = EmulatedEvent::waits;
  }
  ~Times() override {
    EXPECT_EQ(EmulatedEvent::made, made) << "events are made when it is prepared";
    EXPECT_EQ(EmulatedEvent::waits, waits) << "the host waits for none";
    EmulatedEvent::keeps_up = false;
  }

  /// The device works so long on each.
  void pass(unsigned frames, float microseconds) {
    for (unsigned i = 0; i < frames; i++) {
      times.collect();
      times.begin(nullptr);
      EmulatedEvent::clock += microseconds / 1000;
      times.end(nullptr);
      EmulatedEvent::clock += 1;
    }
  }

  DeviceTimes times;
  int made = 0, recorded = 0, waits = 0;
};

TEST_F(Times, are_of_one_frame_in_sixteen) {
  pass(8, 700);
  EXPECT_EQ(EmulatedEvent::recorded, recorded) << "the first frames load kernels";
  pass(1, 250);
  EXPECT_EQ(times.sum().frames, 0u) << "known from the next frame on";
  pass(15, 700);
  pass(1, 125);
  pass(1, 700);
  EXPECT_EQ(times.sum().frames, 2u);
  EXPECT_NEAR(static_cast<double>(times.sum().nanoseconds), 375'000, 2000);
  EXPECT_EQ(EmulatedEvent::recorded, recorded + 4);
}

TEST_F(Times, of_a_device_that_is_far_behind_are_left_out) {
  EmulatedEvent::keeps_up = false;
  pass(6 * DeviceTimes::every, 100);
  EXPECT_EQ(times.sum().frames, 0u);
  EXPECT_EQ(EmulatedEvent::recorded, recorded + 8) << "four pairs";
  EmulatedEvent::keeps_up = true;
  EXPECT_TRUE(times.collect());
  EXPECT_FALSE(times.collect());
  EXPECT_EQ(times.sum().frames, 4u);
  pass(DeviceTimes::every + 1, 100);
  EXPECT_EQ(times.sum().frames, 5u);
}

TEST_F(Times, of_the_last_frames_are_added_at_the_release) {
  EmulatedEvent::keeps_up = false;
  pass(DeviceTimes::first + 1, 100);
  EmulatedEvent::keeps_up = true;
  times.release();
  EXPECT_EQ(times.sum().frames, 1u);
  times.forget();
  EXPECT_EQ(times.sum().frames, 0u);
  pass(100, 100);
  EXPECT_EQ(times.sum().frames, 0u) << "without events nothing is timed";
}

}  // namespace
}  // namespace crowd
