// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The emulator's schedules of blocks: kernels whose blocks rightly wait for one another end in all of them, others are
// reported by name.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "emulator.hpp"
#include "kernels/memory.cuh"

namespace crowd {
namespace {

using emulator::Order;
using emulator::Schedule;

constexpr unsigned blocks = 12;
constexpr unsigned threads = 64;
using Words = std::vector<std::uint32_t>;

/// Waits by looking at one word, without any other operation between two looks.
__device__ void wait_for(const std::uint32_t* word) {
  while (!load_relaxed(word))
    continue;
  acquire_loaded();
}

/// Blocks draw numbers as they start; each writes the number after its predecessor's. `totals` begins with a 1.
__global__ void hand_on(std::uint32_t* tickets, std::uint32_t* totals) {
  __shared__ std::uint32_t number;
  if (threadIdx.x == 0)
    number = atomicAdd(tickets, 1u);
  __syncthreads();
  wait_for(totals + number);
  __syncthreads();
  if (threadIdx.x == 0)
    store_release(totals + number + 1, totals[number] + 1);
}

/// The same without numbers drawn, which only ends where earlier blocks start earlier.
__global__ void hand_on_by_index(std::uint32_t* totals) {
  wait_for(totals + blockIdx.x);
  __syncthreads();
  if (threadIdx.x == 0)
    store_release(totals + blockIdx.x + 1, totals[blockIdx.x] + 1);
}

/// All blocks wait for all others: ends if they are in flight together. Each keeps its number in shared memory over
/// that, and counts those that do not find theirs.
__global__ void meet(std::uint32_t* come, std::uint32_t* lost) {
  __shared__ unsigned mine[threads], first;
  extern __shared__ unsigned also_mine[];
  mine[threadIdx.x] = also_mine[threadIdx.x] = blockIdx.x;
  if (threadIdx.x == 0) {
    first = blockIdx.x;
    atomicAdd(come, 1u);
  }
  while (__any_sync(~0u, load_relaxed(come) < gridDim.x))
    continue;
  __syncthreads();
  if (mine[threadIdx.x] != blockIdx.x || also_mine[threadIdx.x] != blockIdx.x || first != blockIdx.x)
    atomicAdd(lost, 1u);
}

__global__ void wait_for_each_other(std::uint32_t* words) {
  wait_for(words + (blockIdx.x ^ 1));
  store_release(words + blockIdx.x, 1);
}

__global__ void lose_a_lane() {
  if (threadIdx.x != 5)
    __syncwarp();
}

/// Looks at a word in a way that the emulator does not see.
__global__ void wait_unseen(const std::uint32_t* word) {
  while (!*word)
    asm volatile("" ::: "memory");
}

/// Lists the blocks as their first threads come by, twice.
__global__ void list(std::uint32_t* listed, std::uint32_t* starts, std::uint32_t* ends) {
  if (threadIdx.x)
    return;
  starts[atomicAdd(listed, 1u)] = blockIdx.x;
  for (int k = 0; k < 1000; ++k)
    load_relaxed(listed);
  ends[atomicAdd(listed + 1, 1u)] = blockIdx.x;
}

class Schedules : public testing::TestWithParam<Order> {
 protected:
  void SetUp() override {
    use(4);
  }
  void TearDown() override {
    emulator::set_schedule(before_);
  }
  static void use(unsigned in_flight) {
    emulator::set_schedule({.order = GetParam(), .in_flight = in_flight, .patience = 1'000'000, .seconds = 1});
    emulator::seed(7);
  }

