// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The inner loops of every instruction set give what the plain ones give, also of those that the library would not
// choose on this processor.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "cpu/arrange.hpp"
#include "frame_of.hpp"
#include "hard_boxes.hpp"
#include "oracle.hpp"
#include "quick.hpp"

namespace crowd::cpu::portable {
Pass suppress(const Task& task);
Pass find_representatives(const Task& task, std::uint32_t survivors);
void take(const Task& task, std::uint32_t slot);
}  // namespace crowd::cpu::portable

namespace crowd::test {
namespace {

using namespace cpu;

struct Found {
  std::vector<std::uint32_t> survivors;
  std::vector<std::uint32_t> representatives;
  bool operator==(const Found&) const = default;
  friend void PrintTo(const Found& found, std::ostream* out) {
    *out << testing::PrintToString(found.survivors) << testing::PrintToString(found.representatives);
  }
};

Found run(const Kernels& kernels, const CrowdNmsParams& params, bool all_suppress, const Boxes& set, Order order) {
  std::size_t bytes = 0;
  carve(nullptr, set.size(), bytes);
  const std::unique_ptr<void, void (*)(void*)> workspace(std::aligned_alloc(workspace_alignment, bytes), std::free);
  const Scratch scratch = carve(workspace.get(), set.size(), bytes);
  Found found{{}, std::vector<std::uint32_t>(set.size())};
  Outcome outcome;
  const Rule rule(params);
  const Frame frame = frame_of(set);
  const Job job{params, rule, frame, scratch, nullptr, 0};
  Task task = arrange(job, found.representatives.data(), order, outcome);
  task.all_suppress = all_suppress;
  task.max_steps = UINT64_MAX;
  const std::uint32_t count = kernels.suppress(task).survivors;
  if (task.all_suppress) {
    restore_all(task);
    kernels.find_representatives(task, count);
  }
  slots_to_indices(task, count);
  found.survivors.assign(task.survivors, task.survivors + count);
  return found;
}

void expect_as_portable(const Kernels& kernels, std::span<const Distribution> all) {
  constexpr Kernels plain = {portable::suppress, portable::find_representatives, portable::take};
  const std::uint32_t metrics = metric_count();
  for (const Distribution& from : all) {
    for (const std::uint32_t n : {0u, 1u, 8u, 9u, 64u, 65u, 150u, 700u, 1500u}) {
      const std::uint32_t step = is_quick() && n > 100 ? 7 : 1;
      for (std::uint32_t variant = 0; variant < 4 * metrics; variant += step) {
        CrowdNmsParams params = default_params();
        const bool all_suppress = variant % 2;
        params.metric = static_cast<CrowdNmsMetric>(variant / 2 % metrics);
        params.comparator = variant / (2 * metrics) ? CROWD_NMS_GREATER_EQUAL : CROWD_NMS_GREATER;
        params.overlap_threshold = variant % 3 ? 0.5f : 0.25f;
        params.pixel_offset = variant % 5 == 0;
        const Boxes set = from.make(n, variant + n);
        const Found expected = run(plain, params, all_suppress, set, Order::place);
        for (const Order order : {Order::place, Order::kind})
          ASSERT_EQ(run(kernels, params, all_suppress, set, order), expected)
              << from.name << " n=" << n << ' ' << params << " all_suppress=" << all_suppress;
      }
    }
  }
}

TEST(Kernels, of_the_baseline_agree) {
  for (const auto all : {distributions(), hard_distributions()})
    expect_as_portable({baseline::suppress, baseline::find_representatives, baseline::take}, all);
}

TEST(Kernels, of_avx2_agree) {
#if defined(CROWD_HAVE_AVX2)
  if (!__builtin_cpu_supports("avx2"))
    GTEST_SKIP() << "this processor has no AVX2";
  for (const auto all : {distributions(), hard_distributions()})
    expect_as_portable({avx2::suppress, avx2::find_representatives, avx2::take}, all);
#else
  GTEST_SKIP() << "built without AVX2";
#endif
}

}  // namespace
}  // namespace crowd::test
