// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// OpenCV's dnn, on the host. Inputs are run one by one: OpenCV computes a batch no faster, its results are only right
// for inputs of one shape (opencv_network.hpp), and the number of tiles may change.

#include <algorithm>
#include <mutex>
#include <opencv2/core/utility.hpp>

#include "detect/net/engine_rows.hpp"
#include "detect/net/opencv_network.hpp"
#include "detect/net/ssdoutputs.hpp"

namespace crowd::net {

namespace {

using tensors::Dims;
using tensors::Tensor;
using tensors::TensorInfo;

constexpr int channels = 3;
constexpr int max_side = 8192;  // pixels; with max_pixels, no size overflows in OpenCV, which counts in int
constexpr std::int64_t max_pixels = 16 << 20;  // pixels
// Of the outputs of all layers together, bytes. OpenCV reuses most of them: CenterFace at 3840x2176 has 8.6 GiB in its
// layers and takes 2 GB.
constexpr std::size_t max_layers = 10UL << 30;

std::vector<int> input_shape(int width, int height) {
  return {1, channels, height, width};
}

/// Of one of the batch.
std::size_t values_of(const Dims& dims) {
  std::size_t values = 1;
  for (std::size_t i = 1; i < dims.size(); i++)
    values *= static_cast<std::size_t>(dims[i]);
  return values;
}

class OpenCvEngine : public Engine {
 public:
  OpenCvEngine(OpenCvNetwork network, std::string path, bool planar)
      : network_(std::move(network)), path_(std::move(path)), planar_(planar) {}

  bool prepare(int width, int height, std::vector<TensorInfo>& outputs, std::string& problem) override;
  bool run(const Tensor& input, std::vector<Tensor>& outputs, std::string& problem) override;

 private:
  bool measure(int width, int height, std::string& problem);
  bool describe_outputs(const std::vector<Dims>& shapes, std::string& problem);
  bool is_input(const Tensor& input) const;
  cv::Mat picture(const Tensor& input, std::int64_t index);
  bool are_outputs(const std::vector<cv::Mat>& blobs) const;
  void store(const std::vector<cv::Mat>& blobs, std::int64_t index);

