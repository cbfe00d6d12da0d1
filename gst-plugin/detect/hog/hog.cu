// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The finder: one piece of device memory for each search, and the stages one after another.

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <tuple>
#include <utility>

#include "detect/hog/hog.hpp"
#include "detect/hog/hog_kernels.cuh"
#include "detect/hog/hog_levels.hpp"
#include "gpu/cudamemory.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/launchgraphs.hpp"
#include "gpu/memorylayout.hpp"

namespace crowd::hog {

/// What the frames of a search share.
struct Works {
  ZoomWork zoom{};
  BlocksWork blocks{};
  ScoresWork scores{};
  WindowsWork windows{};
};

namespace {

constexpr std::size_t alignment = 256;
constexpr char uploading[] = "uploading the tables of the people detector";

DeviceReport report_of_no_room(std::size_t bytes, cudaError_t error) {
  if (error != cudaErrorMemoryAllocation)
    return report_of("allocating for the people detector", error);
  const std::string what =
      "the people detector needs " + std::to_string((bytes >> 20) + 1) +
      " MiB for a frame of this size, less with a greater min-size or scale-factor or a win-stride "
      "that is a multiple of 8";
  return report_of(what.c_str(), error);
}

DeviceReport refused(std::string why) {
  return {DeviceOutcome::dropped, std::move(why)};
}

/// Tables on the host, with the places that they will have on the device.
struct Upload {
  const void* from;
  void* to;
  std::size_t bytes;
};

template <typename T>
const T* take_table(MemoryLayout& layout, const std::vector<T>& table, std::vector<Upload>& uploads) {
  T* const to = layout.place<T>(table.size());
  uploads.push_back({table.data(), to, table.size() * sizeof(T)});
  return to;
}

/// As the kernel reads them: OpenCV's detector goes down the columns of a window.
std::vector<float4> reordered(const std::vector<float>& detector) {
  std::vector<float4> ordered;
  for (int value = 0; value < block_values; ++value)
    for (int row = 0; row < window_rows; ++row) {
      float of[8] = {};
      for (int column = 0; column < window_columns; ++column)
        of[column] = detector[static_cast<std::size_t>((column * window_rows + row) * block_values + value)];
      ordered.push_back({of[0], of[1], of[2], of[3]});
      ordered.push_back({of[4], of[5], of[6], of[7]});
    }
  return ordered;
}

Works take_works(MemoryLayout& layout, const SearchPlan& plan, const std::vector<float4>& coefficients,
                 std::vector<Upload>& uploads) {
  Works works;
  works.zoom.zoom = plan.zoom;
  works.zoom.x = take_table(layout, plan.zoom_x, uploads);
  works.zoom.y = take_table(layout, plan.zoom_y, uploads);
  works.zoom.weights = take_table(layout, plan.zoom_weights, uploads);
  // Taps at the edges name a pixel beyond it, without weight.
  const auto image_rows = static_cast<std::size_t>(plan.zoom.height) + 1;
  works.zoom.image = layout.place<std::uint8_t>(image_rows * static_cast<std::size_t>(plan.zoom.pitch));
  works.blocks = {take_table(layout, plan.levels, uploads),
                  take_table(layout, plan.planes, uploads),
                  take_table(layout, plan.block_tiles, uploads),
                  static_cast<std::uint32_t>(plan.block_tiles.size()),
                  take_table(layout, plan.level_taps, uploads),
                  works.zoom.image,
                  plan.zoom.pitch,
                  layout.place<float>(plan.values)};
  works.scores.levels = works.blocks.levels;
  works.scores.planes = works.blocks.planes;
  works.scores.tiles = take_table(layout, plan.score_tiles, uploads);
  works.scores.tile_count = static_cast<std::uint32_t>(plan.score_tiles.size());
  works.scores.coefficients = take_table(layout, coefficients, uploads);
  works.scores.values = works.blocks.values;
  works.scores.scores = layout.place<float>(plan.windows);
  WindowsWork& windows = works.windows;
  windows.levels = works.blocks.levels;
  windows.level_count = static_cast<std::uint32_t>(plan.levels.size());
  windows.ranges = take_table(layout, plan.ranges, uploads);
  windows.scores = works.scores.scores;
  windows.windows = plan.windows;
  windows.chunk = std::max(min_chunk, (plan.windows + max_chunks - 1) / max_chunks);
  windows.chunks = (plan.windows + windows.chunk - 1) / windows.chunk;
  windows.found = layout.place<std::uint32_t>(max_chunks);
  windows.hits = layout.place<std::uint32_t>(plan.windows);
  return works;
}

cudaError_t upload_all(const std::vector<Upload>& uploads) {
  for (const Upload& upload : uploads) {
    if (upload.bytes == 0)
      continue;
    if (const cudaError_t error = cudaMemcpy(upload.to, upload.from, upload.bytes, cudaMemcpyHostToDevice);
        error != cudaSuccess)
      return error;
  }
  // Such a copy may return while it is still under way, and the frames' stream need not wait for it.
  return cudaStreamSynchronize(nullptr);
}

bool same_tables(const Search& a, const Search& b) {
  return a.scale_factor == b.scale_factor && a.win_stride == b.win_stride && a.padding == b.padding &&
         a.min_size == b.min_size && a.max_size == b.max_size;
}

/// The smallest float that is not below: scores are floats here.
float as_float(double threshold) {
  const auto nearest = static_cast<float>(threshold);
  return static_cast<double>(nearest) < threshold ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                                  : nearest;
}

}  // namespace

/// What tables are made for.
struct DeviceFinder::Task {
  int width, height;
  Search search;

