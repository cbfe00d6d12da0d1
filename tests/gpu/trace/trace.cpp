// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The driver loads this library if CUDA_INJECTION64_PATH names it. It counts what a process asks the driver for, by
// caller, and writes that at the end as JSON to the file CROWD_TRACE_OUT. CROWD_TRACE_FRAME is in the name of the
// kernel that ends a frame, CROWD_TRACE_START is the number of frames that count as the start. With CROWD_TRACE_TIMES=1
// it also writes how long each kernel ran on the device, which costs the process time.

#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <vector>

#include "calls.hpp"
#include "ledger.hpp"
#include "stack.hpp"
#include "times.hpp"

namespace crowd::trace {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// How the arguments of cuMemcpyBatchAsync begin, which toolkits before 12.8 do not know.
struct BatchParams {
  const CUdeviceptr* dsts;
  const CUdeviceptr* srcs;
  const std::size_t* sizes;
  std::size_t count;
};

/// Functions of the driver that the tracer itself calls.
class Driver {
 public:
  unsigned memory_type(CUdeviceptr pointer) const {
    unsigned type = 0;
    const bool known =
        pointer_attribute_ && pointer_attribute_(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) == CUDA_SUCCESS;
    return known ? type : memory_host;
  }

  const char* name(CUfunction function) const {
    const char* found = nullptr;
    return function_name_ && function_name_(&found, function) == CUDA_SUCCESS && found ? found : "?";
  }

 private:
  template <typename Function>
  static Function* find(const char* name) {
    static void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
  }

  CUresult (*pointer_attribute_)(void*, CUpointer_attribute, CUdeviceptr) =
      find<CUresult(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
  CUresult (*function_name_)(const char**, CUfunction) = find<CUresult(const char**, CUfunction)>("cuFuncGetName");
};

class Tracer {
 public:
  Tracer();

  bool subscribe();
  void add_time(std::string_view kernel, const Span& span);
  void finish();

 private:
  struct Function {
    std::string_view name;
    Call call;
  };

