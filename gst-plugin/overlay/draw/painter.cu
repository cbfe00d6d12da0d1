// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A block places the texts. Then a block paints a tile of the frame. Its threads look at all boxes and list those that
// touch the tile, in painting order; a few warps then share the list, each paints its part of it, the parts are laid
// upon each other, and all threads write what is covered.

#include "gpu/cudareport.hpp"
#include "overlay/draw/painter_items.cuh"
#include "overlay/draw/painter_texts.cuh"

namespace crowd::draw {

namespace {

constexpr int warps = 8;
constexpr int threads = 32 * warps;
constexpr int strips = tile_words * tile_size / 2;
constexpr int strip_warps = strips / 32;
/// Parts of a list that are painted at the same time.
constexpr int shares = warps / strip_warps;
static_assert(tile_size / 2 == 32, "a lane for each pair of rows");

constexpr int outline_room = 1152;
constexpr int text_room = 288;
static_assert(outline_room >= OutlineSource::batch * threads && text_room >= TextSource::batch * threads);

template <int rest_rows>
struct Shared {
  union {
    OutlineItem outlines[outline_room];
    TextItem texts[text_room];
    unsigned planes[(shares - 1) * Strip<rest_rows>::planes * strips];
  };
  unsigned counts[2][warps];
  std::uint32_t palette[color_count];
};

/// What a thread knows of its block.
template <int rest_rows>
struct Block {
  const PaintJob& job;
  Shared<rest_rows>& shared;
  unsigned warp, lane;
  unsigned share;      ///< of lists
  unsigned strip;      ///< number of its strip
  StripPlace at;       ///< that
  unsigned round = 0;  ///< which of the counts is in use

  __device__ Block(const PaintJob& of, Shared<rest_rows>& memory)
      : job(of),
        shared(memory),
        warp(threadIdx.x / 32),
        lane(threadIdx.x % 32),
        share(warp / strip_warps),
        strip(threadIdx.x % strips),
        at{static_cast<int>(warp % strip_warps), 2 * static_cast<int>(lane)} {}

