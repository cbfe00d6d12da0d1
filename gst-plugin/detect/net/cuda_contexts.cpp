// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/cuda_contexts.hpp"

#include <dlfcn.h>

#include <optional>
#include <utility>

namespace crowd::net {

namespace {

#define CROWD_TEXT(name) #name
// cuda.h renames functions to their newest version.
#define CROWD_SYMBOL(name) CROWD_TEXT(name)

/// Fails where the driver has no such function.
template <typename Function>
bool find_function(void* library, const char* symbol, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (!function)
    problem = std::string("the CUDA driver has no ") + symbol + "(); install a newer one";
  return function != nullptr;
}

bool find_functions_of_streams(void* library, CudaDriver& driver, std::string& problem) {
  return find_function(library, CROWD_SYMBOL(cuGetErrorName), driver.get_error_name, problem) &&
         find_function(library, CROWD_SYMBOL(cuDevicePrimaryCtxRetain), driver.retain_primary, problem) &&
         find_function(library, CROWD_SYMBOL(cuDevicePrimaryCtxRelease), driver.release_primary, problem) &&
         find_function(library, CROWD_SYMBOL(cuCtxGetCurrent), driver.get_current, problem) &&
         find_function(library, CROWD_SYMBOL(cuCtxPushCurrent), driver.push, problem) &&
         find_function(library, CROWD_SYMBOL(cuCtxPopCurrent), driver.pop, problem) &&
         find_function(library, CROWD_SYMBOL(cuStreamCreate), driver.create_stream, problem) &&
         find_function(library, CROWD_SYMBOL(cuStreamDestroy), driver.destroy_stream, problem) &&
         find_function(library, CROWD_SYMBOL(cuStreamSynchronize), driver.synchronize, problem) &&
         find_function(library, CROWD_SYMBOL(cuStreamWaitEvent), driver.wait_event, problem) &&
         find_function(library, CROWD_SYMBOL(cuEventCreate), driver.create_event, problem) &&
         find_function(library, CROWD_SYMBOL(cuEventRecord), driver.record_event, problem) &&
         find_function(library, CROWD_SYMBOL(cuEventDestroy), driver.destroy_event, problem) &&
         find_function(library, CROWD_SYMBOL(cuMemAlloc), driver.allocate, problem) &&
         find_function(library, CROWD_SYMBOL(cuMemFree), driver.free, problem) &&
         find_function(library, CROWD_SYMBOL(cuPointerGetAttribute), driver.get_pointer_attribute, problem);
}

bool find_functions_of_graphs(void* library, CudaDriver& driver, std::string& problem) {
  return find_function(library, CROWD_SYMBOL(cuStreamBeginCapture), driver.begin_capture, problem) &&
         find_function(library, CROWD_SYMBOL(cuStreamEndCapture), driver.end_capture, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphGetNodes), driver.get_nodes, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphNodeGetType), driver.get_node_type, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphMemcpyNodeGetParams), driver.get_memcpy_params, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphInstantiateWithFlags), driver.instantiate, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphLaunch), driver.launch_graph, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphDestroy), driver.destroy_graph, problem) &&
         find_function(library, CROWD_SYMBOL(cuGraphExecDestroy), driver.destroy_executable, problem);
}

std::optional<CudaDriver> load_driver(std::string& problem) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    problem = "there is no CUDA driver (libcuda.so.1)";
    return std::nullopt;
  }
  CudaDriver driver{};
  if (!find_functions_of_streams(library, driver, problem) || !find_functions_of_graphs(library, driver, problem))
    return std::nullopt;
  return driver;
}

}  // namespace

const CudaDriver* CudaDriver::find(std::string& problem) {
  static std::string reason;
  static const std::optional<CudaDriver> driver = load_driver(reason);
  if (!driver)
    problem = reason;
  return driver ? &*driver : nullptr;
}

DeviceReport CudaDriver::report(const char* what, CUresult error) const {
  if (error == CUDA_SUCCESS)
    return {};
  const char* name = nullptr;
  (void)get_error_name(error, &name);
  const auto outcome = error == CUDA_ERROR_OUT_OF_MEMORY ? DeviceOutcome::out_of_memory : DeviceOutcome::failed;
  return {outcome, std::string(what) + ": " + (name ? name : "unknown error of CUDA")};
}

