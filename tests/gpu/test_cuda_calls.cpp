// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Calls of the CUDA backend among other work on the device: in graphs, at the largest capacities, beside errors.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "device_runner.hpp"
#include "environment.hpp"
#include "hard_boxes.hpp"
#include "rewrite.hpp"

namespace crowd::test {
namespace {

Wanted everything(const Batch& batch, bool merged = false) {
  return {batch.capacity, true, true, merged, merged};
}

/// Asks for all launches that merging has.
void merge(CrowdNmsParams& params) {
  params.merge = CROWD_NMS_MERGE_WEIGHTED;
  params.cluster_score = CROWD_NMS_CLUSTER_SCORE_MEAN;
  params.min_members = 2;
}

Batch version_of(std::uint32_t n, std::uint32_t version) {
  Boxes set;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Rewritten candidate = rewritten(version, i);
    set.add(candidate.box, candidate.score);
  }
  return Batch::of(set);
}

/// Outputs of one call, on the device.
struct Outputs {
  explicit Outputs(std::uint32_t n)
      : survivors(n * sizeof(std::uint32_t)),
        members(n * sizeof(std::uint32_t)),
        representatives(n * sizeof(std::uint32_t)),
        report(sizeof(CrowdNmsReport)),
        boxes(n * sizeof(CrowdNmsBox)),
        scores(n * sizeof(float)) {}

  CrowdNmsSurvivors pointers(std::uint32_t n, const Wanted& wanted) const {
    return {.survivors = survivors.as<std::uint32_t>(),
            .members = wanted.members ? members.as<std::uint32_t>() : nullptr,
            .representatives = wanted.representatives ? representatives.as<std::uint32_t>() : nullptr,
            .reports = report.as<CrowdNmsReport>(),
            .max_survivors = n,
            .flags = 0,
            .boxes = wanted.boxes ? boxes.as<CrowdNmsBox>() : nullptr,
            .scores = wanted.scores ? scores.as<float>() : nullptr,
            .reserved = {}};
  }
  void copy_from(const Outputs& other, cudaStream_t stream) {
    const std::pair<DeviceBytes*, const DeviceBytes*> arrays[] = {{&survivors, &other.survivors},
                                                                  {&members, &other.members},
                                                                  {&representatives, &other.representatives},
                                                                  {&report, &other.report}};
    for (const auto& [to, from] : arrays)
      expect_cuda(cudaMemcpyAsync(to->as<void>(), from->as<void>(), from->size(), cudaMemcpyDeviceToDevice, stream),
                  "copying outputs");
  }
  void poison() {
    for (DeviceBytes* bytes : {&survivors, &members, &representatives, &report, &boxes, &scores})
      bytes->fill(0xee, 0, bytes->size());
  }

  DeviceBytes survivors, members, representatives, report, boxes, scores;
};

/// A graph of many calls. A kernel overwrites the candidates before each of them, unless they are uploaded. If there
/// are counts, each call has a count of its own, and its outputs are copied before the next one.
class CallsInGraph {
 public:
  CallsInGraph(const CrowdNmsParams& params, std::uint32_t n, std::uint32_t calls, const Wanted& wanted,
               std::span<const std::uint32_t> counts = {}, bool uploaded = false)
      : n_(n),
        uploaded_(uploaded),
        wanted_(wanted),
        boxes_(n * sizeof(CrowdNmsBox)),
        scores_(n * sizeof(float)),
        counts_(counts),
        workspace_(crowd_nms_cuda_workspace_bytes(&params, 1, n)) {
    for (std::uint32_t i = 0; i < calls; ++i) {
      outputs_.push_back(std::make_unique<Outputs>(n));
      copies_.push_back(std::make_unique<Outputs>(n));
    }
    expect_cuda(cuda::allocate(stream_), "creating a stream");
    expect_cuda(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), "beginning capture");
    for (std::uint32_t i = 0; i < calls; ++i)
      enqueue(params, i);
    cudaGraph_t graph = nullptr;
    expect_cuda(cudaStreamEndCapture(stream_.get(), &graph), "ending capture");
    expect_cuda(cudaGraphInstantiate(&exec_, graph, 0), "instantiating the graph");
    cudaGraphDestroy(graph);
  }
  ~CallsInGraph() {
    cudaGraphExecDestroy(exec_);
  }

