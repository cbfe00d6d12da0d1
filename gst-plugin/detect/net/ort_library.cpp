// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/ort_library.hpp"

#include <dlfcn.h>
#include <gst/gst.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace crowd::net {

namespace {

// Debian's file has the version in its name, ONNX Runtime's own has not.
constexpr unsigned newest_named_version = ORT_API_VERSION + 20;
constexpr std::size_t max_reason = 400;

// Of the last error that was logged in this thread.
thread_local std::string logged;  // NOLINT

std::string wanted_version() {
  return "1." + std::to_string(ORT_API_VERSION) + " or later";
}

std::string how_to_get() {
  return "install ONNX Runtime " + wanted_version() +
         " (Debian: libonnxruntime-dev), or set LD_LIBRARY_PATH to the folder of its libonnxruntime.so.1";
}

/// Nothing, with the reason, where the file is none or too old. `problem` is left alone where there is no such file.
std::optional<OrtLibrary> open_library(const std::string& name, std::string& problem) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    // The loader's message begins with the file that is missing: this one, or one that it needs.
    const std::string error = dlerror();
    if (!error.starts_with(name + ": cannot open shared object file"))
      problem = name + " cannot be loaded (" + error + ")";
    return std::nullopt;
  }
  using GetApiBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  const OrtApiBase* base = get_base ? get_base() : nullptr;
  if (!base) {
    problem = name + " is not ONNX Runtime: it has no OrtGetApiBase()";
    dlclose(handle);
    return std::nullopt;
  }
  OrtLibrary library{name, base->GetVersionString(), base->GetApi(ORT_API_VERSION)};
  if (!library.api) {
    problem = name + " is ONNX Runtime " + library.version + ", which is too old";
    dlclose(handle);
    return std::nullopt;
  }
  return library;
}

GstDebugLevel level_of(OrtLoggingLevel severity) {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return GST_LEVEL_LOG;
    case ORT_LOGGING_LEVEL_INFO:
      return GST_LEVEL_DEBUG;
    default:
      return GST_LEVEL_INFO;  // what fails is told where it fails
  }
}

void log(void*, OrtLoggingLevel severity, const char*, const char*, const char* place, const char* message) {
  GstDebugCategory* category = nullptr;
  GST_DEBUG_CATEGORY_GET(category, "crowddetect");
  GST_CAT_LEVEL_LOG(category, level_of(severity), nullptr, "ONNX Runtime: %s (%s)", message, place);
  if (severity >= ORT_LOGGING_LEVEL_ERROR)
    logged = message;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  while (text.ends_with(' '))
    text.pop_back();
  return text.size() <= max_reason ? text : text.substr(0, max_reason) + "...";
}

}  // namespace

std::vector<std::string> ort_library_names() {
  std::vector<std::string> names = {"libonnxruntime.so.1"};
  for (unsigned version = newest_named_version; version >= ORT_API_VERSION; version--)
    names.push_back("libonnxruntime.so.1." + std::to_string(version));
  names.emplace_back("libonnxruntime.so");
  return names;
}

std::optional<OrtLibrary> find_ort_library(std::span<const std::string> names, std::string& problem) {
  std::string reason;
  for (const std::string& name : names) {
    std::string its_reason;
    if (std::optional<OrtLibrary> library = open_library(name, its_reason))
      return library;
    if (reason.empty())
      reason = its_reason;
  }
  problem = (reason.empty() ? "there is no libonnxruntime.so.1" : reason) + "; " + how_to_get();
  return std::nullopt;
}

const OrtLibrary* ort_library(std::string& problem) {
  static std::mutex mutex;
  static std::optional<OrtLibrary> library;
  const std::lock_guard lock(mutex);
  if (!library) {
    library = find_ort_library(ort_library_names(), problem);
    if (library)
      Ort::InitApi(library->api);
  }
  return library ? &*library : nullptr;
}

const Ort::Env& ort_env() {
  // Never destroyed: the library may go first at the end of the process.
  static const auto* const env = new Ort::Env(ORT_LOGGING_LEVEL_WARNING, "gst-crowd", log, nullptr);
  return *env;
}

bool ort_has_cuda(const OrtLibrary& library, std::string& problem) {
  if (std::ranges::count(Ort::GetAvailableProviders(), "CUDAExecutionProvider") > 0)
    return true;
  problem = "ONNX Runtime " + library.version + " (" + library.name +
            ") is one without CUDA; set LD_LIBRARY_PATH to the folder of one that has "
            "libonnxruntime_providers_cuda.so, or put cudadownload before this element";
  return false;
}

std::string ort_reason(const std::exception& error) {
  std::string reason = error.what();
  if (const std::string more = std::exchange(logged, {}); !more.empty() && reason.find(more) == reason.npos)
    reason += " (" + more + ")";
  return one_line(std::move(reason));
}

bool ort_lacks_memory(const std::string& reason) {
  const auto texts = {"out of memory", "Failed to allocate memory", "bad_alloc", "Available memory of"};
  return std::ranges::any_of(texts, [&reason](const char* text) { return reason.find(text) != reason.npos; });
}

}  // namespace crowd::net
