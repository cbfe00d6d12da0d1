// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/network.hpp"

#include "detect/net/fill.hpp"

namespace crowd::net {

std::string Network::prepare(PixelSize picture, const TileGrid& grid) {
  if (decoder_ && picture == picture_ && grid == grid_)
    return {};
  decoder_.reset();
  std::string problem;
  auto plan = plan_tiles(picture, grid, description_.input, problem);
  if (!plan)
    return problem;
  std::vector<tensors::TensorInfo> outputs;
  if (!engine_->prepare(plan->input.width, plan->input.height, outputs, problem))
    return problem;
  decoder_ = tensors::Decoder::make(description_, outputs, plan->input.width, plan->input.height, problem);
  if (!decoder_)
    return problem;
  picture_ = picture;
  grid_ = grid;
  plan_ = std::move(*plan);
  placements_ = plan_.placements();
  batch_.resize(batch_bytes(description_.input, plan_));
  return {};
}

std::string Network::find(const Picture& picture, const tensors::DecodeSettings& settings,
                          std::vector<tensors::RawBox>& boxes) {
  const tensors::Type type = description_.input.tensor.type;
  const FillWork work = {picture,
                         plan_.crops.data(),
                         static_cast<int>(plan_.crops.size()),
                         encoding_of(description_.input, plan_.input.width, plan_.input.height),
                         type,
                         batch_.data()};
  fill(work);
  const tensors::Tensor input = {type, batch_dims(description_.input, plan_), batch_.data()};
  std::string problem;
  if (engine_->run(input, outputs_, problem))
    decoder_->decode(outputs_, placements_, settings, boxes, problem);
  return problem;
}

}  // namespace crowd::net
