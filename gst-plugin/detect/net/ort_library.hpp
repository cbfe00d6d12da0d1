// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ONNX Runtime, a library that is looked for when it is first needed: nothing links it. In a process there is one, and
// it stays. Its C++ interface calls the library that ort_library() found, and throws Ort::Exception.
#pragma once

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace crowd::net {

struct OrtLibrary {
  std::string name;     ///< of the file, as the loader finds it
  std::string version;  ///< such as 1.21.0
  const OrtApi* api = nullptr;
};

/// Names that it goes by, in the order in which they are tried.
std::vector<std::string> ort_library_names();

/// The first of these that the loader finds and that has the interface this was built with. Nothing, with the reason
/// and remedy, where there is none.
std::optional<OrtLibrary> find_ort_library(std::span<const std::string> names, std::string& problem);

/// The one of this process. Null as find_ort_library(), which a later call repeats.
const OrtLibrary* ort_library(std::string& problem);

/// Sessions are made in it. Call ort_library() before. What ONNX Runtime logs goes to GStreamer's log of crowddetect.
const Ort::Env& ort_env();

/// Whether it has the execution provider CUDA. False with the reason and remedy.
bool ort_has_cuda(const OrtLibrary& library, std::string& problem);

/// What ONNX Runtime says of an error, in one line, with what it logged in this thread since the last call.
std::string ort_reason(const std::exception& error);

/// Whether such a reason is that memory, of the host or a device, is short.
bool ort_lacks_memory(const std::string& reason);

}  // namespace crowd::net
