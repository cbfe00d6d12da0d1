// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What tests of kernels in the emulator share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cases.hpp"
#include "emulator.hpp"

namespace crowd::test {

/// The workspace of a call, in memory of its own, so that the address sanitizer sees a step beside it.
class EmulatedWorkspace {
 public:
  EmulatedWorkspace(const CrowdNmsParams& params, const Batch& batch)
      : bytes_(crowd_nms_cuda_workspace_bytes(&params, batch.frames, batch.capacity)),
        memory_(
            std::aligned_alloc(alignment, std::max((bytes_ + alignment - 1) / alignment, std::size_t{1}) * alignment),
            std::free) {
    std::memset(memory_.get(), 0xA5, bytes_);
  }

  void* get() const {
    return memory_.get();
  }
  std::size_t bytes() const {
    return bytes_;
  }

 private:
  static constexpr std::size_t alignment = 256;

  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> memory_;
};

/// An array of boxes has an address even where it is empty.
inline CrowdNmsCandidates emulated_candidates(const Batch& batch) {
  alignas(16) static constexpr CrowdNmsBox no_box{};
  CrowdNmsCandidates candidates = batch.candidates();
  if (batch.all.boxes.empty())
    candidates.boxes = &no_box;
  return candidates;
}

inline Result run_in(const EmulatedWorkspace& workspace, const CrowdNmsParams& params, const Batch& batch,
                     const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  const CrowdNmsCandidates candidates = emulated_candidates(batch);
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  result.status = crowd_nms_cuda(&params, &candidates, &outputs, workspace.get(), workspace.bytes(), nullptr);
  return result;
}

inline Result run_emulated(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  return run_in(EmulatedWorkspace(params, batch), params, batch, wanted);
}

/// In the workspace of a call with the same boxes, whose scores were in reverse order.
inline Result run_emulated_again(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  const EmulatedWorkspace workspace(params, batch);
  Batch before = batch;
  std::reverse(before.all.scores.begin(), before.all.scores.end());
  EXPECT_EQ(run_in(workspace, params, before, wanted).status, CROWD_NMS_OK) << crowd_nms_last_error();
  return run_in(workspace, params, batch, wanted);
}

/// These wait for each other more often, and take the emulator longer.
inline bool is_soft(CrowdNmsMethod method) {
  return crowd_nms_method_info(method)->changes_scores;
}

using MethodOnDevice = std::tuple<CrowdNmsMethod, int>;

/// Each with and without clusters; the soft ones, which know none, once.
inline std::vector<MethodOnDevice> methods_on_devices() {
  std::vector<MethodOnDevice> all;
  for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
    all.emplace_back(method, 9);
    if (!is_soft(method))
      all.emplace_back(method, 7);
  }
  return all;
}

/// The compute capability that the emulated device has.
class Emulated : public testing::TestWithParam<MethodOnDevice> {
 protected:
  void SetUp() override {
    use(4);
    emulator::seed(1);
  }
  static void use(int processors) {
    emulator::set_device({std::get<1>(GetParam()), processors});
  }
  static CrowdNmsMethod method() {
    return std::get<0>(GetParam());
  }
  void run(std::span<const std::uint32_t> sizes, std::uint32_t per_size) {
    std::size_t ran = 0;
    for_each_case(sizes, method(), per_size, [&](const Case& it) {
      expect_as_oracle(run_emulated, it);
      ++ran;
    });
    EXPECT_GT(ran, 0u);
  }
};

/// Of a test's parameters.
inline std::string name_of(const testing::TestParamInfo<MethodOnDevice>& info) {
  return test_name(std::get<0>(info.param)) + "_sm" + std::to_string(std::get<1>(info.param)) + "0";
}

}  // namespace crowd::test