  __device__ OutlineItem* list(const OutlineSource&) {
    return shared.outlines;
  }
  __device__ TextItem* list(const TextSource&) {
    return shared.texts;
  }
};

__device__ constexpr unsigned room_of(const OutlineItem*) {
  return outline_room;
}
__device__ constexpr unsigned room_of(const TextItem*) {
  return text_room;
}

/// Lays the parts of the picture upon each other, into that of the threads of the first share.
template <int rest_rows>
__device__ void merge(Block<rest_rows>& block, Strip<rest_rows>& strip) {
  const auto planes_of = [&block](unsigned share) {
    return block.shared.planes + (share - 1) * Strip<rest_rows>::planes * strips + block.strip;
  };
  // The planes lie where the list is.
  __syncthreads();
  if (block.share > 0) {
    strip.store(planes_of(block.share), strips);
    strip.clear();
  }
  __syncthreads();
  if (block.share > 0)
    return;
  for (unsigned share = 1; share < shares; ++share) {
    Strip<rest_rows> later;
    later.load(planes_of(share), strips);
    strip.put(later);
  }
}

/// Paints the items that a source has listed. The threads of the first share keep the picture.
template <int rest_rows, typename Source>
__device__ void paint_list(Block<rest_rows>& block, const Source& source, unsigned size, Strip<rest_rows>& strip) {
  auto* const list = block.list(source);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < size; i += threads)
    source.make(list[i]);
  __syncthreads();
  const bool divided = size >= Source::divided_from;
  const unsigned first = divided ? block.share * size / shares : 0;
  const unsigned end = divided ? (block.share + 1) * size / shares : block.share == 0 ? size : 0;
  for (unsigned i = first; i < end; ++i)
    paint_item(block.job, list[i], block.at, strip);
  if (divided)
    merge(block, strip);
}

/// Lists what touches the tile among the places from `base` on, as many as all threads look at, behind the `size` items
/// that are listed. Returns how many items are listed now.
template <int rest_rows, typename Source>
__device__ unsigned list_round(Block<rest_rows>& block, const Source& source, std::uint32_t base, unsigned size) {
  auto* const list = block.list(source);
  const std::uint32_t mine = base + block.warp * Source::batch * 32 + block.lane;
  // All at once, since memory is far.
  decltype(source.load(0)) boxes[Source::batch];
#pragma unroll
  for (int k = 0; k < Source::batch; ++k)
    boxes[k] = source.load(mine + 32 * k);
  unsigned votes[Source::batch];
  unsigned found = 0;
#pragma unroll
  for (int k = 0; k < Source::batch; ++k) {
    votes[k] = __ballot_sync(~0U, source.touches(mine + 32 * k, boxes[k]));
    found += __popc(votes[k]);
  }
  unsigned* const counts = block.shared.counts[block.round++ % 2];
  if (block.lane == 0)
    counts[block.warp] = found;
  __syncthreads();
  unsigned at = size;
  for (unsigned warp = 0; warp < warps; ++warp) {
    at += warp < block.warp ? counts[warp] : 0;
    size += counts[warp];
  }
#pragma unroll
  for (int k = 0; k < Source::batch; ++k) {
    if (votes[k] >> block.lane & 1)
      list[at + __popc(votes[k] & low_bits(static_cast<int>(block.lane)))].place = mine + 32 * k;
    at += __popc(votes[k]);
  }
  return size;
}

/// Paints what a source has for the tile; false if that is nothing.
template <int rest_rows, typename Source>
__device__ bool paint_source(Block<rest_rows>& block, const Source& source, Strip<rest_rows>& strip) {
  constexpr std::uint32_t step = Source::batch * threads;
  const auto* const list = block.list(source);
  const std::uint32_t n = source.size();
  unsigned size = 0;
  bool any = false;
  for (std::uint32_t base = 0; base < n; base += step) {
    size = list_round(block, source, base, size);
    any |= size > 0;
    const bool last = n - base <= step;
    if (size > 0 && (last || size > room_of(list) - step)) {
      paint_list(block, source, size, strip);
      size = 0;
    }
  }
  return any;
}

/// Two by two pixels of the picture.
struct Quad {
  const unsigned* planes;  ///< of its strip
  int bit;

  __device__ bool covered(int row, int right) const {
    return planes[row * Row::planes * strips] >> (bit + right) & 1;
  }
  __device__ unsigned color(int row, int right) const {
    unsigned index = 0;
#pragma unroll
    for (int k = 0; k < color_bits; ++k)
      index |= (planes[(row * Row::planes + 1 + k) * strips] >> (bit + right) & 1) << k;
    return index;
  }
};

/// Writes a sample of some components.
__device__ inline void write_sample(const PaintJob& job, int first, int end, int x, int y, unsigned paint) {
#pragma unroll
  for (int c = 0; c < 4; ++c)
    if (c >= first && c < end)
      job.component[c].data[y * job.component[c].stride + x * job.component[c].advance] =
          static_cast<std::uint8_t>(paint >> 8 * c);
}

__device__ inline void write_pixel(const PaintJob& job, int x, int y, unsigned paint) {
  if (job.whole_words)
    *reinterpret_cast<unsigned*>(job.component[0].data + y * job.component[0].stride + 4 * x) = paint;
  else
    write_sample(job, 0, job.full_components, x, y, paint);
}

template <int rest_rows>
__device__ void write_quad(const PaintJob& job, const std::uint32_t* palette, const Quad& quad, int x, int y) {
  for (int row = 0; row < 2; ++row)
    for (int right = 0; right < 2; ++right)
      if (quad.covered(row, right))
        write_pixel(job, x + right, y + row, palette[quad.color(row, right)]);
  for (int row = 0; row < rest_rows; ++row)
    for (int right = 0; right < (job.rest_pairs ? 1 : 2); ++right)
      if (quad.covered(2 + row, right))
        write_sample(job, job.full_components, job.components, job.rest_pairs ? x / 2 : x + right,
                     rest_rows == 1 ? y / 2 : y + row, palette[quad.color(2 + row, right)]);
}

/// Writes the picture that the threads of the first share have.
template <int rest_rows>
__device__ void write_tile(Block<rest_rows>& block, const Strip<rest_rows>& strip) {
  __syncthreads();
  if (block.share == 0)
    strip.store(block.shared.planes + block.strip, strips);
  if (threadIdx.x < color_count)
    block.shared.palette[threadIdx.x] = block.job.palette[threadIdx.x];
  __syncthreads();
  constexpr int side = tile_size / 2;
  for (int quad = static_cast<int>(threadIdx.x); quad < side * side; quad += threads) {
    const int x = 2 * (quad % side), y = 2 * (quad / side);
    const unsigned* const planes = block.shared.planes + x / 32 * side + y / 2;
    write_quad<rest_rows>(block.job, block.shared.palette, {planes, x % 32},
                          static_cast<int>(blockIdx.x) * tile_size + x, static_cast<int>(blockIdx.y) * tile_size + y);
  }
}

__global__ void __launch_bounds__(max_labels) place_all(PaintJob job) {
  __shared__ PlacingMemory memory;
  place_texts(job, memory);
}

template <int rest_rows>
__global__ void __launch_bounds__(threads, rest_rows == 2 ? 3 : 4) paint_tiles(PaintJob job) {
  __shared__ Shared<rest_rows> shared;
  Block<rest_rows> block(job, shared);
  Strip<rest_rows> strip;
  strip.clear();
  const PixelBox tile = tile_of(job);
  const std::uint32_t survivors = size_of(job.survivors.boxes);
  const bool outlines = paint_source(block, OutlineSource{job, tile, size_of(job.candidates.boxes), survivors}, strip);
  const bool texts = paint_source(block, TextSource{job, tile, labels_of(job)}, strip);
  if (outlines || texts)
    write_tile(block, strip);
}

}  // namespace

