// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/devicenetwork.hpp"

#include <vector>

#include "detect/deviceframes.hpp"
#include "detect/net/fill.hpp"
#include "detect/net/frames.hpp"
#include "gpu/cudamemory.hpp"
#include "tensors/device_decoder.hpp"

namespace crowd::net {

namespace {

template <typename Item>
DeviceReport upload(cuda::DeviceMemory& memory, std::span<const Item> items) {
  cudaError_t error = cuda::allocate(memory, items.size_bytes());
  if (error == cudaSuccess)
    error = cudaMemcpy(memory.get(), items.data(), items.size_bytes(), cudaMemcpyHostToDevice);
  return error == cudaSuccess ? DeviceReport() : report_of("tiles of a network", error);
}

class CudaNetwork final : public DeviceNetwork {
 public:
  explicit CudaNetwork(const Choice& choice) : choice_(choice) {}

  ~CudaNetwork() override {
    frames_.leave([this] { release(); });
  }

  DeviceReport find(GstBuffer* buffer, const GstVideoInfo& info, const Settings& settings,
                    MemoryRef& candidates) override {
    return frames_.search(
        buffer, info, settings.capacity, candidates, [this] { release(); },
        [&](const DeviceFrames::Work& work) { return search(work, settings); });
  }

 private:
  // All that is in the context that is current.
  void release() {
    decoder_.reset();
    engine_.reset();
    crops_.reset();
    placements_.reset();
    classes_.reset();
    picture_ = {};
  }

  DeviceReport load();
  DeviceReport prepare(PixelSize picture, const Settings& settings);
  DeviceReport fill(const DeviceFrames::Work& work, void* input) const;
  DeviceReport decode(const DeviceFrames::Work& work, const Settings& settings,
                      const std::vector<tensors::Tensor>& outputs) const;
  DeviceReport search(const DeviceFrames::Work& work, const Settings& settings);

  Choice choice_;
  DeviceFrames frames_;
  std::unique_ptr<DeviceEngine> engine_;
  std::unique_ptr<tensors::DeviceDecoder> decoder_;
  PixelSize picture_;
  TileGrid grid_;
  TilePlan plan_;
  cuda::DeviceMemory crops_, placements_, classes_;
};

DeviceReport CudaNetwork::load() {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess)
    return report_of("a network's device", error);
  std::string problem;
  engine_ = open_device_engine(choice_, device, problem);
  return engine_ ? DeviceReport() : DeviceReport{DeviceOutcome::unusable, problem};
}

DeviceReport CudaNetwork::prepare(PixelSize picture, const Settings& settings) {
  if (decoder_ && picture == picture_ && settings.tiles == grid_)
    return {};
  decoder_.reset();
  std::string problem;
  auto plan = plan_tiles(picture, settings.tiles, choice_.description.input, problem);
  if (!plan)
    return {DeviceOutcome::dropped, problem};
  plan_ = std::move(*plan);
  DeviceReport report;
  if (!engine_ && (report = load()).outcome != DeviceOutcome::done)
    return report;
  std::vector<tensors::TensorInfo> outputs;
  const auto batch = static_cast<unsigned>(plan_.crops.size());
  if (report = engine_->prepare(static_cast<int>(batch), plan_.input.width, plan_.input.height, outputs);
      report.outcome != DeviceOutcome::done)
    return report;
  if (report = upload<Crop>(crops_, plan_.crops); report.outcome != DeviceOutcome::done)
    return report;
  if (report = upload<tensors::InputPlacement>(placements_, plan_.placements()); report.outcome != DeviceOutcome::done)
    return report;
  if (report = upload<std::uint32_t>(classes_, settings.classes); report.outcome != DeviceOutcome::done)
    return report;
  decoder_ =
      tensors::DeviceDecoder::make(choice_.description, outputs, plan_.input.width, plan_.input.height, batch, report);
  // Outputs that are not those of the description will not be with the next frame either.
  if (report.outcome == DeviceOutcome::dropped)
    report.outcome = DeviceOutcome::unusable;
  picture_ = picture;
  grid_ = settings.tiles;
  return report;
}

DeviceReport CudaNetwork::fill(const DeviceFrames::Work& work, void* input) const {
  const FillWork fill = {picture_of(work.frame, work.part),
                         static_cast<const Crop*>(crops_.get()),
                         static_cast<int>(plan_.crops.size()),
                         encoding_of(choice_.description.input, plan_.input.width, plan_.input.height),
                         choice_.description.input.tensor.type,
                         input};
  const auto error = static_cast<cudaError_t>(fill_on_device(fill, work.stream));
  return error == cudaSuccess ? DeviceReport() : report_of("a network's input", error);
}

DeviceReport CudaNetwork::decode(const DeviceFrames::Work& work, const Settings& settings,
                                 const std::vector<tensors::Tensor>& outputs) const {
  const tensors::DeviceDecodeSettings decode = {settings.score_threshold,
                                                static_cast<const std::uint32_t*>(classes_.get()),
                                                static_cast<std::uint32_t>(settings.classes.size())};
  const tensors::DecodedArrays out = {work.boxes.count, &work.boxes.boxes->x1, work.boxes.scores, work.boxes.classes,
                                      work.capacity};
  const cudaError_t error =
      decoder_->enqueue(outputs, static_cast<unsigned>(plan_.crops.size()),
                        static_cast<const tensors::InputPlacement*>(placements_.get()), decode, out, work.stream);
  return error == cudaSuccess ? DeviceReport() : report_of("a network's outputs", error);
}

DeviceReport CudaNetwork::search(const DeviceFrames::Work& work, const Settings& settings) {
  if (DeviceReport report = prepare({work.part.width, work.part.height}, settings);
      report.outcome != DeviceOutcome::done)
    return report;
  return engine_->run(
      work.stream, [&](void* input) { return fill(work, input); },
      [&](const std::vector<tensors::Tensor>& outputs) { return decode(work, settings, outputs); });
}

}  // namespace

std::unique_ptr<DeviceNetwork> DeviceNetwork::make(const Choice& choice) {
  return std::make_unique<CudaNetwork>(choice);
}

}  // namespace crowd::net
