// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tensors/decode.hpp"
#include "tensors/layouts.hpp"

namespace crowd::tensors {

namespace {

/// Places that are looked at together. A constant, so that the compiler makes vectors of them.
constexpr std::uint32_t block = 256;
using Flags = std::array<std::uint32_t, block>;

/// Whether the scores of a class are neighbours in memory: YOLOv8's [4+C,N]. What is one class after the other, a place
/// at a time, would take a cache line for each number.
bool has_planes(const Plan& plan) {
  return plan.scores.place == 1 && plan.scores.type == Type::float32 && !plan.class_is_value && !plan.has_objectness;
}

/// Flags the places of a block that have a class whose value is not surely too low; NaN is not. score_of() decides.
void flag_block(const Plan& plan, const OutputData& data, std::size_t input, std::uint32_t first,
                const Selection& selection, Flags& flags) {
  const float bound = plan.sigmoid ? selection.surely_below : selection.threshold;
  const float* plane = static_cast<const float*>(data.data[plan.scores.output]) + element_of(plan.scores, input, first);
  flags.fill(0);
  for (std::uint32_t i = 0; i < plan.classes; i++, plane += plan.scores.channel) {
    for (std::uint32_t place = 0; place < block; place++)
      flags[place] |= static_cast<std::uint32_t>(!(plane[place] < bound));
  }
}

class PlannedDecoder final : public Decoder {
 public:
  explicit PlannedDecoder(Planned planned) : planned_(std::move(planned)) {}

  unsigned classes() const override {
    return planned_.plan.classes;
  }
  std::size_t places() const override {
    return planned_.plan.places;
  }

  bool decode(std::span<const Tensor> outputs, std::span<const InputPlacement> placements,
              const DecodeSettings& settings, std::vector<RawBox>& boxes, std::string& problem) const override {
    OutputData data{};
    if (!take_outputs(planned_, outputs, placements.size(), data)) {
      problem = "the network's outputs are not of the types and sizes that it announced";
      return false;
    }
    const Selection selection{settings.score_threshold, surely_below(settings.score_threshold), settings.classes.data(),
                              static_cast<std::uint32_t>(settings.classes.size()), settings.objectness_threshold};
    for (std::size_t input = 0; input < placements.size(); input++)
      decode_input(data, input, placements[input], selection, boxes);
    return true;
  }

 private:
  void decode_input(const OutputData& data, std::size_t input, const InputPlacement& placement,
                    const Selection& selection, std::vector<RawBox>& boxes) const {
    const std::uint32_t places = planned_.plan.places;
    if (!has_planes(planned_.plan) || places < block)
      return decode_places(data, input, 0, places, placement, selection, nullptr, boxes);
    Flags flags;
    for (std::uint32_t first = 0; first < places; first += block) {
      // The last block begins earlier, among places that are decoded already.
      const std::uint32_t from = std::min(first, places - block);
      flag_block(planned_.plan, data, input, from, selection, flags);
      decode_places(data, input, first, from + block, placement, selection, flags.data() + (first - from), boxes);
    }
  }

  // Places from `first` to `end`. `flags`, if there are any: those of which it is 0 are no candidates.
  void decode_places(const OutputData& data, std::size_t input, std::uint32_t first, std::uint32_t end,
                     const InputPlacement& placement, const Selection& selection, const std::uint32_t* flags,
                     std::vector<RawBox>& boxes) const {
    for (std::uint32_t place = first; place < end; place++) {
      Scored scored;
      if ((flags && !flags[place - first]) || !score_of(planned_.plan, data, input, place, selection, scored))
        continue;
      const Corners box = box_of(planned_.plan, data, input, place, planned_.anchors.data(), placement);
      boxes.push_back({box.x1, box.y1, box.x2, box.y2, scored.score, scored.class_id});
    }
  }

  Planned planned_;
};

}  // namespace

bool take_outputs(const Planned& planned, std::span<const Tensor> outputs, std::size_t batch, OutputData& data) {
  for (std::size_t i = 0; i < planned.outputs.size(); i++) {
    if (planned.outputs[i] >= outputs.size())
      return false;
    const TensorInfo& info = planned.infos[i];
    const Tensor& output = outputs[planned.outputs[i]];
    if (output.type != info.type || !output.data || output.dims.size() != info.dims.size() ||
        output.dims[0] < static_cast<std::int64_t>(batch) ||
        !std::equal(info.dims.begin() + 1, info.dims.end(), output.dims.begin() + 1))
      return false;
    data.data[i] = output.data;
  }
  return true;
}

std::unique_ptr<Decoder> Decoder::make(const Description& description, const std::vector<TensorInfo>& outputs,
                                       int width, int height, std::string& problem) {
  Planned planned;
  if (!make_plan(description, outputs, width, height, planned, problem))
    return nullptr;
  return std::make_unique<PlannedDecoder>(std::move(planned));
}

}  // namespace crowd::tensors