ContextMemory::ContextMemory(ContextMemory&& other) noexcept
    : driver_(other.driver_), context_(other.context_), address_(std::exchange(other.address_, 0)) {}

DeviceReport ContextMemory::allocate(const CudaDriver& driver, CUcontext context, std::size_t bytes) {
  release();
  const CurrentContext current(driver, context);
  if (current.error() != CUDA_SUCCESS)
    return driver.report("the CUDA context cannot be made current", current.error());
  const CUresult error = driver.allocate(&address_, bytes);
  if (error != CUDA_SUCCESS) {
    address_ = 0;
    return driver.report("no device memory for a network's input and outputs", error);
  }
  driver_ = &driver;
  context_ = context;
  return {};
}

void ContextMemory::release() {
  if (!address_)
    return;
  const CurrentContext current(*driver_, context_);
  if (current.error() == CUDA_SUCCESS)
    (void)driver_->free(address_);
  address_ = 0;
}

std::unique_ptr<PrimaryStream> PrimaryStream::make(int device, std::string& problem) {
  const CudaDriver* driver = CudaDriver::find(problem);
  if (!driver)
    return nullptr;
  std::unique_ptr<PrimaryStream> stream(new PrimaryStream(*driver, device));
  if (const DeviceReport report = stream->open(); report.outcome != DeviceOutcome::done) {
    problem = report.problem;
    return nullptr;
  }
  return stream;
}

DeviceReport PrimaryStream::open() {
  if (const CUresult error = driver_.retain_primary(&context_, device_); error != CUDA_SUCCESS) {
    context_ = nullptr;
    return driver_.report("the device has no primary context", error);
  }
  const CurrentContext current(driver_, context_);
  CUresult error = current.error();
  if (error == CUDA_SUCCESS)
    error = driver_.create_stream(&stream_, CU_STREAM_NON_BLOCKING);
  return driver_.report("no stream in the device's primary context", error);
}

PrimaryStream::~PrimaryStream() {
  if (!context_)
    return;
  if (stream_) {
    const CurrentContext current(driver_, context_);
    (void)driver_.destroy_stream(stream_);
  }
  (void)driver_.release_primary(device_);
}

DeviceReport PrimaryStream::wait() const {
  return driver_.report("the network failed on the device", driver_.synchronize(stream_));
}

CallerOrder::~CallerOrder() {
  release_caller();
  if (!done_)
    return;
  const CurrentContext current(stream_.driver(), stream_.context());
  (void)stream_.driver().destroy_event(done_);
}

void CallerOrder::release_caller() {
  if (!caller_ready_)
    return;
  const CurrentContext current(stream_.driver(), caller_context_);
  if (current.error() == CUDA_SUCCESS)
    (void)stream_.driver().destroy_event(caller_ready_);
  caller_ready_ = nullptr;
}

// An event is recorded on streams of its own context only, but streams of any context wait for it.
DeviceReport CallerOrder::follow(CUstream caller) {
  const CudaDriver& driver = stream_.driver();
  CUcontext now = nullptr;
  CUresult error = driver.get_current(&now);
  if (error == CUDA_SUCCESS && (!caller_ready_ || now != caller_context_)) {
    release_caller();
    error = driver.create_event(&caller_ready_, CU_EVENT_DISABLE_TIMING);
    caller_context_ = now;
  }
  if (error == CUDA_SUCCESS)
    error = driver.record_event(caller_ready_, caller);
  if (error == CUDA_SUCCESS) {
    const CurrentContext current(driver, stream_.context());
    error = driver.wait_event(stream_.stream(), caller_ready_, 0);
  }
  return driver.report("streams of two CUDA contexts cannot be ordered", error);
}

DeviceReport CallerOrder::precede(CUstream caller) {
  const CudaDriver& driver = stream_.driver();
  CUresult error = CUDA_SUCCESS;
  {
    const CurrentContext current(driver, stream_.context());
    if (!done_)
      error = driver.create_event(&done_, CU_EVENT_DISABLE_TIMING);
    if (error == CUDA_SUCCESS)
      error = driver.record_event(done_, stream_.stream());
  }
  if (error == CUDA_SUCCESS)
    error = driver.wait_event(caller, done_, 0);
  return driver.report("streams of two CUDA contexts cannot be ordered", error);
}

}  // namespace crowd::net
