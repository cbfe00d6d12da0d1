// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "device_runner.hpp"

#include <algorithm>

namespace crowd::test {

namespace {

constexpr std::size_t guard = 256;
constexpr int canary = 0xc5;
constexpr int garbage = 0x7f;

cuda::Stream make_stream() {
  cuda::Stream stream;
  expect_cuda(cuda::allocate(stream), "creating a stream");
  return stream;
}

void expect_done(cudaError_t enqueued, const char* what) {
  expect_cuda(enqueued, what);
  expect_cuda(cudaStreamSynchronize(cudaStreamPerThread), what);
}

template <typename T>
T* pointer_or_null(const DeviceBytes& memory, bool wanted) {
  return wanted ? memory.as<T>() : nullptr;
}

}  // namespace

void expect_cuda(cudaError_t error, const char* what) {
  EXPECT_EQ(error, cudaSuccess) << what << ": " << cudaGetErrorString(error);
}

DeviceBytes::DeviceBytes(std::size_t bytes) : size_(bytes) {
  // An empty array has an address too: a call may insist on one.
  expect_cuda(cuda::allocate(memory_, bytes), "allocating device memory");
}

// On the thread's own stream, and without waiting for the device: both are refused while another thread captures.
void DeviceBytes::upload(const void* host, std::size_t bytes) {
  if (bytes)
    expect_done(cudaMemcpyAsync(memory_.get(), host, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread), "uploading");
}

void DeviceBytes::download(void* host, std::size_t bytes) const {
  if (bytes)
    expect_done(cudaMemcpyAsync(host, memory_.get(), bytes, cudaMemcpyDeviceToHost, cudaStreamPerThread),
                "downloading");
}

void DeviceBytes::fill(int value, std::size_t offset, std::size_t bytes) {
  if (bytes)
    expect_done(cudaMemsetAsync(as<std::byte>() + offset, value, bytes, cudaStreamPerThread), "filling device memory");
}

DeviceCall::DeviceCall(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted)
    : params_(params),
      wanted_(wanted),
      blank_(Result::sized(batch, wanted)),
      workspace_bytes_(crowd_nms_cuda_workspace_bytes(&params, batch.frames, batch.capacity)),
      boxes_(std::span(batch.all.boxes)),
      scores_(std::span(batch.all.scores)),
      classes_(std::span(batch.all.classes)),
      offsets_(std::span(batch.offsets)),
      counts_(std::span(batch.counts)),
      densities_(std::span(batch.extras.densities)),
      proposals_(std::span(batch.extras.proposals)),
      visible_(std::span(batch.extras.visible)),
      features_(std::span(batch.extras.features)),
      models_(std::span(batch.extras.models)),
      survivors_(blank_.survivors.size() * sizeof(std::uint32_t)),
      members_(blank_.members.size() * sizeof(std::uint32_t)),
      representatives_(blank_.representatives.size() * sizeof(std::uint32_t)),
      reports_(blank_.reports.size() * sizeof(CrowdNmsReport)),
      survivor_boxes_(blank_.boxes.size() * sizeof(CrowdNmsBox)),
      survivor_scores_(blank_.scores.size() * sizeof(float)),
      workspace_(workspace_bytes_ + 2 * guard),
      candidates_{boxes_.as<CrowdNmsBox>(),
                  scores_.as<float>(),
                  pointer_or_null<std::int32_t>(classes_, batch.with_classes),
                  pointer_or_null<std::uint32_t>(offsets_, !batch.offsets.empty()),
                  pointer_or_null<std::uint32_t>(counts_, !batch.counts.empty()),
                  batch.frames,
                  batch.capacity,
                  batch.extras.feature_length,
                  0,
                  pointer_or_null<float>(densities_, !batch.extras.densities.empty()),
                  pointer_or_null<std::uint32_t>(proposals_, !batch.extras.proposals.empty()),
                  pointer_or_null<CrowdNmsBox>(visible_, !batch.extras.visible.empty()),
                  pointer_or_null<float>(features_, !batch.extras.features.empty()),
                  pointer_or_null<std::uint32_t>(models_, !batch.extras.models.empty()),
                  {}},
      outputs_{survivors_.as<std::uint32_t>(),
               pointer_or_null<std::uint32_t>(members_, wanted.members),
               pointer_or_null<std::uint32_t>(representatives_, wanted.representatives),
               reports_.as<CrowdNmsReport>(),
               wanted.max_survivors,
               0,
               pointer_or_null<CrowdNmsBox>(survivor_boxes_, wanted.boxes),
               pointer_or_null<float>(survivor_scores_, wanted.scores),
               {}} {
  poison();
}

void DeviceCall::poison() {
  survivors_.upload(blank_.survivors.data(), survivors_.size());
  members_.upload(blank_.members.data(), members_.size());
  representatives_.upload(blank_.representatives.data(), representatives_.size());
  reports_.upload(blank_.reports.data(), reports_.size());
  survivor_boxes_.upload(blank_.boxes.data(), survivor_boxes_.size());
  survivor_scores_.upload(blank_.scores.data(), survivor_scores_.size());
  workspace_.fill(canary, 0, workspace_.size());
  workspace_.fill(garbage, guard, workspace_bytes_);
}

void DeviceCall::set_counts(std::span<const std::uint32_t> counts) {
  ASSERT_EQ(counts.size_bytes(), counts_.size());
  counts_.upload(counts.data(), counts.size_bytes());
}

CrowdNmsStatus DeviceCall::enqueue(cudaStream_t stream) {
  return crowd_nms_cuda(&params_, &candidates_, &outputs_, workspace_.as<std::byte>() + guard, workspace_bytes_,
                        stream);
}

CrowdNmsStatus DeviceCall::enqueue_and_gather(const CrowdNmsGathered& gathered, cudaStream_t stream) {
  return crowd_nms_cuda_and_gather(&params_, &candidates_, &outputs_, &gathered, workspace_.as<std::byte>() + guard,
                                   workspace_bytes_, stream);
}

Result DeviceCall::results() const {
  Result result = blank_;
  survivors_.download(result.survivors.data(), survivors_.size());
  members_.download(result.members.data(), members_.size());
  representatives_.download(result.representatives.data(), representatives_.size());
  reports_.download(result.reports.data(), reports_.size());
  survivor_boxes_.download(result.boxes.data(), survivor_boxes_.size());
  survivor_scores_.download(result.scores.data(), survivor_scores_.size());
  std::vector<unsigned char> edges(workspace_.size());
  workspace_.download(edges.data(), edges.size());
  const auto intact = [](std::span<const unsigned char> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b == canary; });
  };
  EXPECT_TRUE(intact(std::span(edges).first(guard))) << "wrote before the workspace";
  EXPECT_TRUE(intact(std::span(edges).last(guard))) << "wrote behind the workspace";
  return result;
}

