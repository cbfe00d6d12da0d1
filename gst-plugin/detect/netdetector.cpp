// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/netdetector.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "detect/net/choice.hpp"
#include "detect/net/devicenetwork.hpp"
#include "detect/net/network.hpp"
#include "gpu/parts.hpp"

namespace crowd {

namespace {

constexpr const char* engine_names[] = {"", "opencv", "onnxruntime"};

net::PixelSize size_of(const GstVideoInfo& info) {
  return {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)};
}

class NetDetector final : public Detector {
 public:
  NetDetector(net::Choice choice, const std::vector<std::string>& names, std::vector<std::uint32_t> classes)
      : choice_(std::move(choice)), labels_(labels_of(names)), classes_(std::move(classes)) {}

  std::string open(const GstVideoInfo& info, bool on_device, const PerFrame& settings) override;

  std::string vain_because(const GstVideoInfo& info, const PerFrame& settings) override {
    const std::string problem = net::tiles_problem(size_of(info), settings.tiles);
    return problem.empty() ? problem : "Nothing can be found: " + problem + ".";
  }

  DeviceReport find_on_device(GstBuffer* buffer, const GstVideoInfo& info, const PerFrame& settings,
                              MemoryRef& candidates) override {
    return on_device_->find(
        buffer, info, {settings.tiles, static_cast<float>(settings.score_threshold), classes_, settings.max_candidates},
        candidates);
  }

  GPtrArray* labels() const override {
    return labels_ && labels_->len > 0 ? labels_.get() : nullptr;
  }
  Calibration calibration() const override {
    return {};
  }

 private:
  std::string search(const GstVideoFrame& frame, const ShownPart& part, const PerFrame& settings,
                     std::vector<RawBox>& boxes) override;

  net::Choice choice_;
  Labels labels_;
  std::vector<std::uint32_t> classes_;
  std::unique_ptr<net::Network> on_host_;
  std::unique_ptr<net::DeviceNetwork> on_device_;
};

std::string NetDetector::open(const GstVideoInfo& info, bool on_device, const PerFrame& settings) {
  if (on_device) {
    if (!on_device_)
      on_device_ = make_device_part<net::DeviceNetwork>(choice_);
    return net::device_problem(choice_);
  }
  if (!on_host_) {
    std::string problem;
    auto engine = net::open_engine(choice_, problem);
    if (!engine)
      return problem;
    on_host_ = std::make_unique<net::Network>(std::move(engine), choice_.description);
  }
  return on_host_->prepare(size_of(info), settings.tiles);
}

std::string NetDetector::search(const GstVideoFrame& frame, const ShownPart& part, const PerFrame& settings,
                                std::vector<RawBox>& boxes) {
  if (std::string problem = on_host_->prepare({part.width, part.height}, settings.tiles); !problem.empty())
    return problem;
  return on_host_->find(net::picture_of(frame, part), {static_cast<float>(settings.score_threshold), classes_}, boxes);
}

void let_through(std::vector<std::uint32_t>& classes, unsigned id) {
  constexpr unsigned bits = 32;
  if (classes.size() <= id / bits)
    classes.resize(id / bits + 1);
  classes[id / bits] |= 1U << id % bits;
}

// Bits of the classes that `filter` names.
std::string read_filter(const std::string& filter, const std::vector<std::string>& names,
                        std::vector<std::uint32_t>& classes) {
  constexpr unsigned max_classes = 65536;
  std::istringstream entries(filter);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const auto from = entry.find_first_not_of(' ');
    entry = from == std::string::npos ? "" : entry.substr(from, entry.find_last_not_of(' ') - from + 1);
    if (const auto found = std::find(names.begin(), names.end(), entry); found != names.end() && !entry.empty()) {
      let_through(classes, static_cast<unsigned>(found - names.begin()));
      continue;
    }
    unsigned id = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), id);
    if (entry.empty() || error != std::errc() || end != entry.data() + entry.size() || id >= max_classes ||
        (!names.empty() && id >= names.size()))
      return "class-filter has \"" + entry + "\", which is neither one of the model's " + std::to_string(names.size()) +
             " labels nor a number of a class. Correct it, or set label-file.";
    let_through(classes, id);
  }
  return {};
}

// Files to try.
std::string find_files(const Model& model, const char* name, std::vector<std::string>& files) {
  if (!model.file.empty()) {
    if (!g_file_test(model.file.c_str(), G_FILE_TEST_IS_REGULAR))
      return "There is no model " + model.file + ". Set model to the file of a network.";
    files = {model.file};
    return {};
  }
  if (!name)
    return "detector=network runs a model of your own. Set model to its file, .onnx, and model-info to what its "
           "tensors are, say yolo-v8.";
  files = net::installed_models(name);
  if (files.empty())
    return "There is no model " + std::string(name) + " in " + net::model_folders() + ". Fetch it once with " +
           "gst-crowd-fetch-model " + name + " (pipelines/fetch-model in the sources), or set model to its file.";
  return {};
}

std::string read_names(const Model& model, const tensors::Description& description, const char* default_label,
                       std::vector<std::string>& names) {
  if (model.label_file.empty() && !model.label.empty()) {
    names = {model.label};
    return {};
  }
  const std::string& file = model.label_file.empty() ? description.labels : model.label_file;
  if (file.empty()) {
    if (default_label)
      names = {default_label};
    return {};
  }
  std::string problem;
  if (auto read = tensors::read_labels(file, problem))
    names = std::move(*read);
  return problem;
}

}  // namespace

std::unique_ptr<Detector> make_net_detector(GstElement* element, const Model& model, const char* name,
                                            const char* default_label) {
  net::Choice choice;
  choice.engine = engine_names[model.engine];
  choice.threads = static_cast<int>(model.threads);
  choice.cuda_graph = model.cuda_graph;
  std::vector<std::string> names;
  std::vector<std::uint32_t> classes;
  std::string problem = find_files(model, name, choice.files);
  if (problem.empty()) {
    std::string description = model.description;
    if (description.empty() && name && (model.file.empty() || !net::is_described(model.file)))
      description = name;
    if (auto read = net::choose_description(description, choice.files.front(), problem))
      choice.description = std::move(*read);
  }
  if (problem.empty())
    problem = read_names(model, choice.description, default_label, names);
  if (problem.empty())
    problem = read_filter(model.class_filter, names, classes);
  if (!problem.empty()) {
    GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("%s", problem.c_str()), (nullptr));
    return nullptr;
  }
  return std::make_unique<NetDetector>(std::move(choice), names, std::move(classes));
}

}  // namespace crowd
