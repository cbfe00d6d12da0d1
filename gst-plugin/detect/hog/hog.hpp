// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * hog.hpp: OpenCV's people detector on the GPU, from a frame in device memory to candidates in device memory.
 *
 * DeviceFinder finds what make_people_finder() (windows.hpp) finds: the same windows in the same order, with
 * coordinates equal to the bit. Scores differ by rounding, some 1e-6, so that a window whose score is that close to the
 * threshold may be in one list and not in the other. The same frame always gives the same bytes.
 *
 * A finder is used from one thread at a time, with one CUDA context current: that in which its memory is. Frames of one
 * finder go through one stream, or are ordered by the caller: they share its memory.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/deviceoutcome.hpp"
#include "detect/search.hpp"

struct CUstream_st;

namespace crowd::hog {

struct SearchPlan;

/// A frame in device memory: a plane of 8-bit luma, or packed pixels with a byte for each of red, green and blue.
struct DeviceImage {
  const std::uint8_t* data;
  std::ptrdiff_t stride;  ///< bytes from row to row
  int width, height;
  int pixel_bytes = 1;               ///< from pixel to pixel; 1 or 2: luma is the byte at `data`
  int red = 0, green = 0, blue = 0;  ///< where they are in a pixel of 3 or 4 bytes
};

/// Where candidates go: the arrays of a GstCrowdBoxesMeta in device memory.
struct DeviceWindows {
  std::uint32_t* count;  ///< windows at or above the threshold; above `capacity`, the best-scored ones are kept
  float* boxes;          ///< x1 y1 x2 y2, 16-byte aligned
  float* scores;
  std::int32_t* classes;  ///< 0 each
  std::uint32_t capacity;
};

class DeviceFinder {
 public:
  /// `detector`: HOGDescriptor::getDefaultPeopleDetector(), 3781 coefficients.
  explicit DeviceFinder(std::vector<float> detector);
  ~DeviceFinder();  ///< release()
  DeviceFinder(const DeviceFinder&) = delete;
  DeviceFinder& operator=(const DeviceFinder&) = delete;

  /// Has to be called before frames of another size, or of another search, are enqueued. Allocates, and waits for the
  /// device, if more has changed than hit_threshold and body; otherwise takes next to no time, as does what it refused
  /// last. What is not done says what would help, and nothing can be enqueued then.
  DeviceReport prepare(int width, int height, const Search& search);

  /// Searches the frame, which has to be of the size prepared, in stream order. Waits for nothing. All but the first
  /// are launched as one CUDA graph each, if they can be: recorded where the memories, hit_threshold or body are new,
  /// which costs more than launching, and kept for when they come back, as they do where memories are from pools.
  DeviceReport enqueue(const DeviceImage& image, const DeviceWindows& windows, CUstream_st* stream);

  /// Frees the device memory, which waits for what is done with it. The context has to be current.
  void release();

  std::size_t device_bytes() const;    ///< allocated
  std::uint32_t window_count() const;  ///< scored in each frame
  static unsigned launches();          ///< kernels for each frame

 private:
  struct Prepared;
  struct Refused;
  struct Task;
  DeviceReport prepare(const Task& task, const SearchPlan& plan);
  std::vector<float> detector_;
  std::unique_ptr<Prepared> prepared_;
  std::unique_ptr<Refused> refused_;  // the last that no plan can be made for
};

}  // namespace crowd::hog
