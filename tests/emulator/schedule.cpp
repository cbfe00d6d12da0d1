// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which blocks are in flight, and which thread has its turn.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>

#include "blocks.hpp"
#include "watchdog.hpp"

namespace crowd::emulator {

namespace {

constexpr struct {
  const char* name;
  Order order;
} orders[] = {{"in-order", Order::in_order}, {"reversed", Order::reversed}, {"random", Order::random}};

/// That of the environment: CROWD_EMULATOR_SCHEDULE=ORDER or ORDER:BLOCKS_IN_FLIGHT.
Schedule first_schedule() {
  Schedule schedule;
  const char* const text = std::getenv("CROWD_EMULATOR_SCHEDULE");
  if (!text)
    return schedule;
  const std::string_view words = text;
  const std::size_t colon = std::min(words.find(':'), words.size());
  const auto* const it =
      std::ranges::find(orders, words.substr(0, colon), [](const auto& row) { return std::string_view(row.name); });
  char* end = nullptr;
  const unsigned long in_flight = colon < words.size() ? std::strtoul(text + colon + 1, &end, 10) : schedule.in_flight;
  if (it == std::end(orders) || (end && *end) || in_flight < 1 || in_flight > 64) {
    std::fprintf(
        stderr, "emulator: CROWD_EMULATOR_SCHEDULE=%s is not in-order, reversed or random, with or without :1 to :64\n",
        text);
    std::exit(1);
  }
  schedule.order = it->order;
  schedule.in_flight = static_cast<unsigned>(in_flight);
  return schedule;
}

Schedule chosen = first_schedule();
std::mt19937_64 lots;
std::uint64_t seeded = std::mt19937_64::default_seed;
const std::function<void()>* entry = nullptr;
bool slice_over = false;  ///< another cluster has its turn next

std::uint64_t draw(std::uint64_t below) {
  return lots() % below;
}

[[noreturn]] void run_threads() {
  while (true) {
    (*entry)();
    end_thread();
    Fiber::pause();
  }
}

/// Fibers without a thread. Stacks are used again at once, while they are in the cache.
std::vector<std::unique_ptr<Fiber>>& idle_fibers() {
  static std::vector<std::unique_ptr<Fiber>> fibers;
  return fibers;
}

Fiber* take_fiber() {
  if (idle_fibers().empty())
    return new Fiber(run_threads);
  Fiber* const fiber = idle_fibers().back().release();
  idle_fibers().pop_back();
  return fiber;
}

/// Accesses until others may go on. In the orders that are not random only what spins gets there.
void count_accesses_anew() {
  constexpr unsigned few = 32, many = 256;
  accesses_left = chosen.order == Order::random ? 1 + static_cast<unsigned>(draw(few)) : many;
}

void resume(Thread& thread) {
  current = &thread;
  threadIdx = thread.index;
  blockIdx = thread.block_index;
  Watchdog::begin_turn();
  thread.fiber->resume();
  if (thread.ended)
    idle_fibers().emplace_back(std::exchange(thread.fiber, nullptr));
}

std::unique_ptr<Cluster> start(const Launch& launch, unsigned number) {
  constexpr std::byte unwritten{0xA5};
  auto started = std::make_unique<Cluster>();
  const unsigned threads = launch.block.x * launch.block.y;
  const unsigned per_row = launch.grid.x / launch.cluster;
  started->blocks.resize(launch.cluster);
  for (Block& block : started->blocks) {
    block.memory.assign(launch.shared_bytes + 16, unwritten);
    block.warps.resize((threads + warp_size - 1) / warp_size);
    block.running = threads;
  }
  started->running = launch.cluster * threads;
  started->threads.resize(started->running);
  for (std::size_t t = 0; t < started->threads.size(); ++t) {
    Thread& thread = started->threads[t];
    const unsigned in_block = static_cast<unsigned>(t) % threads;
    thread.fiber = take_fiber();
    thread.block = static_cast<unsigned>(t) / threads;
    thread.index = {in_block % launch.block.x, in_block / launch.block.x, 0};
    thread.block_index = {number % per_row * launch.cluster + thread.block, number / per_row, 0};
  }
  return started;
}

/// Loads into the cache what the next threads need, one after another: each step reads what the one before has loaded.
void prefetch(const std::vector<Thread*>& round) {
  const std::size_t left = round.size();
  if (left > 2)
    __builtin_prefetch(round[left - 3]);
  if (left > 1)
    round[left - 2]->fiber->prefetch();
  if (left > 0)
    round[left - 1]->fiber->prefetch_stack();
}

/// Gives up to `turns` turns, drawn by lot, to threads that are ready. Returns how many they took.
std::uint64_t run(Cluster& its, std::uint64_t turns) {
  cluster = &its;
  std::uint64_t taken = 0;
  while (its.running && taken < turns) {
    if (its.round.empty()) {
      for (Thread& thread : its.threads)
        if (thread.ready)
          its.round.push_back(&thread);
      if (its.round.empty())
        give_up("every thread of the block, or of its cluster, waits for another");
      std::shuffle(its.round.begin(), its.round.end(), lots);
    }
    Thread* const next = its.round.back();
    its.round.pop_back();
    prefetch(its.round);
    resume(*next);
    ++taken;
    if (std::exchange(slice_over, false))
      break;
  }
  cluster = nullptr;
  return taken;
}

/// The clusters in flight, the one that started first in front.
class Window {
 public:
  explicit Window(const Launch& launch) : launch_(launch) {
    const unsigned clusters = launch.grid.x / launch.cluster * launch.grid.y;
    for (unsigned number = 0; number < clusters; ++number)
      waiting_.push_back(chosen.order == Order::in_order ? clusters - 1 - number : number);
    if (chosen.order == Order::random)
      std::shuffle(waiting_.begin(), waiting_.end(), lots);
  }

