// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensors/decoder.hpp"

#include <algorithm>
#include <utility>

#include "tensors/decode.hpp"
#include "tensors/layouts.hpp"

namespace crowd::tensors {

namespace {

class PlannedDecoder final : public Decoder {
 public:
  explicit PlannedDecoder(Planned planned) : planned_(std::move(planned)) {}

  unsigned classes() const override {
    return planned_.plan.classes;
  }
  std::size_t places() const override {
    return planned_.plan.places;
  }

  bool decode(std::span<const Tensor> outputs, std::span<const Placement> placements, const DecodeSettings& settings,
              std::vector<RawBox>& boxes, std::string& problem) const override {
    OutputData data{};
    if (!take_outputs(planned_, outputs, placements.size(), data)) {
      problem = "the network's outputs are not of the types and sizes that it announced";
      return false;
    }
    const Selection selection{settings.score_threshold, surely_below(settings.score_threshold), settings.classes.data(),
                              static_cast<std::uint32_t>(settings.classes.size())};
    for (std::size_t input = 0; input < placements.size(); input++)
      decode_input(data, input, placements[input], selection, boxes);
    return true;
  }

 private:
  void decode_input(const OutputData& data, std::size_t input, const Placement& placement, const Selection& selection,
                    std::vector<RawBox>& boxes) const {
    for (std::uint32_t place = 0; place < planned_.plan.places; place++) {
      Scored scored;
      if (!score_of(planned_.plan, data, input, place, selection, scored))
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