  static void CUPTIAPI on_call(void* tracer, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  void enter(const Function& function, const CUpti_CallbackData& data);
  std::vector<Event> events(const Function& function, const CUpti_CallbackData& data) const;
  std::vector<Event> batch(const Function& function, const BatchParams& params) const;
  Event between(Event event, CUdeviceptr from, CUdeviceptr to, std::uint64_t bytes) const;
  template <typename Copy>
  Event shaped(Event event, const Copy& copy, std::uint64_t rows) const;
  std::string_view kernel(const CUpti_CallbackData& data) const;

  Driver driver_;
  Stack stack_;
  std::vector<Function> functions_{CUPTI_DRIVER_TRACE_CBID_SIZE};
  std::mutex mutex_;
  Ledger ledger_;
  bool finished_ = false;
};

Tracer::Tracer()
    : ledger_(setting("CROWD_TRACE_FRAME", "paint_tiles"),
              std::strtoull(setting("CROWD_TRACE_START", "100").c_str(), nullptr, 10)) {}

bool works(CUptiResult result) {
  if (result == CUPTI_SUCCESS)
    return true;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "libcrowdtrace: CUPTI does not work here: %s\n", text ? text : "?");
  return false;
}

bool Tracer::subscribe() {
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult result = cuptiSubscribe(&subscriber, on_call, this);
  for (CUpti_CallbackId id = 1; result == CUPTI_SUCCESS && id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++) {
    const char* name = nullptr;
    // Some numbers are not in use.
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || !name)
      continue;
    functions_[id] = {name, classify(name)};
    if (functions_[id].call.kind != Kind::none)
      result = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  return works(result);
}

void Tracer::add_time(std::string_view kernel, const Span& span) {
  const std::lock_guard lock(mutex_);
  if (!finished_)
    ledger_.add_time(kernel, span);
}

void Tracer::on_call(void* tracer, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call.callbackSite != CUPTI_API_ENTER ||
      id >= CUPTI_DRIVER_TRACE_CBID_SIZE)
    return;
  auto& self = *static_cast<Tracer*>(tracer);
  self.enter(self.functions_[id], call);
}

void Tracer::enter(const Function& function, const CUpti_CallbackData& data) {
  const Place& place = stack_.caller();
  const std::vector<Event> found = events(function, data);
  const std::lock_guard lock(mutex_);
  if (finished_)
    return;
  for (const Event& event : found)
    ledger_.add(event, place);
}

std::vector<Event> Tracer::events(const Function& function, const CUpti_CallbackData& data) const {
  Event event{function.name, function.call};
  const void* params = data.functionParams;
  // Every argument of these functions takes a word.
  const auto* words = static_cast<const std::size_t*>(params);
  switch (function.call.form) {
    case Form::none:
      if (function.call.kind == Kind::launch)
        event.kernel = kernel(data);
      break;
    case Form::word:
      event.bytes = words[function.call.word];
      break;
    case Form::pitched: {
      const auto& pitched = *static_cast<const cuMemAllocPitch_v2_params*>(params);
      event.bytes = pitched.WidthInBytes * pitched.Height;
      break;
    }
    case Form::flat: {
      const auto& flat = *static_cast<const cuMemcpy_params*>(params);
      event = between(event, flat.src, flat.dst, flat.ByteCount);
      break;
    }
    case Form::rectangle: {
      const CUDA_MEMCPY2D& copy = *static_cast<const cuMemcpy2D_v2_params*>(params)->pCopy;
      event = shaped(event, copy, copy.Height);
      break;
    }
    case Form::cuboid: {
      const CUDA_MEMCPY3D& copy = *static_cast<const cuMemcpy3D_v2_params*>(params)->pCopy;
      event = shaped(event, copy, copy.Height * copy.Depth);
      break;
    }
    case Form::peer_cuboid: {
      const CUDA_MEMCPY3D_PEER& copy = *static_cast<const cuMemcpy3DPeer_params*>(params)->pCopy;
      event = shaped(event, copy, copy.Height * copy.Depth);
      event.call.direction = Direction::peer;
      break;
    }
    case Form::batch:
      return batch(function, *static_cast<const BatchParams*>(params));
  }
  return {event};
}

std::vector<Event> Tracer::batch(const Function& function, const BatchParams& params) const {
  std::vector<Event> found;
  for (std::size_t i = 0; i < params.count; i++)
    found.push_back(between({function.name, function.call}, params.srcs[i], params.dsts[i], params.sizes[i]));
  return found;
}

Event Tracer::between(Event event, CUdeviceptr from, CUdeviceptr to, std::uint64_t bytes) const {
  event.call.direction = direction_between(driver_.memory_type(from), driver_.memory_type(to));
  event.bytes = bytes;
  return event;
}

template <typename Copy>
Event Tracer::shaped(Event event, const Copy& copy, std::uint64_t rows) const {
  const auto end = [this](CUmemorytype type, CUdeviceptr pointer) {
    return type == CU_MEMORYTYPE_UNIFIED ? driver_.memory_type(pointer) : static_cast<unsigned>(type);
  };
  event.call.direction =
      direction_between(end(copy.srcMemoryType, copy.srcDevice), end(copy.dstMemoryType, copy.dstDevice));
  event.bytes = copy.WidthInBytes * rows;
  return event;
}

std::string_view Tracer::kernel(const CUpti_CallbackData& data) const {
  if (data.symbolName)
    return data.symbolName;
  const std::string_view function = data.functionName;
  return driver_.name(function.starts_with("cuLaunchKernelEx")
                          ? static_cast<const cuLaunchKernelEx_params*>(data.functionParams)->f
                          : static_cast<const cuLaunchKernel_params*>(data.functionParams)->f);
}

void Tracer::finish() {
  const std::lock_guard lock(mutex_);
  if (finished_)
    return;
  finished_ = true;
  const std::string path = setting("CROWD_TRACE_OUT", "crowd-trace.json");
  if (!(std::ofstream(path) << ledger_.as_json() << std::flush))
    std::fprintf(stderr, "libcrowdtrace: cannot write %s\n", path.c_str());
}

/// Never destroyed: threads call the driver until the very end.
Tracer* tracer = nullptr;

void take_time(std::string_view kernel, const Span& span) {
  tracer->add_time(kernel, span);
}

bool record_times_if_wanted() {
  return setting("CROWD_TRACE_TIMES", "0") == "0" || works(record_times(take_time));
}

void finish_tracer() {
  flush_times();
  tracer->finish();
}

}  // namespace
}  // namespace crowd::trace

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  using namespace crowd::trace;
  if (tracer)
    return 1;
  tracer = new Tracer;
  if (!tracer->subscribe() || !record_times_if_wanted())
    return 0;
  std::atexit(finish_tracer);
  return 1;
}