CapturedCall::CapturedCall(DeviceCall& call) : call_(call), stream_(make_stream()) {
  expect_cuda(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), "beginning capture");
  status_ = call.enqueue(stream_.get());
  cudaGraph_t graph = nullptr;
  expect_cuda(cudaStreamEndCapture(stream_.get(), &graph), "ending capture");
  cudaGraphExec_t exec = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  expect_cuda(error, "instantiating the graph");
  exec_.reset(exec);
}

void CapturedCall::replay() {
  call_.poison();
  expect_cuda(cudaGraphLaunch(exec_.get(), stream_.get()), "replaying");
  expect_cuda(cudaStreamSynchronize(stream_.get()), "running");
}

Result run_cuda(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  const cuda::Stream stream = make_stream();
  DeviceCall call(params, batch, wanted);
  const CrowdNmsStatus status = call.enqueue(stream.get());
  expect_cuda(cudaStreamSynchronize(stream.get()), "running");
  Result result = call.results();
  result.status = status;
  return result;
}

Result run_captured(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  DeviceCall call(params, batch, wanted);
  CapturedCall captured(call);
  for (int replay = 0; replay < 2; ++replay)
    captured.replay();
  Result result = call.results();
  result.status = captured.status();
  return result;
}

Result run_cuda_session(const CrowdNmsParams& params, const Batch& batch, const Wanted& wanted) {
  Result result = Result::sized(batch, wanted);
  CrowdNmsSession* made = nullptr;
  result.status = crowd_nms_session_new(CROWD_NMS_BACKEND_CUDA, &params, batch.frames, batch.capacity, &made);
  const std::unique_ptr<CrowdNmsSession, void (*)(CrowdNmsSession*)> session(made, crowd_nms_session_free);
  if (!session)
    return result;
  const CrowdNmsCandidates candidates = batch.candidates();
  const CrowdNmsSurvivors outputs = result.outputs(wanted);
  result.status = crowd_nms_session_run(session.get(), &params, &candidates, &outputs);
  return result;
}

}  // namespace crowd::test