void FreePainterMemory::operator()(std::byte* memory) const {
  (void)cudaFree(memory);
}

PainterMemory allocate(std::size_t size, DeviceReport& report) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, size);
  if (error == cudaSuccess)
    return PainterMemory(static_cast<std::byte*>(memory));
  report = report_of("allocating memory for labels", error);
  return nullptr;
}

PainterMemory upload(const void* bytes, std::size_t size, DeviceReport& report) {
  PainterMemory memory = allocate(size, report);
  if (!memory)
    return nullptr;
  cudaError_t error = cudaMemcpyAsync(memory.get(), bytes, size, cudaMemcpyHostToDevice, nullptr);
  // Streams that do not wait for this one have to find it, too.
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(nullptr);
  if (error == cudaSuccess)
    return memory;
  report = report_of("uploading labels", error);
  return nullptr;
}

namespace {

cudaError_t launch_placing(const PaintJob& job, CUstream_st* stream) {
  constexpr unsigned warp = 32;
  const unsigned labels = job.survivors.boxes.count ? min(job.survivors.boxes.capacity, unsigned{max_labels}) : 0;
  cudaLaunchConfig_t config{};
  config.gridDim = {1, 1, 1};
  config.blockDim = {max((labels + warp - 1) / warp, 1U) * warp, 1, 1};
  config.stream = stream;
  return cudaLaunchKernelEx(&config, place_all, job);
}

cudaError_t launch_painting(const PaintJob& job, CUstream_st* stream) {
  const auto tiles = [](int pixels) { return static_cast<unsigned>((pixels + tile_size - 1) / tile_size); };
  cudaLaunchConfig_t config{};
  config.gridDim = {tiles(job.width), tiles(job.height), 1};
  config.blockDim = {threads, 1, 1};
  config.stream = stream;
  const auto kernel = job.rest_rows == 0 ? paint_tiles<0> : job.rest_rows == 1 ? paint_tiles<1> : paint_tiles<2>;
  return cudaLaunchKernelEx(&config, kernel, job);
}

}  // namespace

DeviceReport launch_painter(const PaintJob& job, CUstream_st* stream) {
  cudaError_t error = job.texts ? launch_placing(job, stream) : cudaSuccess;
  if (error == cudaSuccess)
    error = launch_painting(job, stream);
  return error == cudaSuccess ? DeviceReport() : report_of("painting", error);
}

}  // namespace crowd::draw
