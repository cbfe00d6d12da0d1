// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Block histograms of a level as HOGDescriptor computes them, from pixels to normalised values, in one go.
//
// The weight of a pixel in a cell, Gaussian times the two linear ones, is a product of what depends on its column and
// what depends on its row. So pixels are gathered along rows first: a thread takes a segment of 8, which is the left
// half of one block and the right half of the block before, and has for each half and each column of cells a histogram
// in registers. Then a thread takes a bin of a column of cells and adds up rows, going down the tile: 8 rows are the
// lower half of one row of blocks and the upper half of the next.

#include "detect/hog/hog_kernels.cuh"
#include "gpu/launch.cuh"

namespace crowd::hog {

namespace {

constexpr int segments = block_tile_columns + 1;
constexpr unsigned threads = cell * segments;
constexpr int shade_columns = static_cast<int>(threads) + 2;
constexpr int shade_rows = cell + 2;
constexpr int sums = 2 * bins;  ///< of a row: bins of either column of cells

// A warp takes segments of rows r and r + 4. Strides of 4 modulo 8 have the two use banks of their own, a gap after
// each segment has the segments do so.
constexpr int shade_stride = 148;
constexpr int sum_stride = sums * segments + 4;
// Odd, for threads that differ in the block.
constexpr int histogram_stride = block_values + 1;
constexpr unsigned all_lanes = ~0U;

static_assert(segments == 16 && threads == 128, "a warp is two rows of segments");
static_assert(shade_columns + shade_columns / cell < shade_stride);

struct Shared {
  float shades[shade_rows * shade_stride];  ///< roots of grey levels
  float sums[cell * sum_stride];            ///< [row][sum][segment]
  float histograms[segments * histogram_stride];
};

// exp(-d * d / (2 * 4 * 4)), d from the middle of the block
__device__ constexpr float gaussian(int at) {
  constexpr float by_distance[] = {1.F,          0.969233215F, 0.882496893F, 0.754839599F, 0.606530666F,
                                   0.457833362F, 0.324652463F, 0.216265321F, 0.135335281F};
  return by_distance[at < 8 ? 8 - at : at - 8];
}

/// Of a column (or row) `at` of a block in the first or second column of cells.
__device__ constexpr float weight(int at, int second) {
  const float from_middle = (static_cast<float>(at) + 0.5F) / cell - 0.5F - static_cast<float>(second);
  const float linear = 1.F - (from_middle < 0 ? -from_middle : from_middle);
  return linear > 0 ? gaussian(at) * linear : 0.F;
}

__device__ int shade_index(int x) {
  return x + x / cell;
}

__device__ float root(const BlocksWork& work, LevelTap x, LevelTap y) {
  constexpr unsigned fraction = (1U << level_tap_bits) - 1;
  const auto pitch = static_cast<unsigned>(work.pitch);
  const std::uint8_t* pixel = work.image + ((y >> level_tap_bits) * pitch + (x >> level_tap_bits));
  const unsigned right = x & fraction, left = 256 - right;
  const unsigned low = y & fraction, high = 256 - low;
  const unsigned above = pixel[0] * left + pixel[1] * right;
  const unsigned below = pixel[pitch] * left + pixel[pitch + 1] * right;
  return sqrtf(static_cast<float>((above * high + below * low + (1U << 15)) >> 16));
}

/// The pixels of 8 rows from `y` on, and one more on each side: a column for each thread, and two more. If they are not
/// the `first` rows of the tile, the two above are there already.
__device__ void load_shades(const BlocksWork& work, const Level& level, unsigned x, unsigned y, bool first,
                            Shared& shared) {
  const auto x_tap = [&](unsigned column) { return work.taps[level.x_taps + min(x + column, level.width + 1)]; };
  const auto y_tap = [&](unsigned row) { return work.taps[level.y_taps + min(y + row, level.height + 1)]; };
  float* shades = shared.shades + shade_index(static_cast<int>(threadIdx.x));
  const LevelTap column = x_tap(threadIdx.x);
#pragma unroll
  for (int row = 0; row < 2; ++row)
    shades[row * shade_stride] =
        first ? root(work, column, y_tap(static_cast<unsigned>(row))) : shades[(row + cell) * shade_stride];
#pragma unroll
  for (int row = 2; row < shade_rows; ++row)
    shades[row * shade_stride] = root(work, column, y_tap(static_cast<unsigned>(row)));
  if (threadIdx.x < 2 * shade_rows) {
    const unsigned row = threadIdx.x / 2, more = threads + threadIdx.x % 2;
    shared.shades[row * shade_stride + static_cast<unsigned>(shade_index(static_cast<int>(more)))] =
        root(work, x_tap(more), y_tap(row));
  }
}

/// Where between the middles of bins a gradient points, from -0.5 to 8.5, whichever end is ahead. The polynomial is
/// that of cv::fastAtan2(), in bins.
__device__ float bin_place(float dx, float dy) {
  constexpr float turn = bins, quarter = turn / 2;
  constexpr float radian = 2.8647889756541161F;
  constexpr float p1 = 0.9997878412794807F * radian, p3 = -0.3258083974640975F * radian;
  constexpr float p5 = 0.1555786518463281F * radian, p7 = -0.04432655554792128F * radian;
  constexpr float nothing = 2.220446049250313e-16F;
  const float ax = fabsf(dx), ay = fabsf(dy);
  const float c = __fdividef(fminf(ax, ay), fmaxf(ax, ay) + nothing);
  const float cc = c * c;
  float angle = __fmaf_rn(__fmaf_rn(__fmaf_rn(cc, p7, p5), cc, p3), cc, p1) * c;
  angle = ax >= ay ? angle : quarter - angle;
  angle = (dx < 0) == (dy < 0) ? angle : turn - angle;
  return angle - 0.5F;
}

/// Not the root to the last bit, but without a branch for what is not in a picture.
__device__ float magnitude_of(float dx, float dy) {
  constexpr float nothing = 1e-30F;
  const float square = __fmaf_rn(dx, dx, dy * dy);
  return square * rsqrtf(square + nothing);
}

/// The share of a bin in what lies at a place. Bins go round: the first takes from beyond the last and vice versa.
__device__ float share(float place, int bin) {
  const float near = __saturatef(1.F - fabsf(place - static_cast<float>(bin)));
  if (bin == 0)
    return near + __saturatef(place - (bins - 1));
  if (bin == bins - 1)
    return near + __saturatef(-place);
  return near;
}

/// Histograms of a segment: as left half of a block, by columns of cells, and as right half.
struct Halves {
  float left[2][bins], right[2][bins];
};

__device__ void add_pixel(Halves& halves, int at, float magnitude, float place) {
#pragma unroll
  for (int bin = 0; bin < bins; ++bin) {
    const float part = magnitude * share(place, bin);
#pragma unroll
    for (int second = 0; second < 2; ++second) {
      if (weight(at, second) > 0)
        halves.left[second][bin] = __fmaf_rn(weight(at, second), part, halves.left[second][bin]);
      if (weight(at + cell, second) > 0)
        halves.right[second][bin] = __fmaf_rn(weight(at + cell, second), part, halves.right[second][bin]);
    }
  }
}

__device__ void sum_row(int row, int segment, Shared& shared) {
  Halves halves{};
  const float* shades = shared.shades + (row + 1) * shade_stride;
#pragma unroll
  for (int at = 0; at < cell; ++at) {
    const int x = cell * segment + at + 1;
    const float dx = shades[shade_index(x + 1)] - shades[shade_index(x - 1)];
    const float dy = shades[shade_index(x) + shade_stride] - shades[shade_index(x) - shade_stride];
    add_pixel(halves, at, magnitude_of(dx, dy), bin_place(dx, dy));
  }
#pragma unroll
  for (int second = 0; second < 2; ++second)
#pragma unroll
    for (int bin = 0; bin < bins; ++bin) {
      const float right = __shfl_sync(all_lanes, halves.right[second][bin], (segment + 1) % segments, segments);
      shared.sums[row * sum_stride + (second * bins + bin) * segments + segment] = halves.left[second][bin] + right;
    }
}

constexpr int items = sums * segments;
constexpr int rounds = (items + static_cast<int>(threads) - 1) / static_cast<int>(threads);

/// What the upper halves of a row of blocks have of the sums that are the thread's, by rows of cells.
struct Upper {
  float of[rounds][2];
};

/// Completes the row of blocks of which these rows are the lower half, and begins the one whose upper half they are.
__device__ void sum_columns(Upper& upper, Shared& shared) {
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int item = static_cast<int>(threadIdx.x) + k * static_cast<int>(threads);
    if (item >= items)
      break;
    const int segment = item % segments;
    const int column = item / segments / bins;
    const int bin = item / segments % bins;
    float begun[2] = {}, done[2] = {upper.of[k][0], upper.of[k][1]};
#pragma unroll
    for (int row = 0; row < cell; ++row) {
      const float value = shared.sums[row * sum_stride + item];
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        if (weight(row, second) > 0)
          begun[second] = __fmaf_rn(weight(row, second), value, begun[second]);
        if (weight(row + cell, second) > 0)
          done[second] = __fmaf_rn(weight(row + cell, second), value, done[second]);
      }
    }
    float* histogram = shared.histograms + segment * histogram_stride + column * sums + bin;
    histogram[0] = done[0];
    histogram[bins] = done[1];
    upper.of[k][0] = begun[0];
    upper.of[k][1] = begun[1];
  }
}