  /// Where candidates are `uploaded`.
  void upload(const Boxes& set) {
    boxes_.upload(set.boxes.data(), boxes_.size());
    scores_.upload(set.scores.data(), scores_.size());
  }
  void replay() {
    for (const auto* all : {&outputs_, &copies_})
      for (const auto& outputs : *all)
        outputs->poison();
    workspace_.fill(0xee, 0, workspace_.size());
    expect_cuda(cudaDeviceSynchronize(), "poisoning");
    expect_cuda(cudaGraphLaunch(exec_, stream_.get()), "launching the graph");
    expect_cuda(cudaStreamSynchronize(stream_.get()), "running");
  }

  Result result(std::uint32_t call, const Batch& batch) const {
    Result result = Result::sized(batch, wanted_);
    const Outputs& from = counts_.size() ? *copies_[call] : *outputs_[call];
    from.report.download(result.reports.data(), sizeof(CrowdNmsReport));
    // Entries past the number of survivors are left as they were.
    const std::size_t bytes = result.reports[0].survivors * sizeof(std::uint32_t);
    from.survivors.download(result.survivors.data(), bytes);
    if (wanted_.members)
      from.members.download(result.members.data(), bytes);
    if (wanted_.boxes)
      from.boxes.download(result.boxes.data(), result.reports[0].survivors * sizeof(CrowdNmsBox));
    if (wanted_.scores)
      from.scores.download(result.scores.data(), result.reports[0].survivors * sizeof(float));
    if (wanted_.representatives)
      from.representatives.download(result.representatives.data(),
                                    std::min(result.reports[0].candidates, n_) * sizeof(std::uint32_t));
    return result;
  }

 private:
  void enqueue(const CrowdNmsParams& params, std::uint32_t call) {
    const bool counted = counts_.size();
    if (!uploaded_)
      rewrite(boxes_.as<CrowdNmsBox>(), scores_.as<float>(), n_, call, stream_.get());
    CrowdNmsCandidates candidates{};
    candidates.counts = counted ? counts_.as<std::uint32_t>() + call : nullptr;
    candidates.boxes = boxes_.as<CrowdNmsBox>();
    candidates.scores = scores_.as<float>();
    candidates.frames = 1;
    candidates.capacity = n_;
    const CrowdNmsSurvivors survivors = outputs_[call]->pointers(n_, wanted_);
    EXPECT_EQ(crowd_nms_cuda(&params, &candidates, &survivors, workspace_.as<void>(), workspace_.size(), stream_.get()),
              CROWD_NMS_OK)
        << crowd_nms_last_error();
    if (counted)
      copies_[call]->copy_from(*outputs_[call], stream_.get());
  }

  std::uint32_t n_;
  bool uploaded_;
  Wanted wanted_;
  DeviceBytes boxes_, scores_, counts_, workspace_;
  std::vector<std::unique_ptr<Outputs>> outputs_, copies_;
  cuda::Stream stream_;
  cudaGraphExec_t exec_ = nullptr;
};

class CudaInGraphs : public testing::TestWithParam<std::tuple<CrowdNmsMethod, std::uint32_t, bool>> {};

