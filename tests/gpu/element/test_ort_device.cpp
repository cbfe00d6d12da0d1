// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Networks in ONNX Runtime on the device, for callers in the primary context and in one of their own.

#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <thread>

#include "../../element/real_models.hpp"
#include "contexts.hpp"
#include "copy.hpp"
#include "detect/net/engine.hpp"
#include "engine_runs.hpp"
#include "small_models.hpp"
#include "temporary_file.hpp"

namespace {

using crowd::DeviceOutcome;
using crowd::DeviceReport;
using crowd::net::CurrentContext;
using crowd::net::DeviceEngine;
using crowd::net::EngineModel;
using crowd::tensors::Dims;
using crowd::tensors::elements_of;
using crowd::tensors::Tensor;
using crowd::tensors::TensorInfo;
using crowd::test::Context;
using crowd::test::device;
using crowd::test::engine_row;
using crowd::test::expect_done;
using crowd::test::Memory;
using crowd::test::noise;
using crowd::test::printed_by;
using crowd::test::TemporaryFile;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> positive(std::vector<float> values) {
  for (float& value : values)
    value = std::max(value, 0.F);
  return values;
}

DeviceReport copy(void* to, const void* from, std::size_t floats, cudaStream_t stream) {
  const cudaError_t error = crowd::test::copy_by_kernel(to, from, floats, stream);
  return {error == cudaSuccess ? DeviceOutcome::done : DeviceOutcome::failed, cudaGetErrorString(error)};
}

/// Gives the stream one run from `input` to copies of the outputs.
std::deque<Memory> enqueue(DeviceEngine& engine, const Memory& input, cudaStream_t stream) {
  std::deque<Memory> results;
  expect_done(engine.run(
      stream, [&](void* to) { return copy(to, input.data, input.size, stream); },
      [&](const std::vector<Tensor>& outputs) {
        DeviceReport report;
        for (const Tensor& output : outputs) {
          Memory& result = results.emplace_back(elements_of(output.dims));
          if (report.outcome == DeviceOutcome::done)
            report = copy(result.data, output.data, result.size, stream);
        }
        return report;
      }));
  return results;
}

/// Runs on a stream, waits, and gives what the outputs hold.
std::vector<std::vector<float>> run(DeviceEngine& engine, const std::vector<float>& input, cudaStream_t stream) {
  Memory memory(input.size());
  memory.upload(input, stream);
  std::vector<std::vector<float>> result;
  for (Memory& output : enqueue(engine, memory, stream))
    result.push_back(output.download(stream));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  return result;
}

std::unique_ptr<DeviceEngine> open(const EngineModel& model) {
  std::string problem;
  auto engine = engine_row("onnxruntime").make_device(model, device, problem);
  EXPECT_TRUE(engine) << problem;
  return engine;
}

/// Whether the caller works in the primary context, and whether runs are recorded.
class OrtDevice : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  static std::unique_ptr<DeviceEngine> make(const std::string& path, std::size_t memory_limit = 2UL << 30) {
    return open({.path = path, .description = {}, .memory_limit = memory_limit, .cuda_graph = std::get<1>(GetParam())});
  }

  const Context context_{std::get<0>(GetParam())};
  const CurrentContext current_{*context_.driver, context_.context};
};

TEST_P(OrtDevice, RunsInTheOrderOfAnyStream) {
  cudaStream_t own = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
  for (const int fixed : {0, 1, 4}) {
    const TemporaryFile file(crowd::test::small_onnx({.batch = fixed}), ".onnx");
    const auto engine = make(file.path);
    ASSERT_TRUE(engine);
    for (const int batch : {3, 9}) {
      std::vector<TensorInfo> outputs;
      expect_done(engine->prepare(batch, 7, 5, outputs));
      ASSERT_EQ(outputs.size(), 1U);
      EXPECT_THAT(outputs[0].dims, ElementsAre(-1, 3, 5, 7));
      const std::vector<float> input = noise(static_cast<std::size_t>(batch) * 3 * 5 * 7, -1, 1);
      EXPECT_THAT(run(*engine, input, own), ElementsAre(positive(input))) << fixed << ' ' << batch;
      EXPECT_THAT(run(*engine, input, nullptr), ElementsAre(positive(input))) << fixed << ' ' << batch;
    }
  }
  EXPECT_EQ(cudaStreamDestroy(own), cudaSuccess);
}

struct Gate {
  std::atomic<bool> open = false;
  std::atomic<bool> given_up = false;
};

