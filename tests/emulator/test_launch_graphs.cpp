// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// When a frame's kernels are launched as a graph, and when one by one, with the emulator's runtime.

#include "gpu/launchgraphs.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace crowd {
namespace {

class Graphs : public testing::Test {
 protected:
  Graphs() {
    EmulatedGraph::refused = false;
    EmulatedGraph::no_room = false;
    EmulatedGraph::launches = 0;
  }
  ~Graphs() override {
    graphs.clear();
    EXPECT_EQ(EmulatedGraph::alive, 0);
  }

  /// Launches a kernel that adds `key` to the sum; whether that went as a graph, which it has to if `as_graph`.
  void expect_launch(int key, bool as_graph) {
    const int before = EmulatedGraph::launches, sum_before = sum;
    EXPECT_EQ(graphs.launch(key, nullptr, [&](cudaStream_t) { return enqueue(key); }), cudaSuccess);
    EXPECT_EQ(EmulatedGraph::launches - before, as_graph) << key;
    EXPECT_EQ(sum, sum_before + key);
  }

  bool enqueue(int key) {
    enqueued++;
    if (!EmulatedGraph::recording) {
      sum += key;
      return true;
    }
    EmulatedGraph::recording->kernels.push_back([this, key] { sum += key; });
    return works_recorded;
  }

  LaunchGraphs<int> graphs;
  int sum = 0, enqueued = 0;
  bool works_recorded = true;
};

constexpr int max_kept = LaunchGraphs<int>::max_kept;

// What is timed from there on is the work itself.
TEST_F(Graphs, says_when_recording_is_over_and_nothing_is_launched_yet) {
  for (const int key : {1, 2, 2, 3}) {
    int calls = 0;
    const int sum_before = sum, launches = EmulatedGraph::launches;
    EXPECT_EQ(graphs.launch(
                  key, nullptr, [&](cudaStream_t) { return enqueue(key); },
                  [&](cudaStream_t) {
                    calls++;
                    EXPECT_EQ(EmulatedGraph::recording, nullptr);
                    EXPECT_EQ(EmulatedGraph::launches, launches);
                    EXPECT_EQ(sum, sum_before);
                    EXPECT_EQ(EmulatedGraph::alive, key == 1 ? 0 : key - 1) << "the graph is there";
                  }),
              cudaSuccess);
    EXPECT_EQ(calls, 1) << key;
    EXPECT_EQ(sum, sum_before + key);
  }
}

TEST_F(Graphs, the_first_launch_is_no_graph_and_later_ones_are) {
  expect_launch(1, false);
  expect_launch(1, true);
  expect_launch(2, true);
  const int before = enqueued;
  for (int i = 0; i < 5; i++) {
    expect_launch(1, true);
    expect_launch(2, true);
  }
  EXPECT_EQ(enqueued, before) << "nothing is recorded twice";
}

TEST_F(Graphs, the_one_used_longest_ago_goes) {
  expect_launch(100, false);
  for (int key = 0; key < max_kept; key++)
    expect_launch(key, true);
  expect_launch(0, true);
  expect_launch(max_kept, true);
  EXPECT_EQ(EmulatedGraph::alive, max_kept);
  const int before = enqueued;
  expect_launch(0, true);
  EXPECT_EQ(enqueued, before);
  expect_launch(1, true);
  EXPECT_EQ(enqueued, before + 1) << "recorded anew";
}

TEST_F(Graphs, where_too_many_go_round_they_are_launched_one_by_one) {
  const int limit = 1 + max_kept + static_cast<int>(LaunchGraphs<int>::max_given_up);
  for (int key = 0; key < limit; key++)
    expect_launch(key, key > 0);
  expect_launch(limit, false);
  expect_launch(limit - 1, true);
}

TEST_F(Graphs, those_that_came_back_were_not_in_vain) {
  constexpr int phases = 30, keys = 5;
  static_assert(phases * keys > max_kept + LaunchGraphs<int>::max_given_up);
  expect_launch(-1, false);
  for (int phase = 0; phase < phases; phase++) {
    for (int i = 0; i < 10 * keys; i++)
      expect_launch(phase * keys + i % keys, true);
  }
}

TEST_F(Graphs, launches_one_by_one_where_nothing_can_be_recorded) {
  EmulatedGraph::refused = true;
  for (int i = 0; i < 5; i++)
    expect_launch(7, false);
  EmulatedGraph::refused = false;
  expect_launch(7, true);
}

TEST_F(Graphs, launches_one_by_one_what_fails_while_it_is_recorded) {
  works_recorded = false;
  for (int i = 0; i < 5; i++)
    expect_launch(7, false);
  EXPECT_EQ(enqueued, 9);
  works_recorded = true;
  expect_launch(7, true);
}

TEST_F(Graphs, launches_one_by_one_where_there_is_no_memory_for_a_graph) {
  expect_launch(6, false);
  expect_launch(6, true);
  EmulatedGraph::no_room = true;
  for (int i = 0; i < 3; i++) {
    expect_launch(6, false);
    EXPECT_EQ(EmulatedGraph::alive, 0);
    expect_launch(7, false);
  }
  EmulatedGraph::no_room = false;
  expect_launch(7, true);
}

TEST_F(Graphs, stops_to_record_in_vain) {
  for (bool& failure : {std::ref(EmulatedGraph::refused), std::ref(EmulatedGraph::no_room)}) {
    failure = true;
    for (unsigned i = 0; i <= LaunchGraphs<int>::max_given_up; i++)
      expect_launch(7, false);
    failure = false;
    expect_launch(7, false);
    graphs.clear();
    expect_launch(7, false);
    expect_launch(7, true);
    graphs.clear();
  }
}

}  // namespace
}  // namespace crowd