  void run_all() {
    while (true) {
      fill();
      if (flying_.empty())
        return;
      Cluster& next = *flying_[next_];
      turns_ += run(next, slice(next));
      if (!next.running)
        end();
      else if (turns_ > chosen.patience)
        give_up("the blocks in flight wait for one another, or for one that has not started");
      else
        next_ = choose_next();
    }
  }

 private:
  /// Starts clusters while there is room. Each has all its threads run until they wait for the first time.
  void fill() {
    if (flying_.size() == chosen.in_flight || waiting_.empty())
      return;
    for (; flying_.size() < chosen.in_flight && !waiting_.empty(); waiting_.pop_back()) {
      flying_.push_back(start(launch_, waiting_.back()));
      run(*flying_.back(), flying_.back()->threads.size());
    }
    next_ = first_choice();
  }

  std::size_t first_choice() {
    switch (chosen.order) {
      case Order::in_order:
        return 0;
      case Order::reversed:
        return flying_.size() - 1;
      default:
        return draw(flying_.size());
    }
  }

  /// Turns after which another cluster has some.
  std::uint64_t slice(const Cluster& its) const {
    constexpr unsigned rounds = 8, log_most = 15;
    if (chosen.order == Order::random)
      return std::uint64_t{1} << draw(log_most);
    return rounds * its.threads.size();
  }

  std::size_t choose_next() {
    switch (chosen.order) {
      case Order::in_order:
        return (next_ + 1) % flying_.size();
      case Order::reversed:
        return (next_ + flying_.size() - 1) % flying_.size();
      default:
        return draw(flying_.size());
    }
  }

  void end() {
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(next_));
    turns_ = 0;
    if (!flying_.empty())
      next_ = first_choice();
  }

  const Launch& launch_;
  std::vector<unsigned> waiting_;  ///< numbers of clusters that have not started, the next one last
  std::vector<std::unique_ptr<Cluster>> flying_;
  std::size_t next_ = 0;
  std::uint64_t turns_ = 0;  ///< since a cluster ended
};

}  // namespace

void give_up(const char* reason) {
  std::fprintf(stderr, "emulator: %s: block %u,%u of %u,%u, thread %u: %s; %s\n", kernel_name, blockIdx.x, blockIdx.y,
               gridDim.x, gridDim.y, threadIdx.x, reason, describe_schedule().c_str());
  std::abort();
}

void have_published() {
  constexpr unsigned often = 4;
  if (chosen.order != Order::random || draw(often))
    return have_accessed();
  slice_over = true;
  let_others_go_on();
}

void let_others_go_on() {
  count_accesses_anew();
  Fiber::pause();
}

void launch(const Launch& launch, const std::function<void()>& kernel) {
  entry = &kernel;
  gridDim = launch.grid;
  blockDim = launch.block;
  count_accesses_anew();
  const Watchdog watchdog(chosen.seconds);
  Window(launch).run_all();
}

void set_schedule(const Schedule& schedule) {
  chosen = schedule;
  chosen.in_flight = std::max(schedule.in_flight, 1U);
}

Schedule schedule() {
  return chosen;
}

bool can_hold(int blocks) {
  return static_cast<unsigned>(blocks) <= chosen.in_flight;
}

std::string describe_schedule() {
  return "CROWD_EMULATOR_SCHEDULE=" + std::string(orders[static_cast<int>(chosen.order)].name) + ":" +
         std::to_string(chosen.in_flight) + ", seed " + std::to_string(seeded);
}

void seed(std::uint64_t value) {
  seeded = value;
  lots.seed(value);
}

}  // namespace crowd::emulator
