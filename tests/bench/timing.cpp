// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stopwatches for bench_gpu.py. They run here, because Python between two launches would be measured with them.
// A contender is a function that enqueues one call; some wait for the device inside and cannot be captured.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "crowd/nms.h"

namespace {

using Clock = std::chrono::steady_clock;

float microseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy<cudaEventDestroy>>;
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Destroy<cudaGraphDestroy>>;
using Replay = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy<cudaGraphExecDestroy>>;

// Throws the error's number: what crosses the C boundary.
void must(int error) {
  if (error)
    throw error;
}

Event new_event() {
  cudaEvent_t event;
  must(cudaEventCreate(&event));
  return Event(event);
}

float microseconds_between(const Event& start, const Event& end) {
  float milliseconds;
  must(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
  return milliseconds * 1000;
}

}  // namespace

extern "C" {

struct BenchCall {
  int (*run)(const void* context, cudaStream_t stream);
  const void* context;
};

struct BenchCrowd {
  decltype(&crowd_nms_cuda) run;
  const CrowdNmsParams* params;
  const CrowdNmsCandidates* candidates;
  const CrowdNmsSurvivors* survivors;
  void* workspace;
  size_t workspace_bytes;
};

int bench_crowd(const void* context, cudaStream_t stream) {
  const auto& call = *static_cast<const BenchCrowd*>(context);
  return -call.run(call.params, call.candidates, call.survivors, call.workspace, call.workspace_bytes, stream);
}

const char* bench_error_text(int error) {
  return error < 0 ? "crowd_nms_cuda refused the call" : cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // extern "C"

namespace {

class Rotation {
 public:
  Rotation(std::span<const BenchCall> calls, cudaStream_t stream) : calls_(calls), stream_(stream) {}
  void next() {
    const BenchCall& call = calls_[turn_++ % calls_.size()];
    must(call.run(call.context, stream_));
  }

 private:
  std::span<const BenchCall> calls_;
  cudaStream_t stream_;
  std::size_t turn_ = 0;
};

Graph capture(Rotation rotation, int captured, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    for (int i = 0; i < captured; ++i)
      rotation.next();
  } catch (int) {
    cudaStreamEndCapture(stream, &graph);
    Graph{graph};
    throw;
  }
  must(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}

void replay_graph(Rotation rotation, int captured, std::span<float> times, cudaStream_t stream) {
  const Graph graph = capture(rotation, captured, stream);
  cudaGraphExec_t instance;
  must(cudaGraphInstantiate(&instance, graph.get(), 0));
  const Replay replay(instance);
  for (int warm_up = 0; warm_up < 3; ++warm_up)
    must(cudaGraphLaunch(replay.get(), stream));
  std::vector<Event> starts, ends;
  for (std::size_t i = 0; i < times.size(); ++i) {
    starts.push_back(new_event());
    ends.push_back(new_event());
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    must(cudaEventRecord(starts[i].get(), stream));
    must(cudaGraphLaunch(replay.get(), stream));
    must(cudaEventRecord(ends[i].get(), stream));
  }
  must(cudaStreamSynchronize(stream));
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = microseconds_between(starts[i], ends[i]) / static_cast<float>(captured);
}

void run_cold(Rotation rotation, std::span<float> events, std::span<float> wall, cudaStream_t stream) {
  const Event start = new_event(), end = new_event();
  for (float& time : events) {
    must(cudaStreamSynchronize(stream));
    must(cudaEventRecord(start.get(), stream));
    rotation.next();
    must(cudaEventRecord(end.get(), stream));
    must(cudaStreamSynchronize(stream));
    time = microseconds_between(start, end);
  }
  for (float& time : wall) {
    const auto called = Clock::now();
    rotation.next();
    must(cudaStreamSynchronize(stream));
    time = microseconds_since(called);
  }
}

void run_loop(Rotation rotation, int calls, std::span<float> times, cudaStream_t stream) {
  for (float& time : times) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i)
      rotation.next();
    must(cudaStreamSynchronize(stream));
    time = microseconds_since(start) / static_cast<float>(calls);
  }
}

template <typename Timed>
int guarded(Timed timed) {
  try {
    timed();
    return 0;
  } catch (int error) {
    return error;
  }
}

std::span<float> samples(float* times, int count) {
  return {times, static_cast<std::size_t>(count)};
}

Rotation rotate(const BenchCall* calls, int count, cudaStream_t stream) {
  return {{calls, static_cast<std::size_t>(count)}, stream};
}

}  // namespace

extern "C" {

/// Back to back in a graph of `captured` calls: microseconds a call, one sample per replay.
int bench_graph(const BenchCall* calls, int count, int captured, float* times, int replays, cudaStream_t stream) {
  return guarded([&] { replay_graph(rotate(calls, count, stream), captured, samples(times, replays), stream); });
}

/// Single calls on an idle stream: by events around the call, then by the host's clock until the stream is idle again.
int bench_cold(const BenchCall* calls, int count, float* events, float* wall, int repeats, cudaStream_t stream) {
  return guarded(
      [&] { run_cold(rotate(calls, count, stream), samples(events, repeats), samples(wall, repeats), stream); });
}

/// Back to back from the host, for calls that cannot be captured: microseconds a call, one sample per `calls_a_sample`.
int bench_loop(const BenchCall* calls, int count, int calls_a_sample, float* times, int repeats, cudaStream_t stream) {
  return guarded([&] { run_loop(rotate(calls, count, stream), calls_a_sample, samples(times, repeats), stream); });
}

}  // extern "C"
