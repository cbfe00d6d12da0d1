// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What an element shares with its neighbours on the GPU: the CUDA context, memories in it, and the order of work. Only
// this, framestream.hpp and sharedcontext.hpp are built on gst/cuda, which is unstable API. In a build without gst/cuda
// there are no device memories, and every element uses the device's primary context.
//
// The order of work. From GStreamer 1.24 on a CUDA memory may name the stream that its contents are ordered on: that
// stream is used for everything that is done with the memory, so the host does not wait. These are blocking streams
// (CU_STREAM_DEFAULT), so an event of the context's legacy default stream comes after all that was launched on any of
// them: where frames on other streams take turns, cuda::wait_for_all() relies on that.
//
// Up to 1.22 memories name none, and pixels are complete when a frame is handed on: GStreamer's elements wait for that.
// The first of our elements that works on a frame gives its memory a stream, and so do boxes made beside it
// (framestream.hpp). The default stream follows what each element launches there, and CUDA orders that one with all of
// GStreamer's streams, which are blocking ones there, too, before and after. So a frame can be handed on without a
// wait, and our elements do not wait for those of other pipelines. An application that asks for the stream of a memory
// gets the default stream there, and from then on our elements use that one in its context.
#pragma once

#include <gst/crowd/gstcrowdboxesmeta.h>
#include <gst/gst.h>

#include <list>
#include <memory>
#include <string>

#include "base/deviceoutcome.hpp"
#include "base/memorypool.hpp"

struct _GstCudaContext;
struct CUstream_st;

namespace crowd {

/// GST_MAP_CUDA: pointers of a mapped device memory are device pointers, and nothing is copied.
inline constexpr auto map_on_device = static_cast<GstMapFlags>(GST_MAP_FLAG_LAST << 1);

constexpr GstMapFlags operator|(GstMapFlags a, GstMapFlags b) {
  return static_cast<GstMapFlags>(int(a) | int(b));
}

/// Whether it is CUDA memory that gst/cuda knows.
bool is_on_device(const GstMemory* memory);

/// Whether caps are of frames in CUDA memory.
bool is_on_device(const GstCaps* caps);

/// Pad templates of video in system memory, of these caps, and in a build that shares contexts also in CUDA memory.
void add_video_templates(GstElementClass* element_class, const char* system_caps);

/// The stream that orders work on a device memory; null is the legacy default stream.
CUstream_st* stream_of(GstMemory* memory);

/// The same for work of an application. Up to GStreamer 1.22 always null, and so is stream_of() for all memories of
/// this context from then on.
CUstream_st* stream_for_application(GstMemory* memory);

/// Tells contexts apart while a memory of theirs lives.
const void* context_of(GstMemory* memory);

/// Makes the context of a device memory current in this thread, until pop_context(). False if the driver refuses.
bool push_context_of(GstMemory* memory);
void pop_context();

/// Device memory with room for boxes, in the context of the device memory `beside` and ordered on the stream that it
/// names. NULL where there is no room. Waits for the device: to be kept and used again, see DeviceBoxesPool.
GstMemory* new_device_boxes(GstMemory* beside, const BoxesShape& shape);

/// A pool of new_device_boxes(). The memories are written again as soon as the pool alone holds them: in the order of
/// the stream, or else a reader on another stream makes that stream wait.
class DeviceBoxesPool {
 public:
  /// NULL where there is no room.
  MemoryRef acquire(const BoxesShape& shape, GstMemory* beside);
  void clear() {
    parts_.clear();
  }

 private:
  /// Memories that are ordered on one stream.
  struct Part {
    CUstream_st* stream;
    MemoryPool pool;
  };
  /// Streams that frames come on in turn, as behind a tee; of more the one that was used longest ago goes.
  static constexpr std::size_t max_parts = 4;

  MemoryPool& pool_of(CUstream_st* stream);
  GstMemory* make(const BoxesShape& shape) const;

  GstMemory* beside_ = nullptr;  // while acquire() runs
  const void* context_ = nullptr;
  std::list<Part> parts_;  // the last one used comes first
};

/// Boxes mapped while it lives, as device pointers if `flags` have map_on_device.
class MappedBoxes {
 public:
  MappedBoxes(GstMemory* memory, const BoxesShape& shape, GstMapFlags flags)
      : mapped_(gst_crowd_boxes_map_memory_with(&map_, memory, shape.capacity, shape.arrays, shape.feature_length,
                                                flags)) {}
  ~MappedBoxes() {
    if (mapped_)
      gst_crowd_boxes_unmap(&map_);
  }
  MappedBoxes(const MappedBoxes&) = delete;
  MappedBoxes& operator=(const MappedBoxes&) = delete;

  explicit operator bool() const {
    return mapped_;
  }
  const GstCrowdBoxesMap* operator->() const {
    return &map_;
  }
  const GstCrowdBoxesMap& operator*() const {
    return map_;
  }

 private:
  GstCrowdBoxesMap map_;
  bool mapped_;
};

/// The CUDA context that an element works in.
class CudaDevice {
 public:
  /// See gpu/parts.hpp.
  static std::unique_ptr<CudaDevice> make();

  CudaDevice() = default;
  virtual ~CudaDevice() = default;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  /// Gets a context from the neighbours, the application or, failing that, takes the primary one of `device_id` (-1:
  /// the first). Quiet: false with the reason and remedy in `problem`.
  virtual bool open(GstElement* element, int device_id, std::string& problem) = 0;
  virtual void close() = 0;

  /// For GstElementClass.set_context.
  virtual void set_context(GstElement* element, GstContext* context, int device_id) = 0;

  /// Answers a GST_QUERY_CONTEXT if it is for a CUDA context that we have.
  virtual bool answer(GstElement* element, GstQuery* query) = 0;

  /// Whether a device memory belongs to this context; none does before open() and follow().
  virtual bool owns(GstMemory* memory) const = 0;

  /// Goes over to the context of a device memory, if that is another one, as an element does whose neighbour works
  /// there. `release` is called before: it has to let go of what was allocated in the old context. Not done if the
  /// memory is on another device than `device_id`, unless that is -1.
  template <typename Release>
  DeviceReport follow(GstMemory* memory, int device_id, Release release) {
    if (owns(memory))
      return {};
    release();
    DeviceReport report;
    if (!adopt(memory, device_id, report.problem))
      report.outcome = DeviceOutcome::failed;
    return report;
  }

  enum class Pushed { yes, no_context, refused };

  /// Makes the context current in this thread while it lives. Every call that may touch CUDA goes under one. False if
  /// the driver refuses the context: CUDA would then work in another one. Null is a device of a build without gst/cuda,
  /// where CUDA works in the device's primary context.
  class Current {
   public:
    explicit Current(CudaDevice* device) : device_(device), pushed_(device ? device->push() : Pushed::no_context) {}
    ~Current() {
      if (pushed_ == Pushed::yes)
        device_->pop();
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    explicit operator bool() const {
      return pushed_ != Pushed::refused;
    }

   private:
    CudaDevice* device_;
    Pushed pushed_;
  };

 protected:
  virtual Pushed push() = 0;
  virtual void pop() = 0;

  /// The part of follow() that changes the context.
  virtual bool adopt(GstMemory* memory, int device_id, std::string& problem) = 0;
};

}  // namespace crowd
