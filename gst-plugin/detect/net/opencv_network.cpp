// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/opencv_network.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "detect/net/onnxgraph.hpp"
#include "detect/net/ssdgraph.hpp"

namespace crowd::net {

namespace {

constexpr std::uintmax_t largest_file = 1UL << 30;  // protocol buffers end at twice as much

bool read_file(const std::string& path, std::string& bytes, std::string& problem) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    problem = "there is no such file; gst-crowd-fetch-model fetches person-net and face-net";
    return false;
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > largest_file) {
    problem = error ? error.message() : "it is larger than 1 GiB; OpenCV cannot read it, use another engine";
    return false;
  }
  bytes.resize(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    problem = "it cannot be read; check its permissions";
    return false;
  }
  return true;
}

/// What OpenCV has no layer for, and would say so less clearly, or crash over.
bool can_be_raw(const OnnxGraph& graph, std::string& problem) {
  for (const char* name : {"NonMaxSuppression", "TopK", "Loop", "If", "Scan"}) {
    if (graph.operators.contains(name)) {
      problem = std::string("it has the operator ") + name +
                ", which OpenCV's dnn has not; export it without its own NMS, or use another engine";
      return false;
    }
  }
  if (graph.external_weights) {
    problem = "its weights are in another file, which OpenCV does not read; save it as one file, or use another engine";
    return false;
  }
  const bool floats = graph.inputs.size() == 1 && graph.inputs[0].element_type == onnx_float32;
  if (!floats)
    problem = graph.inputs.size() == 1
                  ? "its input is not of float32; export it with such an input, or use another engine"
                  : "it has " + std::to_string(graph.inputs.size()) + " inputs; only networks with one are run";
  return floats;
}

std::vector<std::string> chosen_outputs(const OnnxGraph& graph, const std::vector<tensors::TensorInfo>& wanted) {
  std::vector<std::string> all, chosen;
  for (const OnnxValue& output : graph.outputs) {
    all.push_back(output.name);
    if (std::ranges::any_of(wanted, [&](const tensors::TensorInfo& info) { return info.name == output.name; }))
      chosen.push_back(output.name);
  }
  return chosen.empty() ? all : chosen;
}

bool prepare_onnx(OpenCvNetwork& network, const std::vector<tensors::TensorInfo>& wanted, std::string& problem) {
  const std::optional<OnnxGraph> graph = read_onnx_graph(network.bytes);
  if (!graph) {
    problem = "it is no ONNX model, or is cut off; fetch it again";
    return false;
  }
  network.onnx = true;
  network.outputs = chosen_outputs(*graph, wanted);
  return can_be_raw(*graph, problem);
}

bool prepare_ssd(OpenCvNetwork& network, std::string& problem) {
  std::optional<SsdGraph> graph = cut_ssd_graph(network.bytes, problem);
  if (!graph)
    return false;
  network.bytes = std::move(graph->bytes);
  network.ssd_layers = graph->boxes.size();
  network.outputs = std::move(graph->boxes);
  network.outputs.insert(network.outputs.end(), graph->classes.begin(), graph->classes.end());
  return true;
}

bool ends_with(const std::string& path, const char* ending) {
  std::string lower = std::filesystem::path(path).extension().string();
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == ending;
}

}  // namespace

bool opencv_reads(const std::string& path) {
  return ends_with(path, ".onnx") || ends_with(path, ".pb");
}

bool try_opencv(std::string& problem, const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const cv::Exception& exception) {
    problem = exception.err;  // what() has lines for the developer of OpenCV
  } catch (const std::exception& exception) {
    problem = exception.what();
  }
  std::ranges::replace(problem, '\n', ' ');
  return false;
}

cv::dnn::Net OpenCvNetwork::read() const {
  cv::dnn::Net net = onnx ? cv::dnn::readNetFromONNX(bytes.data(), bytes.size())
                          : cv::dnn::readNetFromTensorflow(bytes.data(), bytes.size());
  net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
  net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
  return net;
}

std::optional<OpenCvNetwork> load_opencv_network(const std::string& path,
                                                 const std::vector<tensors::TensorInfo>& wanted, std::string& problem) {
  OpenCvNetwork network;
  if (!opencv_reads(path)) {
    problem = "OpenCV reads models in files named .onnx and .pb";
    return {};
  }
  if (!read_file(path, network.bytes, problem))
    return {};
  if (ends_with(path, ".onnx") ? !prepare_onnx(network, wanted, problem) : !prepare_ssd(network, problem))
    return {};
  std::string reason;
  const bool readable = try_opencv(reason, [&] {
    const cv::dnn::Net net = network.read();
    for (const std::string& output : network.outputs) {
      if (net.getLayerId(output) < 0)
        throw std::runtime_error("there is no layer of output " + output);
    }
  });
  if (readable)
    return network;
  problem = "OpenCV " CV_VERSION " cannot read it (" + reason + "); export it otherwise, or use another engine";
  return {};
}

}  // namespace crowd::net