/// A stream that stands still until the gate opens.
void wait_at(void* data) {
  auto* gate = static_cast<Gate*>(data);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!gate->open && !gate->given_up) {
    gate->given_up = std::chrono::steady_clock::now() > end;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_P(OrtDevice, DoesNotMakeTheHostWait) {
  const TemporaryFile file(crowd::test::small_onnx({.batch = 0}), ".onnx");
  const auto engine = make(file.path);
  ASSERT_TRUE(engine);
  std::vector<TensorInfo> infos;
  expect_done(engine->prepare(2, 7, 5, infos));
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const std::vector<float> first = noise(2 * 3 * 5 * 7, -1, 1), none(first.size());
  run(*engine, none, stream);

  Memory later(first.size());
  later.upload(first, stream);
  Gate gate;
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait_at, &gate), cudaSuccess);
  expect_done(engine->run(
      stream, [&](void* to) { return copy(to, later.data, later.size, stream); },
      [&](const std::vector<Tensor>& outputs) { return copy(later.data, outputs[0].data, later.size, stream); }));
  EXPECT_FALSE(gate.given_up) << "the host waited for the device";
  gate.open = true;
  EXPECT_EQ(later.download(stream), positive(first)) << "not in the order of the stream";
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_P(OrtDevice, ServesCallersThatChangeTheirContext) {
  const TemporaryFile file(crowd::test::small_onnx(), ".onnx");
  auto engine = make(file.path);
  ASSERT_TRUE(engine);
  const auto never = [](auto&&) -> DeviceReport {
    ADD_FAILURE() << "not prepared";
    return {};
  };
  EXPECT_EQ(engine->run(nullptr, never, never).outcome, DeviceOutcome::failed);
  std::vector<TensorInfo> infos;
  expect_done(engine->prepare(1, 7, 5, infos));
  const std::vector<float> input = noise(3 * 5 * 7, -1, 1);
  EXPECT_THAT(run(*engine, input, nullptr), ElementsAre(positive(input)));
  const Context other(!std::get<0>(GetParam()));
  const CurrentContext current(*other.driver, other.context);
  EXPECT_THAT(run(*engine, input, nullptr), ElementsAre(positive(input)));
  engine.reset();  // before the context of its last caller goes
}

TEST_P(OrtDevice, RefusesModelsThatTakeMoreThanTheyMay) {
  const TemporaryFile file(crowd::test::small_onnx({.batch = 0}), ".onnx");
  const auto engine = make(file.path, 1 << 20);
  ASSERT_TRUE(engine);
  std::vector<TensorInfo> infos;
  const DeviceReport report = engine->prepare(8, 2048, 2048, infos);
  EXPECT_EQ(report.outcome, DeviceOutcome::out_of_memory) << report.problem;
  EXPECT_THAT(report.problem, HasSubstr("fewer tiles"));
  expect_done(engine->prepare(1, 7, 5, infos));
}

TEST_P(OrtDevice, RefusesSizesThatTheNetworkDoesNotTake) {
  const TemporaryFile file(crowd::test::small_onnx({.side = 8, .reshape = true}), ".onnx");
  const auto engine = make(file.path), other = make(file.path);
  ASSERT_TRUE(engine && other);
  std::vector<TensorInfo> infos;
  expect_done(other->prepare(1, 8, 8, infos));
  for (const auto& [width, height] : {std::pair{8, 9}, {8, 9}, {0, 8}}) {
    const DeviceReport report = engine->prepare(1, width, height, infos);
    EXPECT_EQ(report.outcome, DeviceOutcome::unusable) << width;
    EXPECT_THAT(report.problem, testing::AllOf(HasSubstr("1x3x8x8"), HasSubstr("description"))) << width;
  }
  expect_done(engine->prepare(1, 8, 8, infos));
  const std::vector<float> input = noise(3 * 8 * 8, -1, 1);
  for (DeviceEngine* each : {engine.get(), other.get()})
    EXPECT_THAT(run(*each, input, nullptr), ElementsAre(input));
}

