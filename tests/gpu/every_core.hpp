// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Most of a comparison's time is the oracle's: cases run on all cores. In one process, since a GPU gives processes
// slices of a millisecond, in turn, however short their kernels are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "environment.hpp"

namespace crowd::test {

/// Runs what it is given on as many threads as there are cores; on one for compute-sanitizer. The destructor waits.
class EveryCore {
 public:
  void operator()(std::function<void()> work) {
    if (running_.size() == threads_)
      finish_first();
    running_.push_back(std::async(std::launch::async, std::move(work)));
  }

  void finish() {
    while (!running_.empty())
      finish_first();
  }

  EveryCore() = default;
  ~EveryCore() {
    finish();
  }
  EveryCore(const EveryCore&) = delete;
  EveryCore& operator=(const EveryCore&) = delete;

 private:
  void finish_first() {
    running_.front().get();
    running_.pop_front();
  }

  std::size_t threads_ = quick() ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::deque<std::future<void>> running_;
};

}  // namespace crowd::test
