// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Graphs of what a stream is given.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>

#include "contexts.hpp"
#include "copy.hpp"
#include "detect/net/streamgraph.hpp"
#include "engine_runs.hpp"

namespace {

using crowd::net::CurrentContext;
using crowd::test::Context;
using crowd::test::device;
using crowd::test::expect_done;
using crowd::test::Memory;
using crowd::test::noise;

/// A stream of the primary context, and floats there.
class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    stream_ = crowd::net::PrimaryStream::make(device, problem_);
    ASSERT_TRUE(stream_) << problem_;
  }

  bool records(const std::function<void()>& work) {
    return graph_.record(*stream_, work);
  }
  cudaStream_t stream() const {
    return stream_->stream();
  }

  const Context context_{true};
  const CurrentContext current_{*context_.driver, context_.context};
  std::string problem_;
  std::unique_ptr<crowd::net::PrimaryStream> stream_;
  crowd::net::StreamGraph graph_;
};

TEST_F(Graphs, run_again_what_was_recorded) {
  const std::vector<float> first = noise(1000, -1, 1), second = noise(1000, 1, 2);
  Memory from(1000), between(1000), to(1000);
  from.upload(first, stream());
  to.upload(first, stream());
  ASSERT_TRUE(records([&] {
    ASSERT_EQ(crowd::test::copy_by_kernel(between.data, from.data, 1000, stream()), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(to.data, between.data, 4000, cudaMemcpyDeviceToDevice, stream()), cudaSuccess);
  }));
  from.upload(second, stream());
  EXPECT_EQ(to.download(stream()), first) << "it ran while it was recorded";
  expect_done(graph_.launch());
  EXPECT_EQ(to.download(stream()), second);
  graph_.release();
}

TEST_F(Graphs, refuse_what_takes_memory_of_the_host_waits_or_fails) {
  Memory memory(1000);
  std::vector<float> host(1000);
  EXPECT_FALSE(
      records([&] { (void)cudaMemcpyAsync(host.data(), memory.data, 4000, cudaMemcpyDeviceToHost, stream()); }));
  EXPECT_FALSE(records([&] { (void)cudaStreamSynchronize(stream()); }));
  EXPECT_FALSE(
      records([&] { (void)cudaMemcpyAsync(memory.data, host.data(), 4000, cudaMemcpyHostToDevice, stream()); }));
  EXPECT_FALSE(records([&] { (void)cudaMemcpyAsync(memory.data, host.data(), 4000, cudaMemcpyDefault, stream()); }));
  EXPECT_FALSE(records([&] {
    (void)cudaLaunchHostFunc(
        stream(), [](void*) {}, nullptr);
  }));
  EXPECT_FALSE(records([] { throw std::runtime_error("no"); }));
  (void)cudaGetLastError();
  memory.upload(host, stream());
  EXPECT_EQ(memory.download(stream()), host) << "the stream works as before";
  EXPECT_TRUE(
      records([&] { (void)cudaMemcpyAsync(memory.data, memory.data + 500, 2000, cudaMemcpyDefault, stream()); }));
  graph_.release();
}

}  // namespace