/// Each on inputs of its own, in threads of their own.
TEST_P(OrtDevice, IsSharedByEngines) {
  const TemporaryFile file(crowd::test::small_onnx({.batch = 0}), ".onnx");
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; i++) {
    threads.emplace_back([this, &file, i] {
      const CurrentContext current(*context_.driver, context_.context);
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      auto engine = make(file.path);
      ASSERT_TRUE(engine);
      for (unsigned k = 0; k < 20; k++) {
        const int batch = k < 15 ? 2 : 3;  // another network from then on
        std::vector<TensorInfo> infos;
        expect_done(engine->prepare(batch, 7, 5, infos));
        std::vector<float> input = noise(static_cast<std::size_t>(batch) * 3 * 5 * 7, -1, 1);
        for (float& value : input)
          value += static_cast<float>(i * 100 + k);
        EXPECT_THAT(run(*engine, input, stream), ElementsAre(positive(input))) << i << ' ' << k;
      }
      engine.reset();
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// A capture would have them refused, see EngineModel::cuda_graph.
TEST_P(OrtDevice, IsPreparedWhileOthersWaitForTheDevice) {
  const TemporaryFile file(crowd::test::small_onnx({.batch = 0}), ".onnx");
  const Context primary(true);
  std::atomic<int> refused = 0;
  std::jthread waits([&](const std::stop_token& stop) {
    const CurrentContext current(*primary.driver, primary.context);
    while (!stop.stop_requested())
      refused += cudaDeviceSynchronize() != cudaSuccess;
  });
  for (int i = 0; i < 5; i++) {
    const auto engine = open({.path = file.path, .description = {}});
    ASSERT_TRUE(engine);
    std::vector<TensorInfo> infos;
    expect_done(engine->prepare(2, 7, 5, infos));
    const std::vector<float> input = noise(2 * 3 * 5 * 7, -1, 1);
    EXPECT_THAT(run(*engine, input, nullptr), ElementsAre(positive(input))) << i;
  }
  waits.request_stop();
  waits.join();
  EXPECT_EQ(refused, 0);
}

/// One that fails between filling and reading leaves the network to the others.
TEST_P(OrtDevice, GoesOnAfterACallerThatFails) {
  const TemporaryFile file(crowd::test::small_onnx(), ".onnx");
  const auto engine = make(file.path), other = make(file.path);
  ASSERT_TRUE(engine && other);
  std::vector<TensorInfo> infos;
  expect_done(engine->prepare(1, 7, 5, infos));
  expect_done(other->prepare(1, 7, 5, infos));
  const auto fails = [](auto&&) { return DeviceReport{DeviceOutcome::dropped, "no"}; };
  const auto works = [](auto&&) { return DeviceReport(); };
  EXPECT_EQ(engine->run(nullptr, fails, works).outcome, DeviceOutcome::dropped);
  EXPECT_EQ(engine->run(nullptr, works, fails).outcome, DeviceOutcome::dropped);
  const std::vector<float> input = noise(3 * 5 * 7, -1, 1);
  for (DeviceEngine* each : {engine.get(), other.get()})
    EXPECT_THAT(run(*each, input, nullptr), ElementsAre(positive(input)));
}

struct RealModel {
  const char* name;
  const char* script;
  int width, height;
  float low, high;
};

/// Milliseconds a run, of 50 back to back.
double time_on_device(DeviceEngine& engine, cudaStream_t stream) {
  constexpr int runs = 50;
  const auto nothing = [](auto&&) { return DeviceReport(); };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; i++)
    expect_done(engine.run(stream, nothing, nothing));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  return time.count() / runs;
}

void compare_with_host(const RealModel& real) {
  const std::string path = printed_by(real.script);
  if (path.empty())
    GTEST_SKIP() << real.name << " cannot be fetched";
  const Dims dims = {9, 3, real.height, real.width};
  const std::vector<float> input = noise(elements_of(dims), real.low, real.high);
  std::string problem;
  const auto host = engine_row("onnxruntime").make({.path = path, .description = {}}, problem);
  ASSERT_TRUE(host) << problem;
  std::vector<TensorInfo> infos;
  ASSERT_TRUE(host->prepare(real.width, real.height, infos, problem)) << problem;
  std::vector<Tensor> expected;
  ASSERT_TRUE(host->run({.dims = dims, .data = input.data()}, expected, problem)) << problem;

  const auto engine = open({.path = path, .description = {}, .cuda_graph = true});
  ASSERT_TRUE(engine);
  expect_done(engine->prepare(9, real.width, real.height, infos));
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  std::vector<std::vector<float>> results;
  const auto begin = std::chrono::steady_clock::now();
  constexpr int runs = 20;
  for (int i = 0; i < runs; i++)
    results = run(*engine, input, stream);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  std::printf("%s: %.2f ms a batch of 9, with copies to and from the host; %.2f ms without\n", real.name,
              time.count() / runs, time_on_device(*engine, stream));
  EXPECT_EQ(before, after) << "device memory was allocated after prepare()";
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); i++) {
    const auto* data = static_cast<const float*>(expected[i].data);
    double largest = 0, apart = 0;
    ASSERT_EQ(results[i].size(), elements_of(expected[i].dims));
    for (std::size_t j = 0; j < results[i].size(); j++) {
      largest = std::max<double>(largest, std::fabs(data[j]));
      apart = std::max<double>(apart, std::isnan(results[i][j]) ? INFINITY : std::fabs(results[i][j] - data[j]));
    }
    EXPECT_LT(apart / largest, 1e-3) << infos[i].name;
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_P(OrtDevice, FindsPersonsAsTheHostDoes) {
  compare_with_host({"person-net", "convert-model person-net", 300, 300, -1, 1});
}

TEST_P(OrtDevice, FindsFacesAsTheHostDoes) {
  compare_with_host({"face-net", "fetch-model face-net", 768, 576, 0, 255});
}

std::string name_of(const testing::TestParamInfo<std::tuple<bool, bool>>& info) {
  const auto [primary, graph] = info.param;
  return std::string(primary ? "Primary" : "OfItsOwn") + (graph ? "Graph" : "");
}

INSTANTIATE_TEST_SUITE_P(Engines, OrtDevice, testing::Combine(testing::Bool(), testing::Bool()), name_of);

}  // namespace