  const OpenCvNetwork network_;
  const std::string path_;
  const bool planar_;
  int width_ = 0, height_ = 0;  ///< 0 before prepare()
  cv::dnn::Net net_;            ///< has seen inputs of this size alone
  std::optional<SsdOutputs> ssd_;
  std::vector<TensorInfo> infos_;
  std::vector<std::size_t> sizes_;       ///< values of an output for one input
  std::vector<std::size_t> blob_sizes_;  ///< the same of OpenCV's outputs
  std::vector<std::vector<float>> stored_;
  std::vector<float> planes_;
};

/// Where OpenCV says what the network takes and gives, without running it.
bool OpenCvEngine::measure(int width, int height, std::string& problem) {
  const std::vector<int> shape = input_shape(width, height);
  std::vector<Dims> shapes;
  std::size_t weights = 0, layers = 0;
  std::string reason;
  const bool known = try_opencv(reason, [&] {
    net_ = network_.read();
    for (const std::string& output : network_.outputs) {
      std::vector<std::vector<int>> in, out;
      net_.getLayerShapes(shape, net_.getLayerId(output), in, out);
      shapes.emplace_back(out.at(0).begin(), out.at(0).end());
    }
    net_.getMemoryConsumption(shape, weights, layers);
  });
  if (!known) {
    problem = "OpenCV cannot run it (" + reason + "); give dims or multiple-of that it was made for in its description";
    return false;
  }
  if (layers > max_layers) {
    problem = "its layers take " + std::to_string(layers >> 30) + " GiB, of at most " +
              std::to_string(max_layers >> 30) + "; set a smaller max-side in its description, or tiles";
    return false;
  }
  return describe_outputs(shapes, problem);
}

bool OpenCvEngine::describe_outputs(const std::vector<Dims>& shapes, std::string& problem) {
  infos_.clear();
  sizes_.clear();
  blob_sizes_.clear();
  for (const Dims& dims : shapes)
    blob_sizes_.push_back(values_of(dims));
  if (network_.ssd_layers > 0) {
    const auto classes = shapes.begin() + static_cast<std::ptrdiff_t>(network_.ssd_layers);
    ssd_ = SsdOutputs::make({shapes.begin(), classes}, {classes, shapes.end()}, problem);
    if (!ssd_)
      return false;
    infos_ = {{.name = "box_encodings", .id = {}, .dims = {tensors::any_size, ssd_->anchors(), 4}},
              {.name = "class_predictions", .id = {}, .dims = {tensors::any_size, ssd_->anchors(), ssd_->classes()}}};
  } else {
    for (std::size_t i = 0; i < shapes.size(); i++) {
      infos_.push_back({.name = network_.outputs[i], .id = {}, .dims = shapes[i]});
      infos_.back().dims.at(0) = tensors::any_size;
    }
  }
  for (const TensorInfo& info : infos_)
    sizes_.push_back(values_of(info.dims));
  stored_.resize(infos_.size());
  return true;
}

bool OpenCvEngine::prepare(int width, int height, std::vector<TensorInfo>& outputs, std::string& problem) {
  if (width != width_ || height != height_) {
    width_ = height_ = 0;
    problem = "at most 16 megapixels and 8192 on a side; set a smaller max-side in its description, or tiles";
    const bool countable = width > 0 && height > 0 && width <= max_side && height <= max_side &&
                           std::int64_t{width} * height <= max_pixels;
    if (!countable || !measure(width, height, problem)) {
      problem = path_ + ": no inputs of " + std::to_string(width) + 'x' + std::to_string(height) + ": " + problem;
      return false;
    }
    width_ = width;
    height_ = height;
  }
  outputs = infos_;
  return true;
}

bool OpenCvEngine::is_input(const Tensor& input) const {
  const Dims planar = {channels, height_, width_}, interleaved = {height_, width_, channels};
  return width_ > 0 && input.type == tensors::Type::float32 && input.dims.size() == 4 && input.dims[0] > 0 &&
         std::equal(input.dims.begin() + 1, input.dims.end(), (planar_ ? planar : interleaved).begin());
}

/// The input of that index in planes, as OpenCV takes it; not owned.
cv::Mat OpenCvEngine::picture(const Tensor& input, std::int64_t index) {
  const std::size_t area = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  const float* samples = static_cast<const float*>(input.data) + static_cast<std::size_t>(index) * channels * area;
  if (!planar_) {
    planes_.resize(channels * area);
    for (std::size_t i = 0; i < area; i++) {
      for (std::size_t channel = 0; channel < channels; channel++)
        planes_[channel * area + i] = samples[i * channels + channel];
    }
    samples = planes_.data();
  }
  return {input_shape(width_, height_), CV_32F, const_cast<float*>(samples)};
}

bool OpenCvEngine::are_outputs(const std::vector<cv::Mat>& blobs) const {
  return std::ranges::equal(blobs, blob_sizes_, [](const cv::Mat& blob, std::size_t size) {
    return blob.type() == CV_32F && blob.isContinuous() && blob.total() == size;
  });
}

void OpenCvEngine::store(const std::vector<cv::Mat>& blobs, std::int64_t index) {
  const auto out = [&](std::size_t i) { return stored_[i].data() + static_cast<std::size_t>(index) * sizes_[i]; };
  if (ssd_) {
    std::vector<const float*> planes;
    for (const cv::Mat& blob : blobs)
      planes.push_back(blob.ptr<float>());
    const auto classes = planes.begin() + static_cast<std::ptrdiff_t>(network_.ssd_layers);
    ssd_->gather({planes.begin(), classes}, {classes, planes.end()}, out(0), out(1));
    return;
  }
  for (std::size_t i = 0; i < blobs.size(); i++)
    std::copy_n(blobs[i].ptr<float>(), sizes_[i], out(i));
}

bool OpenCvEngine::run(const Tensor& input, std::vector<Tensor>& outputs, std::string& problem) {
  if (!is_input(input)) {
    problem = path_ + ": the input is not of the size that the network was prepared for";
    return false;
  }
  const std::int64_t batch = input.dims[0];
  for (std::size_t i = 0; i < infos_.size(); i++)
    stored_[i].resize(static_cast<std::size_t>(batch) * sizes_[i]);
  for (std::int64_t i = 0; i < batch; i++) {
    std::vector<cv::Mat> blobs;
    std::string reason;
    const bool done = try_opencv(reason, [&] {
      net_.setInput(picture(input, i));
      net_.forward(blobs, network_.outputs);
    });
    if (!done || !are_outputs(blobs)) {
      problem = path_ + ": OpenCV failed: " + (done ? "outputs are of other sizes than it said" : reason);
      return false;
    }
    store(blobs, i);
  }
  outputs.clear();
  for (std::size_t i = 0; i < infos_.size(); i++) {
    outputs.push_back({.type = infos_[i].type, .dims = infos_[i].dims, .data = stored_[i].data()});
    outputs.back().dims[0] = batch;
  }
  return true;
}

/// OpenCV has one number of threads for the whole process, and all of it runs one parallel loop at a time: a second
/// thread that comes to one meanwhile computes it alone.
void set_threads(int threads) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (threads > 0 && threads != cv::getNumThreads())
    cv::setNumThreads(threads);
}

std::unique_ptr<Engine> make_opencv(const EngineModel& model, std::string& problem) {
  const tensors::Input& input = model.description.input;
  if (input.tensor.type != tensors::Type::float32) {
    problem =
        model.path + ": OpenCV takes inputs of float32; say type=float32 in the description, or use another engine";
    return nullptr;
  }
  std::optional<OpenCvNetwork> network = load_opencv_network(model.path, model.description.outputs, problem);
  if (!network) {
    problem = model.path + ": " + problem;
    return nullptr;
  }
  set_threads(model.threads);
  return std::make_unique<OpenCvEngine>(std::move(*network), model.path, input.planar);
}

}  // namespace

EngineRow opencv_row() {
  return {
      .name = "opencv", .make = make_opencv, .make_device = nullptr, .device_problem = nullptr, .reads = opencv_reads};
}

}  // namespace crowd::net
