// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages of a search: each takes a struct of device pointers and is one launch.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "detect/hog/hog.hpp"
#include "detect/hog/hog_tables.hpp"

namespace crowd::hog {

/// The frame's luma, zoomed.
struct ZoomWork {
  DeviceImage frame;
  Zoom zoom;
  const ZoomTap* x;
  const ZoomTap* y;
  const float* weights;
  std::uint8_t* image;
};
cudaError_t launch_zoom(const ZoomWork& work, cudaStream_t stream);

/// From the zoomed image to the normalised histograms of all blocks of all planes.
struct BlocksWork {
  const Level* levels;
  const Plane* planes;
  const BlockTile* tiles;
  std::uint32_t tile_count;
  const LevelTap* taps;
  const std::uint8_t* image;
  std::int32_t pitch;
  float* values;
};
cudaError_t launch_blocks(const BlocksWork& work, cudaStream_t stream);

/// The scores of all windows in their order.
struct ScoresWork {
  const Level* levels;
  const Plane* planes;
  const BlockTile* tiles;
  std::uint32_t tile_count;
  std::uint32_t win_stride;
  const float4* coefficients;  ///< [block_values][window_rows][2]: those of a block row, one unused
  float bias;
  const float* values;
  float* scores;
};
cudaError_t launch_scores(const ScoresWork& work, cudaStream_t stream);

/// The windows with enough score, in their order.
struct WindowsWork {
  const Level* levels;
  std::uint32_t level_count;
  const WindowRange* ranges;
  const float* scores;
  std::uint32_t windows;
  std::uint32_t chunk;  ///< windows that a block of threads takes
  std::uint32_t chunks;
  std::uint32_t* found;  ///< [chunks]
  std::uint32_t* hits;   ///< [windows]: which they are, where there are more than capacity
  float threshold;
  bool body;
  DeviceWindows out;
};
cudaError_t launch_windows(const WindowsWork& work, cudaStream_t stream);
/// Kernels of launch_windows().
constexpr unsigned windows_launches = 3;
/// Most chunks: a block of threads adds up what all have found.
constexpr std::uint32_t max_chunks = 1024;
constexpr std::uint32_t min_chunk = 2048;

}  // namespace crowd::hog