/// Over the four threads of a block, in OpenCV's order.
__device__ float sum_of_four(float value) {
  value += __shfl_xor_sync(all_lanes, value, 1);
  return value + __shfl_xor_sync(all_lanes, value, 2);
}

/// L2-Hys, by four threads for each block, and out.
__device__ void store_blocks(const Plane& plane, unsigned first_column, unsigned row, const Shared& shared,
                             float* values) {
  constexpr int each = block_values / 4;
  constexpr float max = 0.2F;
  const unsigned segment = threadIdx.x / 4, part = threadIdx.x % 4;
  if (segment >= segments)
    return;
  const float* histogram = shared.histograms + segment * histogram_stride + part;
  float value[each], square = 0;
#pragma unroll
  for (int k = 0; k < each; ++k) {
    value[k] = histogram[4 * k];
    square += value[k] * value[k];
  }
  const float scale = 1.F / (sqrtf(sum_of_four(square)) + block_values * 0.1F);
  square = 0;
#pragma unroll
  for (int k = 0; k < each; ++k) {
    value[k] = fminf(value[k] * scale, max);
    square += value[k] * value[k];
  }
  const float rescale = 1.F / (sqrtf(sum_of_four(square)) + 1e-3F);
  const unsigned column = first_column + segment;
  if (segment >= block_tile_columns || column >= plane.columns)
    return;
  const std::size_t layer = static_cast<std::size_t>(plane.rows) * plane.columns;
  float* to = values + plane.values + part * layer + static_cast<std::size_t>(row) * plane.columns + column;
#pragma unroll
  for (int k = 0; k < each; ++k)
    to[4 * k * layer] = value[k] * rescale;
}