// Kernels that start early must not read what the kernel before the call writes.
TEST_P(CudaInGraphs, sees_what_a_kernel_rewrote_in_place_before_each_call) {
  const auto [method, n, merged] = GetParam();
  if (quick() && method == CROWD_NMS_WBF && n > 5000)
    GTEST_SKIP() << "CROWD_GPU_TEST=quick: its largest component is fused in turn";
  const std::uint32_t calls = quick() ? 3 : n > 10000 ? 12 : 50;
  CrowdNmsParams params = default_params();
  params.method = method;
  if (merged)
    merge(params);
  std::vector<Batch> batches;
  std::vector<Result> expected;
  for (std::uint32_t call = 0; call < calls; ++call) {
    batches.push_back(version_of(n, call));
    expected.push_back(run_cpu(params, batches.back(), everything(batches.back(), merged)));
  }
  CallsInGraph graph(params, n, calls, everything(batches[0], merged));
  for (int replay = 0; replay < (quick() ? 1 : 5); ++replay) {
    graph.replay();
    for (std::uint32_t call = 0; call < calls; ++call)
      ASSERT_TRUE(
          same(expected[call], graph.result(call, batches[call]), batches[call], everything(batches[call], merged)))
          << "call " << call << " of replay " << replay;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaInGraphs,
                         testing::Combine(testing::ValuesIn(quick_methods_of(CROWD_NMS_BACKEND_CUDA)),
                                          testing::Values(200u, 1027u, 4096u, 5000u, 20000u), testing::Bool()),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param)) +
                                  (std::get<2>(info.param) ? "_merged" : "");
                         });

class CudaCountedInGraphs : public testing::TestWithParam<std::tuple<CrowdNmsMethod, bool>> {
 protected:
  /// Calls of these counts, each of a batch that fills the capacity. `uploaded`: the batch of all calls; else each
  /// call's is what a kernel wrote before it.
  static void expect_as_on_the_cpu(std::vector<Batch> batches, const std::vector<std::uint32_t>& counts,
                                   const Boxes* uploaded) {
    const std::uint32_t capacity = batches[0].capacity;
    const auto calls = static_cast<std::uint32_t>(counts.size());
    CrowdNmsParams params = default_params();
    const auto [method, all] = GetParam();
    params.method = method;
    const Wanted wanted{capacity, all, all};
    std::vector<Result> expected;
    for (std::uint32_t call = 0; call < calls; ++call) {
      batches[call].counts = {counts[call]};
      batches[call].with_classes = false;
      expected.push_back(run_cpu(params, batches[call], wanted));
    }
    CallsInGraph graph(params, capacity, calls, wanted, counts, uploaded != nullptr);
    if (uploaded)
      graph.upload(*uploaded);
    for (int replay = 0; replay < (quick() ? 1 : 50); ++replay) {
      graph.replay();
      for (std::uint32_t call = 0; call < calls; ++call)
        ASSERT_TRUE(same(expected[call], graph.result(call, batches[call]), batches[call], wanted))
            << "call " << call << " of replay " << replay;
    }
  }
};

// Frames that the direct path takes, of which the reduce takes much longer than the launches of the stages behind it: a
// call must not end before.
TEST_P(CudaCountedInGraphs, are_done_before_what_follows_reads_the_results) {
  const std::vector<std::uint32_t> counts = {4096, 61, 4000, 1024, 1025, 4097, 3000, 0, 4096, 2500, 6000, 700};
  const Boxes set = ladder(6000, 2);
  expect_as_on_the_cpu(std::vector<Batch>(counts.size(), Batch::of(set)), counts, &set);
}

// Frames that the reduce takes while the map runs, among others.
TEST_P(CudaCountedInGraphs, see_what_a_kernel_rewrote_in_place_before_each_call) {
  const std::vector<std::uint32_t> counts = {61, 64, 4096, 61, 0, 64, 65, 30, 3000, 1, 64, 61};
  std::vector<Batch> batches;
  for (std::uint32_t call = 0; call < counts.size(); ++call)
    batches.push_back(version_of(4096, call));
  expect_as_on_the_cpu(std::move(batches), counts, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Methods, CudaCountedInGraphs,
                         testing::Combine(testing::Values(CROWD_NMS_GREEDY, CROWD_NMS_MAP_REDUCE), testing::Bool()),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "" : "_survivors_alone");
                         });

