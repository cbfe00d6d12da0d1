// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tracer as the driver would load it, with this test in the place of CUPTI: what it makes of calls' arguments.
// Needs no GPU.

#include <cupti.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "read_json.hpp"

extern "C" int InitializeInjection();

namespace {

CUpti_CallbackFunc callback = nullptr;
void* subscriber_data = nullptr;
std::set<CUpti_CallbackId> enabled;
CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;
bool times_enabled = false;

/// Has no number in toolkits before 12.8, so it has another one's here.
constexpr CUpti_CallbackId batch = CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2;

const std::map<CUpti_CallbackId, const char*> names = {
    {CUPTI_DRIVER_TRACE_CBID_cuInit, "cuInit"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, "cuMemcpyDtoH_v2_ptds"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "cuMemcpyAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, "cuMemcpyPeerAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, "cuMemcpy2DAsync_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, "cuMemcpy3D_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync, "cuMemcpy3DPeerAsync"},
    {batch, "cuMemcpyBatchAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2, "cuMemAllocPitch_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, "cuMemAllocAsync"},
};

}  // namespace

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc function, void* data) {
  callback = function;
  subscriber_data = data;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t id, const char** name) {
  const auto found = names.find(id);
  if (found == names.end())
    return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found->second;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  if (enable && domain == CUPTI_CB_DOMAIN_DRIVER_API)
    enabled.insert(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take) {
  give_buffer = give;
  take_buffer = take;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  times_enabled = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  return CUPTI_SUCCESS;
}

/// Records that are longer than the tracer knows them: one of another kind among them, and two that CUPTI has no time
/// for.
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, max_records = 1;
  give_buffer(&buffer, &bytes, &max_records);
  EXPECT_EQ(max_records, 0U) << "as many as there is room for";
  std::size_t used = 0;
  const struct {
    CUpti_ActivityKind kind;
    std::uint64_t start, end;
  } records[] = {{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1000, 1070},
                 {CUPTI_ACTIVITY_KIND_MEMCPY, 1000, 1000},
                 {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1000, 0},
                 {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, 0},
                 {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1000, 1090}};
  for (const auto& [kind, start, end] : records) {
    CUpti_ActivityKernel9 kernel = {};
    kernel.kind = kind;
    kernel.start = start;
    kernel.end = end;
    kernel.name = "outline_kernel";
    std::memcpy(buffer + used, &kernel, sizeof kernel);
    used += sizeof kernel;
  }
  take_buffer(nullptr, 0, buffer, bytes, used);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* const next =
      *record ? reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityKernel9) : buffer;
  if (next == buffer + valid)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = 3;
  return CUPTI_SUCCESS;
}

namespace {

/// As the driver calls: at its begin and at its end, and only what is wanted.
void call(CUpti_CallbackId id, const void* params, const char* kernel = nullptr) {
  if (!enabled.contains(id))
    return;
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    CUpti_CallbackData data = {};
    data.callbackSite = site;
    data.functionName = names.at(id);
    data.functionParams = params;
    data.symbolName = kernel;
    callback(subscriber_data, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }
}

template <typename Copy>
Copy shape(CUmemorytype from, CUmemorytype to) {
  Copy copy = {};
  copy.srcMemoryType = from;
  copy.dstMemoryType = to;
  copy.WidthInBytes = 100;
  copy.Height = 10;
  return copy;
}

void play() {
  const cuMemcpyHtoDAsync_v2_params up = {.dstDevice = 1, .srcHost = nullptr, .ByteCount = 11, .hStream = nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &up);
  const cuMemcpyDtoH_v2_ptds_params down = {.dstHost = nullptr, .srcDevice = 1, .ByteCount = 12};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, &down);
  const cuMemcpyPeerAsync_params peer = {1, nullptr, 2, nullptr, 13, nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, &peer);
  // No driver that could tell otherwise: pointers are the host's.
  const cuMemcpyAsync_params flat = {.dst = 1, .src = 2, .ByteCount = 14, .hStream = nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, &flat);

