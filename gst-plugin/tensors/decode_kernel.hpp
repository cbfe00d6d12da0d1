// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel of DeviceDecoder. C++17, for CUDA sources as well.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "tensors/decode.hpp"

namespace crowd::tensors {

/// Places that a block of threads decodes: a tile.
inline constexpr std::uint32_t tile_places = 256;
/// The word of a tile: 0, or a number of candidates and what it counts.
inline constexpr std::uint32_t of_tile = 1U << 30, up_to_tile = 2U << 30, number_bits = of_tile - 1;
/// Places of a batch, at most.
inline constexpr std::uint32_t max_batch_places = number_bits;

/// A candidate found, wherever it goes.
struct Hit {
  std::uint32_t place;  ///< in the batch
  float score;
};

/// All 0 between two launches.
struct DecodeState {
  std::uint32_t tickets;  ///< blocks that have begun
  std::uint32_t ended;    ///< blocks that have placed their candidates
};

struct DecodeWork {
  Plan plan;
  OutputData outputs;
  const Anchor* anchors;
  const InputPlacement* placements;  ///< [batch]
  Selection selection;
  std::uint32_t places;  ///< of the batch
  std::uint32_t tiles;
  DecodeState* state;
  std::uint32_t* tile_words;  ///< [tiles]; all 0 between two launches
  Hit* hits;                  ///< [places]

  std::uint32_t* count;  ///< candidates found
  float* boxes;
  float* scores;
  std::int32_t* classes;
  std::uint32_t capacity;
};

cudaError_t launch_decode(const DecodeWork& work, cudaStream_t stream);

}  // namespace crowd::tensors