// More blocks than fit the GPU at once, so that some begin only when others have ended.
TEST(CudaAtTheLargestCapacity, agrees_with_the_cpu_backend) {
  if (quick())
    GTEST_SKIP() << "CROWD_GPU_TEST=quick";
  for (const std::uint32_t n : {1u << 20, (1u << 20) - 1}) {
    for (const bool clustered : {false, true}) {
      const Boxes set = clustered ? crowd(n, 20000, 46460, 18000, n) : uniform(n, 15360, 8640, n);
      for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
        CrowdNmsParams params = default_params();
        params.method = method;
        if (clustered)
          merge(params);
        if (!crowd_nms_cuda_workspace_bytes(&params, 1, n))
          continue;  // of methods that take fewer
        const Batch batch = Batch::of(set);
        const Wanted wanted = everything(batch, clustered);
        EXPECT_TRUE(same(run_cpu(params, batch, wanted), run_cuda(params, batch, wanted), batch, wanted))
            << n << (clustered ? " clustered, method " : " uniform, method ") << method;
      }
    }
  }
}

// The runtime keeps the last error of a thread until it is asked for it.
TEST(CudaErrors, of_the_application_are_left_to_it) {
  if (quick())
    GTEST_SKIP() << "memcheck counts these errors";
  void* too_much = nullptr;
  const Batch batch = Batch::of(crowd(1000, 40, 1920, 1080, 3));
  for (const CrowdNmsMethod method : methods_of(CROWD_NMS_BACKEND_CUDA)) {
    CrowdNmsParams params = default_params();
    params.method = method;
    DeviceCall call(params, batch, everything(batch));
    ASSERT_EQ(cudaMalloc(&too_much, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    EXPECT_EQ(call.enqueue(nullptr), CROWD_NMS_OK) << crowd_nms_last_error();
    const cudaError_t left = cudaGetLastError();
#if !defined(CROWD_ONE_RUNTIME)
    EXPECT_EQ(left, cudaErrorMemoryAllocation) << "method " << method;
#endif
    EXPECT_TRUE(left == cudaSuccess || left == cudaErrorMemoryAllocation) << "method " << method;
    EXPECT_TRUE(same(run_cpu(params, batch, everything(batch)), call.results(), batch, everything(batch)))
        << "method " << method;
  }
}

// Some methods take fewer candidates than a session may have room for, and more memory for each.
TEST(CudaSession, runs_methods_whose_limit_is_below_its_capacity) {
  const Batch batch = Batch::of(uniform(quick() ? 2000 : 40000, 3840, 2160, 3));
  CrowdNmsParams params = default_params();
  CrowdNmsSession* made = nullptr;
  ASSERT_EQ(crowd_nms_session_new(CROWD_NMS_BACKEND_CUDA, &params, 1, 100000, &made), CROWD_NMS_OK);
  const std::unique_ptr<CrowdNmsSession, void (*)(CrowdNmsSession*)> session(made, crowd_nms_session_free);
  for (const CrowdNmsMethod method : quick_methods_of(CROWD_NMS_BACKEND_CUDA)) {
    params.method = method;
    const Wanted wanted{batch.capacity};
    Result found = Result::sized(batch, wanted);
    const CrowdNmsCandidates candidates = batch.candidates();
    const CrowdNmsSurvivors outputs = found.outputs(wanted);
    found.status = crowd_nms_session_run(session.get(), &params, &candidates, &outputs);
    EXPECT_TRUE(same(run_cpu(params, batch, wanted), found, batch, wanted)) << "method " << method;
  }
}

TEST(CudaErrors, of_launches_are_reported) {
  if (quick())
    GTEST_SKIP() << "memcheck counts these errors";
  const Batch batch = Batch::of(crowd(1000, 40, 1920, 1080, 4));
  DeviceCall call(default_params(), batch, everything(batch));
  cudaStream_t blocking = nullptr;
  expect_cuda(cudaStreamCreate(&blocking), "creating a stream");
  const cuda::Stream captured(blocking);
  expect_cuda(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal), "beginning capture");
  // The legacy stream waits for all blocking ones, and must not for one that is captured.
  EXPECT_EQ(call.enqueue(cudaStreamLegacy), CROWD_NMS_CUDA_ERROR);
  EXPECT_NE(std::string(crowd_nms_last_error()).find("launching the kernels failed"), std::string::npos);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "a call takes its own errors";
  cudaGraph_t graph = nullptr;
  (void)cudaStreamEndCapture(blocking, &graph);
  if (graph)
    cudaGraphDestroy(graph);
  (void)cudaGetLastError();
}

}  // namespace
}  // namespace crowd::test
