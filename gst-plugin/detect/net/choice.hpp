// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which file of a model is run, by which engine, as what.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detect/net/engine.hpp"
#include "tensors/description.hpp"

namespace crowd::net {

struct Choice {
  std::string engine;              ///< a row's name; empty: the first that does
  std::vector<std::string> files;  ///< of one model in several forms, the one to try first at the front
  tensors::Description description;
  int threads = 0;
  bool cuda_graph = false;
};

/// Files of a model `name` that gst-crowd-fetch-model and packages leave: NAME.onnx and NAME.pb in gst-crowd/models of
/// the user's cache folder and of the data folders, as far as they are there.
std::vector<std::string> installed_models(const std::string& name);

/// Where installed_models() looks, for messages.
std::string model_folders();

/// Whether a description lies beside the model's file, as FILE.modelinfo.
bool is_described(const std::string& model_file);

/// The description `name`: a file or one that is shipped; with none, that of the model's file, FILE.modelinfo.
std::optional<tensors::Description> choose_description(const std::string& name, const std::string& model_file,
                                                       std::string& problem);

/// An engine for the host that reads one of the files. Null with the reason and remedy of each that failed.
std::unique_ptr<Engine> open_engine(const Choice& choice, std::string& problem);

/// The same for a device of the CUDA runtime.
std::unique_ptr<DeviceEngine> open_device_engine(const Choice& choice, int device, std::string& problem);

/// Why no engine could run the model on a device, as far as that is known without loading it: this build, the files, or
/// libraries that are missing. Empty if one may.
std::string device_problem(const Choice& choice);

}  // namespace crowd::net
