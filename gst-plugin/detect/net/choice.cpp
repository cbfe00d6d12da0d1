// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/choice.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/datafiles.hpp"
#include "tensors/shipped.hpp"

namespace crowd::net {

namespace {

std::vector<std::filesystem::path> folders() {
  const std::filesystem::path inside = std::filesystem::path("gst-crowd") / "models";
  std::vector<std::filesystem::path> all;
  if (const gchar* cache = g_getenv("CROWD_CACHE"))  // where fetch-model then puts them
    all.push_back(std::filesystem::path(cache) / "models");
  all.push_back(g_get_user_cache_dir() / inside);
  std::ranges::copy(data_folders(inside), std::back_inserter(all));
  return all;
}

std::string path_of_description(const std::string& model_file) {
  return model_file + ".modelinfo";
}

std::string engine_names() {
  std::string names;
  for (const EngineRow& row : engines())
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names.empty() ? "none" : names;
}

// Goes through the engines that were asked for, and for each through the files that it reads.
template <typename Made, typename Make>
Made first_that_opens(const Choice& choice, const Make& make, std::string& problem) {
  std::string reasons;
  bool any_engine = false, any_file = false;
  for (const EngineRow& row : engines()) {
    if (!choice.engine.empty() && choice.engine != row.name)
      continue;
    any_engine = true;
    for (const std::string& file : choice.files) {
      if (!row.reads(file))
        continue;
      any_file = true;
      std::string reason;
      const EngineModel model{
          .path = file, .description = choice.description, .threads = choice.threads, .cuda_graph = choice.cuda_graph};
      if (Made made = make(row, model, reason))
        return made;
      if (!reason.empty())
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
  }
  if (!any_engine)
    problem = "This build has no engine " + choice.engine + "; it has: " + engine_names() +
              ". Set engine to one of them, or build with the other.";
  else if (!any_file)
    problem = "No engine of this build reads " + (choice.files.empty() ? "the model" : choice.files.front()) +
              "; its engines are: " + engine_names() + ". Convert the model to ONNX.";
  else
    problem = reasons;
  return nullptr;
}

}  // namespace

std::vector<std::string> installed_models(const std::string& name) {
  std::vector<std::string> files;
  for (const auto& folder : folders())
    for (const char* ending : {".onnx", ".pb"})
      if (const auto path = folder / (name + ending); is_file(path))
        files.push_back(path.string());
  return files;
}

std::string model_folders() {
  std::string names;
  for (const auto& folder : folders())
    names += (names.empty() ? "" : ", ") + folder.string();
  return names;
}

bool is_described(const std::string& model_file) {
  return is_file(path_of_description(model_file));
}

std::optional<tensors::Description> choose_description(const std::string& name, const std::string& model_file,
                                                       std::string& problem) {
  std::string path;
  if (!name.empty()) {
    path = tensors::find_description(name, problem);
    if (path.empty())
      return std::nullopt;
  } else {
    path = path_of_description(model_file);
    if (!is_described(model_file)) {
      problem = "Nothing says what the tensors of " + model_file + " are: there is no " + path +
                ". Set model-info to a description, say yolo-v8; gst-crowd's layouts folder has one for each layout.";
      return std::nullopt;
    }
  }
  return tensors::read_description(path, problem);
}

std::unique_ptr<Engine> open_engine(const Choice& choice, std::string& problem) {
  return first_that_opens<std::unique_ptr<Engine>>(
      choice,
      [](const EngineRow& row, const EngineModel& model, std::string& reason) { return row.make(model, reason); },
      problem);
}

std::unique_ptr<DeviceEngine> open_device_engine(const Choice& choice, int device, std::string& problem) {
  return first_that_opens<std::unique_ptr<DeviceEngine>>(
      choice,
      [device](const EngineRow& row, const EngineModel& model, std::string& reason) {
        std::unique_ptr<DeviceEngine> engine;
        if (row.make_device)
          engine = row.make_device(model, device, reason);
        return engine;
      },
      problem);
}

std::string device_problem(const Choice& choice) {
  bool any_runs_there = false, any_may_run = false;
  std::string reasons;
  for (const EngineRow& row : engines()) {
    any_runs_there |= row.make_device != nullptr;
    const bool may_run = row.make_device && (choice.engine.empty() || choice.engine == row.name) &&
                         std::ranges::any_of(choice.files, row.reads);
    if (!may_run)
      continue;
    any_may_run = true;
    const std::string reason = row.device_problem();
    if (reason.empty())
      return {};
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  if (any_may_run)
    return "These frames are in CUDA memory: " + reasons + ".";
  const std::string remedy =
      " Put cudadownload before crowddetect to search on the CPU, or use an ONNX model with engine=onnxruntime";
  if (any_runs_there)
    return "These frames are in CUDA memory, where only ONNX models are run." + remedy +
           " (gst-crowd-convert-model makes one of the person network).";
  return "These frames are in CUDA memory, and this build has no engine that runs networks there." + remedy +
         ", in a build with CUDA and ONNX Runtime.";
}

}  // namespace crowd::net