 private:
  Schedule before_ = emulator::schedule();
};
using SchedulesDeathTest = Schedules;

TEST_P(Schedules, let_blocks_wait_for_those_that_started_before) {
  for (unsigned in_flight = 1; in_flight <= blocks + 1; ++in_flight) {
    use(in_flight);
    Words totals(blocks + 1);
    totals[0] = 1;
    std::uint32_t tickets = 0;
    hand_on<<<blocks, threads, 0, nullptr>>>(&tickets, totals.data());
    Words expected(blocks + 1);
    std::iota(expected.begin(), expected.end(), 1u);
    EXPECT_EQ(totals, expected) << emulator::describe_schedule();
  }
}

TEST_P(Schedules, have_so_many_blocks_in_flight_each_with_shared_memory_of_its_own) {
  use(blocks);
  std::uint32_t come = 0, lost = 0;
  meet<<<blocks, threads, threads * sizeof(unsigned), nullptr>>>(&come, &lost);
  EXPECT_EQ(come, blocks);
  EXPECT_EQ(lost, 0u);
}

TEST_P(SchedulesDeathTest, have_no_more_blocks_in_flight) {
  use(blocks - 1);
  std::uint32_t come = 0, lost = 0;
  EXPECT_DEATH(
      (meet<<<blocks, threads, threads * sizeof(unsigned), nullptr>>>(&come, &lost)),
      "emulator: void .*::meet\\(.*: block .*wait for one another, or for one that has not started.*:11, seed");
}

TEST_P(SchedulesDeathTest, report_blocks_that_wait_for_each_other) {
  Words words(blocks);
  EXPECT_DEATH((wait_for_each_other<<<blocks, threads, 0, nullptr>>>(words.data())),
               "wait_for_each_other\\(.*wait for one another.*SCHEDULE=.*:4, seed 7");
}

TEST_P(SchedulesDeathTest, report_a_lane_that_a_warp_waits_for) {
  EXPECT_DEATH((lose_a_lane<<<1, 32, 0, nullptr>>>()), "lose_a_lane\\(.*every thread of the block.*waits for another");
}

TEST_P(SchedulesDeathTest, report_a_loop_without_end) {
  const std::uint32_t word = 0;
  EXPECT_DEATH((wait_unseen<<<1, 1, 0, nullptr>>>(&word)), "wait_unseen\\(.*goes on without end");
}

TEST_P(SchedulesDeathTest, start_blocks_in_their_order_or_not) {
  const auto run = [] {
    Words totals(blocks + 1);
    totals[0] = 1;
    hand_on_by_index<<<blocks, threads, 0, nullptr>>>(totals.data());
    return totals.back();
  };
  if (GetParam() == Order::in_order)
    EXPECT_EQ(run(), blocks + 1);
  else
    EXPECT_DEATH(run(), "hand_on_by_index\\(.*has not started");
}

TEST_P(Schedules, interleave_blocks) {
  Words listed(2), starts(blocks), ends(blocks);
  list<<<blocks, threads, 0, nullptr>>>(listed.data(), starts.data(), ends.data());
  EXPECT_EQ(std::set<std::uint32_t>(starts.begin(), starts.end()).size(), blocks);
  EXPECT_EQ(std::set<std::uint32_t>(ends.begin(), ends.end()).size(), blocks);
  const Words first(starts.begin(), starts.begin() + 4);
  if (GetParam() == Order::in_order) {
    EXPECT_EQ(first, (Words{0, 1, 2, 3}));
    EXPECT_EQ(ends.front(), 0u);
  } else if (GetParam() == Order::reversed) {
    EXPECT_EQ(first, (Words{11, 10, 9, 8}));
    EXPECT_EQ(ends.front(), 8u) << "the last one in flight goes on first";
  } else {
    EXPECT_NE(starts, ends);
    Words again(2), same(blocks);
    emulator::seed(7);
    list<<<blocks, threads, 0, nullptr>>>(again.data(), same.data(), ends.data());
    EXPECT_EQ(same, starts) << "a seed gives one order";
    emulator::seed(8);
    again = {0, 0};
    list<<<blocks, threads, 0, nullptr>>>(again.data(), same.data(), ends.data());
    EXPECT_NE(same, starts);
  }
}

std::string name_of(const testing::TestParamInfo<Order>& info) {
  return info.param == Order::in_order ? "in_order" : info.param == Order::reversed ? "reversed" : "random";
}

constexpr Order orders[] = {Order::in_order, Order::reversed, Order::random};
INSTANTIATE_TEST_SUITE_P(Order, Schedules, testing::ValuesIn(orders), name_of);
INSTANTIATE_TEST_SUITE_P(Order, SchedulesDeathTest, testing::ValuesIn(orders), name_of);

}  // namespace
}  // namespace crowd
