// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/device_decoder.hpp"

#include <string>
#include <utility>

#include "gpu/cudamemory.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/memorylayout.hpp"
#include "tensors/decode_kernel.hpp"
#include "tensors/layouts.hpp"

namespace crowd::tensors {

namespace {

constexpr std::size_t alignment = 256;

/// What a decoder has in device memory. Pointers are null where a layout only measures.
struct Memories {
  Anchor* anchors;
  DecodeState* state;
  std::uint32_t* tile_words;
  Hit* hits;
};

Memories take_memories(MemoryLayout& layout, std::size_t anchors, std::size_t places) {
  Memories memories{};
  memories.anchors = layout.place<Anchor>(anchors);
  memories.state = layout.place<DecodeState>(1);
  memories.tile_words = layout.place<std::uint32_t>((places + tile_places - 1) / tile_places);
  memories.hits = layout.place<Hit>(places);
  return memories;
}

cudaError_t upload(const Memories& memories, const std::vector<Anchor>& anchors, void* block, std::size_t bytes) {
  cudaError_t error = cudaMemsetAsync(block, 0, bytes, nullptr);
  if (error == cudaSuccess && !anchors.empty())
    error = cudaMemcpy(memories.anchors, anchors.data(), anchors.size() * sizeof(Anchor), cudaMemcpyHostToDevice);
  // The frames' stream need not wait for the default one.
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

class PlannedDeviceDecoder final : public DeviceDecoder {
 public:
  PlannedDeviceDecoder(Planned planned, unsigned max_batch, cuda::DeviceMemory block, std::size_t bytes,
                       const Memories& memories)
      : planned_(std::move(planned)),
        max_batch_(max_batch),
        block_(std::move(block)),
        bytes_(bytes),
        memories_(memories) {}

  unsigned classes() const override {
    return planned_.plan.classes;
  }
  std::size_t places() const override {
    return planned_.plan.places;
  }
  std::size_t device_bytes() const override {
    return bytes_;
  }

  cudaError_t enqueue(std::span<const Tensor> outputs, unsigned batch, const InputPlacement* placements,
                      const DeviceDecodeSettings& settings, const DecodedArrays& out, cudaStream_t stream) override {
    DecodeWork work{};
    if (batch == 0 || batch > max_batch_ || !take_outputs(planned_, outputs, batch, work.outputs))
      return cudaErrorInvalidValue;
    work.plan = planned_.plan;
    work.anchors = memories_.anchors;
    work.placements = placements;
    work.selection = {settings.score_threshold, surely_below(settings.score_threshold), settings.class_bits,
                      settings.class_words, settings.objectness_threshold};
    work.places = planned_.plan.places * batch;
    work.tiles = (work.places + tile_places - 1) / tile_places;
    work.state = memories_.state;
    work.tile_words = memories_.tile_words;
    work.hits = memories_.hits;
    work.count = out.count;
    work.boxes = out.boxes;
    work.scores = out.scores;
    work.classes = out.classes;
    work.capacity = out.capacity;
    return launch_decode(work, stream);
  }

 private:
  Planned planned_;
  unsigned max_batch_;
  cuda::DeviceMemory block_;
  std::size_t bytes_;
  Memories memories_;
};

}  // namespace

std::unique_ptr<DeviceDecoder> DeviceDecoder::make(const Description& description,
                                                   const std::vector<TensorInfo>& outputs, int width, int height,
                                                   unsigned max_batch, DeviceReport& report) {
  Planned planned;
  report = {};
  if (!make_plan(description, outputs, width, height, planned, report.problem)) {
    report.outcome = DeviceOutcome::dropped;
    return nullptr;
  }
  const std::size_t places = static_cast<std::size_t>(planned.plan.places) * max_batch;
  if (places == 0 || places > max_batch_places) {
    report = {DeviceOutcome::dropped, "a batch of " + std::to_string(max_batch) + " has " + std::to_string(places) +
                                          " places for candidates: take from 1 to " +
                                          std::to_string(max_batch_places / planned.plan.places) + " inputs or tiles"};
    return nullptr;
  }
  MemoryLayout sizes(nullptr, alignment);
  take_memories(sizes, planned.anchors.size(), places);
  cuda::DeviceMemory block;
  if (const cudaError_t error = cuda::allocate(block, sizes.bytes()); error != cudaSuccess) {
    const std::string what = "decoding a network's outputs needs " + std::to_string((sizes.bytes() >> 20) + 1) +
                             " MiB, less with fewer tiles or a smaller input";
    report = report_of(what.c_str(), error);
    return nullptr;
  }
  MemoryLayout layout(block.get(), alignment);
  const Memories memories = take_memories(layout, planned.anchors.size(), places);
  if (const cudaError_t error = upload(memories, planned.anchors, block.get(), sizes.bytes()); error != cudaSuccess) {
    report = report_of("uploading the anchors of a network", error);
    return nullptr;
  }
  return std::make_unique<PlannedDeviceDecoder>(std::move(planned), max_batch, std::move(block), sizes.bytes(),
                                                memories);
}

}  // namespace crowd::tensors
