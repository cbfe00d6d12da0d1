// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A network on the host: from a picture to candidates.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "detect/net/engine.hpp"
#include "detect/net/frames.hpp"
#include "detect/net/tiles.hpp"
#include "tensors/decoder.hpp"

namespace crowd::net {

/// For one thread. Allocates where the size of pictures or the tiles are not those of the picture before.
class Network {
 public:
  Network(std::unique_ptr<Engine> engine, const tensors::Description& description)
      : engine_(std::move(engine)), description_(description) {}

  /// Gets ready for pictures of this size. The reason and remedy where that cannot be.
  std::string prepare(PixelSize picture, const TileGrid& grid);

  /// After prepare() for its size: the candidates of all tiles, in their order, raw. Empty, or why there are none.
  std::string find(const Picture& picture, const tensors::DecodeSettings& settings,
                   std::vector<tensors::RawBox>& boxes);

  /// Classes that it tells apart; after prepare().
  unsigned classes() const {
    return decoder_ ? decoder_->classes() : 0;
  }

 private:
  std::unique_ptr<Engine> engine_;
  tensors::Description description_;
  PixelSize picture_;
  TileGrid grid_;
  TilePlan plan_;
  std::unique_ptr<tensors::Decoder> decoder_;
  std::vector<std::byte> batch_;
  std::vector<tensors::InputPlacement> placements_;
  std::vector<tensors::Tensor> outputs_;
};

}  // namespace crowd::net
