// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The SVM. Windows of a plane are in steps of a block, so their scores are a convolution of its block values. A thread
// has a column of blocks and what this contributes to several rows of windows, as each of the columns that it can be of
// a window: a value that is read once is used up to 28 times. What the columns of a window have to say is added up at
// the end.

#include "detect/hog/hog_kernels.cuh"
#include "gpu/launch.cuh"

namespace crowd::hog {

namespace {

constexpr unsigned threads = score_tile_columns + window_columns - 1;
constexpr int rows = score_tile_rows;
constexpr int values_read = rows + window_rows - 1;
constexpr int quads = 2;
constexpr unsigned coefficient_quads = block_values * window_rows * quads;

static_assert(window_columns <= 4 * quads);

struct Shared {
  float4 coefficients[coefficient_quads];
  float parts[rows][window_columns][threads];
};

using Parts = float[rows][window_columns];

__device__ void add_value(Parts& parts, int row, const float* values, const float4& a, const float4& b) {
  const float coefficients[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z};
#pragma unroll
  for (int k = 0; k < rows; ++k)
#pragma unroll
    for (int column = 0; column < window_columns; ++column)
      parts[k][column] = __fmaf_rn(values[row + k], coefficients[column], parts[k][column]);
}

/// `values`: the thread's column of blocks, from the row of the first windows on.
__device__ void add_values(const Plane& plane, const float* values, const float4* coefficients, Parts& parts) {
  const std::size_t layer = static_cast<std::size_t>(plane.rows) * plane.columns;
  for (int k = 0; k < block_values; ++k, values += layer, coefficients += window_rows * quads) {
    float column[values_read];
#pragma unroll
    for (int row = 0; row < values_read; ++row)
      column[row] = values[row * plane.columns];
#pragma unroll
    for (int row = 0; row < window_rows; ++row)
      add_value(parts, row, column, coefficients[quads * row], coefficients[quads * row + 1]);
  }
}

/// Stores the score if there is a window there.
__device__ void store(const ScoresWork& work, const Level& level, unsigned x, unsigned y, float score) {
  if (x % work.win_stride == 0 && y % work.win_stride == 0)
    work.scores[level.first_window + y / work.win_stride * level.columns + x / work.win_stride] = score;
}

__global__ void __launch_bounds__(threads) scores_kernel(ScoresWork work) {
  __shared__ Shared shared;
  // Before the wait: no kernel writes them. DeviceFinder::prepare() uploads them, and waits for that, before any
  // launch.
  for (unsigned i = threadIdx.x; i < coefficient_quads; i += threads)
    shared.coefficients[i] = work.coefficients[i];
  cuda::pdl_wait();
  const BlockTile tile = work.tiles[blockIdx.x];
  const Plane plane = work.planes[tile.plane];
  const unsigned column = tile.column * score_tile_columns + threadIdx.x;
  const unsigned first_row = tile.row * rows;
  __syncthreads();
  Parts parts{};
  add_values(plane, work.values + plane.values + static_cast<std::size_t>(first_row) * plane.columns + column,
             shared.coefficients, parts);
#pragma unroll
  for (int k = 0; k < rows; ++k)
#pragma unroll
    for (int part = 0; part < window_columns; ++part)
      shared.parts[k][part][threadIdx.x] = parts[k][part];
  __syncthreads();
  if (threadIdx.x >= score_tile_columns || column + window_columns > plane.columns)
    return;
  const Level level = work.levels[plane.level];
  for (unsigned k = 0; k < rows && first_row + k + window_rows <= plane.rows; ++k) {
    float score = work.bias;
    for (unsigned part = 0; part < window_columns; ++part)
      score += shared.parts[k][part][threadIdx.x + part];
    store(work, level, plane.x + column * cell, plane.y + (first_row + k) * cell, score);
  }
}

}  // namespace

cudaError_t launch_scores(const ScoresWork& work, cudaStream_t stream) {
  return cuda::launch_pdl(scores_kernel, stream, {work.tile_count, 1, 1}, threads, work);
}

}  // namespace crowd::hog
