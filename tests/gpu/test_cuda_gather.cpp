// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the CUDA backend gathers of survivors: by a call of its own, and along with the call that finds them.

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "device_runner.hpp"
#include "gathering.hpp"

namespace crowd::test {
namespace {

/// The arrays of a Gathered on the device.
class DeviceGathered {
 public:
  explicit DeviceGathered(Gathered& host)
      : host_(host),
        boxes_(std::span(std::as_const(host.boxes))),
        scores_(std::span(std::as_const(host.scores))),
        classes_(std::span(std::as_const(host.classes))),
        members_(std::span(std::as_const(host.members))),
        counts_(std::span(std::as_const(host.counts))),
        candidates_(std::span(std::as_const(host.candidates))),
        reports_(std::span(std::as_const(host.reports))),
        totals_(std::span<const CrowdNmsTotals>(&host.totals, 1)),
        totals_copy_(std::span<const CrowdNmsTotals>(&host.totals_copy, 1)) {}

  CrowdNmsGathered arrays() const {
    const auto or_null = [](auto* pointer, bool wanted) { return wanted ? pointer : nullptr; };
    return {boxes_.as<CrowdNmsBox>(),
            scores_.as<float>(),
            classes_.as<std::int32_t>(),
            or_null(members_.as<std::uint32_t>(), !host_.members.empty()),
            counts_.as<std::uint32_t>(),
            candidates_.as<std::uint32_t>(),
            reports_.as<CrowdNmsReport>(),
            or_null(totals_.as<CrowdNmsTotals>(), host_.with_totals),
            or_null(totals_copy_.as<CrowdNmsTotals>(), host_.with_totals),
            {}};
  }
  void download() {
    expect_cuda(cudaDeviceSynchronize(), "gathering");
    fetch(boxes_, host_.boxes);
    fetch(scores_, host_.scores);
    fetch(classes_, host_.classes);
    fetch(members_, host_.members);
    fetch(counts_, host_.counts);
    fetch(candidates_, host_.candidates);
    fetch(reports_, host_.reports);
    totals_.download(&host_.totals, sizeof host_.totals);
    totals_copy_.download(&host_.totals_copy, sizeof host_.totals_copy);
  }

 private:
  template <typename T>
  static void fetch(const DeviceBytes& from, std::vector<T>& to) {
    from.download(to.data(), to.size() * sizeof(T));
  }

  Gathered& host_;
  DeviceBytes boxes_, scores_, classes_, members_, counts_, candidates_, reports_, totals_, totals_copy_;
};

TEST(CudaGather, hands_out_survivors_as_boxes) {
  expect_gathers([](const Case& it, const Result& found, Gathered& out) {
    const Batch& batch = it.batch;
    const DeviceBytes boxes{std::span(batch.all.boxes)}, scores{std::span(batch.all.scores)};
    const DeviceBytes classes{std::span(batch.all.classes)}, offsets{std::span(batch.offsets)};
    const DeviceBytes counts{std::span(batch.counts)};
    const DeviceBytes survivors{std::span(found.survivors)}, members{std::span(found.members)};
    const DeviceBytes reports{std::span(found.reports)};
    const DeviceBytes merged_boxes{std::span(found.boxes)}, merged_scores{std::span(found.scores)};
    CrowdNmsCandidates candidates{};
    candidates.boxes = boxes.as<CrowdNmsBox>();
    candidates.scores = scores.as<float>();
    candidates.classes = batch.with_classes ? classes.as<std::int32_t>() : nullptr;
    candidates.offsets = batch.offsets.empty() ? nullptr : offsets.as<std::uint32_t>();
    candidates.counts = batch.counts.empty() ? nullptr : counts.as<std::uint32_t>();
    candidates.frames = batch.frames;
    candidates.capacity = batch.capacity;
    const CrowdNmsSurvivors kept = {survivors.as<std::uint32_t>(),
                                    members.as<std::uint32_t>(),
                                    nullptr,
                                    reports.as<CrowdNmsReport>(),
                                    it.wanted.max_survivors,
                                    0,
                                    it.wanted.boxes ? merged_boxes.as<CrowdNmsBox>() : nullptr,
                                    it.wanted.scores ? merged_scores.as<float>() : nullptr,
                                    {}};
    DeviceGathered on_device(out);
    const CrowdNmsGathered gathered = on_device.arrays();
    for (int twice = 0; twice < 2; ++twice)
      ASSERT_EQ(crowd_nms_cuda_gather(&candidates, &kept, &gathered, nullptr), CROWD_NMS_OK) << crowd_nms_last_error();
    on_device.download();
  });
}

TEST(CudaGather, hands_out_survivors_as_boxes_with_the_call) {
  expect_calls_and_gathers([](const Case& it, Result& found, Gathered& out) {
    DeviceCall call(it.params, it.batch, it.wanted);
    DeviceGathered on_device(out);
    for (int twice = 0; twice < 2; ++twice)
      ASSERT_EQ(call.enqueue_and_gather(on_device.arrays(), nullptr), CROWD_NMS_OK) << crowd_nms_last_error();
    on_device.download();
    found = call.results();
  });
}

}  // namespace
}  // namespace crowd::test