  bool operator==(const Task& other) const {
    return width == other.width && height == other.height && same_tables(search, other.search);
  }
};

/// The other parameters of the kernels of a frame.
struct FrameKey {
  DeviceImage image;
  DeviceWindows out;
  float threshold;
  bool body;

  bool operator==(const FrameKey& other) const {
    // What is added to any of these does not compile until it is compared here.
    const auto all = [](const FrameKey& key) {
      const auto& [image, out, threshold, body] = key;
      const auto& [data, stride, width, height, pixel_bytes, red, green, blue] = image;
      const auto& [count, boxes, scores, classes, capacity] = out;
      return std::tuple(data, stride, width, height, pixel_bytes, red, green, blue, count, boxes, scores, classes,
                        capacity, threshold, body);
    };
    return all(*this) == all(other);
  }
};

namespace {

cudaError_t launch_stages(Works works, const FrameKey& key, cudaStream_t stream) {
  works.zoom.frame = key.image;
  works.windows.threshold = key.threshold;
  works.windows.body = key.body;
  works.windows.out = key.out;
  cudaError_t error = cudaSuccess;
  if (works.windows.windows) {
    error = launch_zoom(works.zoom, stream);
    if (error == cudaSuccess)
      error = launch_blocks(works.blocks, stream);
    if (error == cudaSuccess)
      error = launch_scores(works.scores, stream);
  }
  return error == cudaSuccess ? launch_windows(works.windows, stream) : error;
}

}  // namespace

struct DeviceFinder::Prepared {
  Task task;
  cuda::DeviceMemory memory;
  std::size_t bytes;
  Works works;
  LaunchGraphs<FrameKey> graphs;
};

struct DeviceFinder::Refused {
  Task task;
  std::string why;
};

DeviceFinder::DeviceFinder(std::vector<float> detector) : detector_(std::move(detector)) {}

DeviceFinder::~DeviceFinder() {
  release();
}

DeviceReport DeviceFinder::prepare(int width, int height, const Search& search) {
  const Task task = {width, height, search};
  if (prepared_ && prepared_->task == task) {
    prepared_->task = task;
    return {};
  }
  release();
  if (refused_ && refused_->task == task)
    return refused(refused_->why);
  if (detector_.size() != detector_size + 1)
    return refused("the people detector takes " + std::to_string(detector_size + 1) + " coefficients");
  try {
    SearchPlan plan;
    const std::string failure = make_plan(width, height, search, plan);
    if (failure.empty())
      return prepare(task, plan);
    refused_.reset(new Refused{task, failure});
    return refused(failure);
  } catch (const std::bad_alloc&) {
    return refused("no memory left for the tables of the people detector: raise min-size or win-stride");
  }
}

DeviceReport DeviceFinder::prepare(const Task& task, const SearchPlan& plan) {
  const std::vector<float4> coefficients = reordered(detector_);
  std::vector<Upload> uploads;
  MemoryLayout sizes(nullptr, alignment);
  take_works(sizes, plan, coefficients, uploads);
  cuda::DeviceMemory memory;
  if (const cudaError_t error = cuda::allocate(memory, sizes.bytes()); error != cudaSuccess)
    return report_of_no_room(sizes.bytes(), error);
  // Taps without weight read what nothing was written to.
  if (const cudaError_t error = cudaMemsetAsync(memory.get(), 0, sizes.bytes(), nullptr); error != cudaSuccess)
    return report_of(uploading, error);
  uploads.clear();
  MemoryLayout layout(memory.get(), alignment);
  Works works = take_works(layout, plan, coefficients, uploads);
  works.scores.bias = detector_[detector_size];
  works.scores.win_stride = static_cast<std::uint32_t>(task.search.win_stride);
  if (const cudaError_t error = upload_all(uploads); error != cudaSuccess)
    return report_of(uploading, error);
  prepared_.reset(new Prepared{task, std::move(memory), sizes.bytes(), works, {}});
  return {};
}

DeviceReport DeviceFinder::enqueue(const DeviceImage& image, const DeviceWindows& windows, CUstream_st* stream) {
  if (!prepared_ || image.width != prepared_->task.width || image.height != prepared_->task.height)
    return refused("the people detector was not prepared for a frame of this size");
  const Search& search = prepared_->task.search;
  const FrameKey key = {image, windows, as_float(search.hit_threshold), search.body};
  cudaError_t error = cudaSuccess;
  const auto launch_all = [&](cudaStream_t to) {
    error = launch_stages(prepared_->works, key, to);
    return error == cudaSuccess;
  };
  const cudaError_t launched = prepared_->graphs.launch(key, stream, launch_all);
  if (launched != cudaSuccess)
    error = launched;
  return error == cudaSuccess ? DeviceReport() : report_of("searching for people", error);
}

void DeviceFinder::release() {
  prepared_.reset();
}

std::size_t DeviceFinder::device_bytes() const {
  return prepared_ ? prepared_->bytes : 0;
}

std::uint32_t DeviceFinder::window_count() const {
  return prepared_ ? prepared_->works.windows.windows : 0;
}

unsigned DeviceFinder::launches() {
  return 3 + windows_launches;
}

}  // namespace crowd::hog