  const auto rectangle = shape<CUDA_MEMCPY2D>(CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE);
  const cuMemcpy2DAsync_v2_params picture = {.pCopy = &rectangle, .hStream = nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, &picture);
  auto cuboid = shape<CUDA_MEMCPY3D>(CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_ARRAY);
  cuboid.Depth = 3;
  const cuMemcpy3D_v2_params volume = {.pCopy = &cuboid};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, &volume);
  auto away = shape<CUDA_MEMCPY3D_PEER>(CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE);
  away.Depth = 1;
  const cuMemcpy3DPeerAsync_params far = {.pCopy = &away, .hStream = nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync, &far);

  CUdeviceptr ends[] = {1, 2};
  std::size_t sizes[] = {5, 6};
  const struct {
    CUdeviceptr *dsts, *srcs;
    std::size_t* sizes;
    std::size_t count;
  } several = {ends, ends, sizes, 2};
  call(batch, &several);

  const cuMemAllocPitch_v2_params pitched = {nullptr, nullptr, 64, 8, 4};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2, &pitched);
  const cuMemAllocAsync_params allocated = {nullptr, 88, nullptr};
  call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, &allocated);
  const cuLaunchKernel_params launch = {};
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &launch, "outline_kernel");
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &launch, "other_kernel");
}

[[noreturn]] void run(bool times) {
  const bool works = InitializeInjection() == 1 && InitializeInjection() == 1;
  play();
  std::exit(works && !enabled.contains(CUPTI_DRIVER_TRACE_CBID_cuInit) && times_enabled == times ? 0 : 1);
}

/// What a process writes that ends as it should, with this on its error output.
std::string trace(bool times, const char* said) {
  const auto path = std::filesystem::temp_directory_path() / ("crowd-trace-" + std::to_string(getpid()) + ".json");
  setenv("CROWD_TRACE_OUT", path.c_str(), 1);
  setenv("CROWD_TRACE_FRAME", "outline", 1);
  setenv("CROWD_TRACE_START", "1", 1);
  setenv("CROWD_TRACE_TIMES", times ? "1" : "0", 1);
  EXPECT_EXIT(run(times), testing::ExitedWithCode(0), said);

  std::ostringstream json;
  json << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return json.str();
}

TEST(injection, tells_how_long_kernels_ran_if_it_is_asked_to) {
  const std::string json = trace(true, "the times of 5 kernels are lost");
  const std::string kernel = "device_times.outline_kernel.";
  EXPECT_EQ(crowd::trace::number_at(json, kernel + "launches"), 2);
  EXPECT_EQ(crowd::trace::number_at(json, kernel + "total_ns"), 160);
  EXPECT_EQ(crowd::trace::number_in(json, "start.frames"), 1);
}

TEST(injection, counts_what_the_arguments_say_and_writes_it_at_the_end) {
  const std::string json = trace(false, "^$");
  const auto number = [&json](const std::string& where) { return crowd::trace::number_in(json, where); };
  EXPECT_EQ(number("start.frames"), 1);
  EXPECT_EQ(number("start.kernels.outline_kernel"), 1);
  EXPECT_EQ(number("stop.kernels.other_kernel"), 1);
  const std::string copies = "start.callers.other.copies.";
  EXPECT_EQ(number(copies + "host_to_device.bytes"), 11 + 100 * 10 * 3);
  EXPECT_EQ(number(copies + "device_to_host.bytes"), 12);
  EXPECT_EQ(number(copies + "device_to_device.bytes"), 100 * 10);
  EXPECT_EQ(number(copies + "host_to_host.bytes"), 14 + 5 + 6);
  EXPECT_EQ(number(copies + "peer.bytes"), 13 + 100 * 10);
  EXPECT_EQ(number("start.total.allocations.calls"), 2);
  EXPECT_EQ(number("start.total.allocations.bytes"), 64 * 8 + 88);
  EXPECT_EQ(number("start.total.synchronising"), 2) << "two of the copies are synchronous";
}

}  // namespace