__global__ void __launch_bounds__(threads) blocks_kernel(BlocksWork work) {
  __shared__ Shared shared;
  cuda::pdl_wait();
  const BlockTile tile = work.tiles[blockIdx.x];
  const Plane plane = work.planes[tile.plane];
  const Level level = work.levels[plane.level];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int segment = static_cast<int>(threadIdx.x) % segments;
  const int row = warp + static_cast<int>(threadIdx.x) / segments % 2 * (cell / 2);
  const unsigned first_column = tile.column * block_tile_columns;
  const unsigned first_row = tile.row * block_tile_rows;
  const unsigned end_row = min(first_row + block_tile_rows, plane.rows);
  Upper upper{};
  for (unsigned group = first_row; group <= end_row; ++group) {
    load_shades(work, level, plane.x + first_column * cell, plane.y + group * cell, group == first_row, shared);
    __syncthreads();
    sum_row(row, segment, shared);
    __syncthreads();
    sum_columns(upper, shared);
    __syncthreads();
    if (group > first_row)
      store_blocks(plane, first_column, group - 1, shared, work.values);
  }
}

}  // namespace

cudaError_t launch_blocks(const BlocksWork& work, cudaStream_t stream) {
  return cuda::launch_pdl(blocks_kernel, stream, {work.tile_count, 1, 1}, threads, work);
}

}  // namespace crowd::hog
