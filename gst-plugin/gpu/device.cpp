// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gpu/device.hpp"

#include <crowd/nms.h>
#include <gst/video/video.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "gpu/parts.hpp"

#if CROWD_HAVE_GST_CUDA
#include "gpu/givenstream.hpp"
#include "gpu/gstcuda.hpp"
#include "gpu/sharedcontext.hpp"
#endif

namespace crowd {

bool is_on_device(const GstCaps* caps) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  return features && gst_caps_features_contains(features, "memory:CUDAMemory");
}

void add_video_templates(GstElementClass* element_class, const char* system_caps) {
  GstCaps* caps = gst_caps_from_string(system_caps);
  if (built_with_gst_cuda)
    gst_caps_append(caps,
                    gst_caps_from_string(GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:CUDAMemory", "{ NV12, RGBA }")));
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

#if CROWD_HAVE_GST_CUDA

static_assert(static_cast<int>(map_on_device) == static_cast<int>(GST_MAP_CUDA));

namespace {

guint device_of(GstCudaContext* context) {
  guint device = 0;
  g_object_get(context, "cuda-device-id", &device, nullptr);
  return device;
}

// The one shape of frame that every version allocates without asking what a box is: a row of 4-byte pixels.
bool describe_bytes(GstVideoInfo& info, gsize bytes) {
  const gsize pixels = (bytes + 3) / 4;
  return pixels <= G_MAXINT / 4 &&
         gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, static_cast<guint>(pixels), 1);
}

}  // namespace

bool is_on_device(const GstMemory* memory) {
  return memory && gst_is_cuda_memory(const_cast<GstMemory*>(memory));
}

#if CROWD_GIVES_STREAMS

CUstream_st* stream_of(GstMemory* memory) {
  const GivenStream* given = given_stream_of(memory);
  return given && !keeps_to_default_stream(memory) ? given->stream : nullptr;
}

CUstream_st* stream_for_application(GstMemory* memory) {
  keep_to_default_stream(memory);
  return nullptr;
}

#else

CUstream_st* stream_of(GstMemory* memory) {
  GstCudaStream* stream = gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory));
  return stream ? gst_cuda_stream_get_handle(stream) : nullptr;
}

CUstream_st* stream_for_application(GstMemory* memory) {
  return stream_of(memory);
}

#endif

const void* context_of(GstMemory* memory) {
  return GST_CUDA_MEMORY_CAST(memory)->context;
}

bool push_context_of(GstMemory* memory) {
  return gst_cuda_context_push(GST_CUDA_MEMORY_CAST(memory)->context);
}

void pop_context() {
  gst_cuda_context_pop(nullptr);
}

GstMemory* new_device_boxes(GstMemory* beside, const BoxesShape& shape) {
  GstCrowdBoxesLayout layout;
  GstVideoInfo info;
  if (!gst_crowd_boxes_layout_init_with(&layout, shape.capacity, shape.arrays, shape.feature_length) ||
      !describe_bytes(info, layout.size))
    return nullptr;
  GstAllocator* allocator = gst_allocator_find(GST_CUDA_MEMORY_TYPE_NAME);
  if (!allocator)
    return nullptr;
  GstCudaMemory* neighbour = GST_CUDA_MEMORY_CAST(beside);
#if GST_CHECK_VERSION(1, 24, 0)
  GstMemory* memory = gst_cuda_allocator_alloc(GST_CUDA_ALLOCATOR_CAST(allocator), neighbour->context,
                                               gst_cuda_memory_get_stream(neighbour), &info);
#else
  GstMemory* memory = gst_cuda_allocator_alloc(GST_CUDA_ALLOCATOR_CAST(allocator), neighbour->context, &info);
#endif
  gst_object_unref(allocator);
  return memory;
}

GstMemory* DeviceBoxesPool::make(const BoxesShape& shape) const {
  GstMemory* memory = new_device_boxes(beside_, shape);
#if CROWD_GIVES_STREAMS
  if (GivenStream* given = given_stream_of(beside_); given && memory)
    share_given_stream(memory, given);
#endif
  return memory;
}

MemoryPool& DeviceBoxesPool::pool_of(CUstream_st* stream) {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [stream](const Part& part) { return part.stream == stream; });
  if (found != parts_.end()) {
    parts_.splice(parts_.begin(), parts_, found);
  } else {
    parts_.push_front({stream, MemoryPool([this](const BoxesShape& shape) { return make(shape); })});
    if (parts_.size() > max_parts)
      parts_.pop_back();
  }
  return parts_.front().pool;
}

MemoryRef DeviceBoxesPool::acquire(const BoxesShape& shape, GstMemory* beside) {
  if (std::exchange(context_, context_of(beside)) != context_of(beside))
    parts_.clear();
  beside_ = beside;
  MemoryRef memory = pool_of(stream_of(beside)).acquire(shape);
  beside_ = nullptr;
  return memory;
}

namespace {

class SharedDevice final : public CudaDevice {
 public:
  ~SharedDevice() override {
    SharedDevice::close();
  }

  bool open(GstElement* element, int device_id, std::string& problem) override;
  void close() override;
  void set_context(GstElement* element, GstContext* context, int device_id) override;
  bool answer(GstElement* element, GstQuery* query) override;
  bool owns(GstMemory* memory) const override {
    return context_ == context_of(memory);
  }

 protected:
  Pushed push() override {
    if (!context_)
      return Pushed::no_context;
    return gst_cuda_context_push(context_) ? Pushed::yes : Pushed::refused;
  }
  void pop() override {
    gst_cuda_context_pop(nullptr);
  }
  bool adopt(GstMemory* memory, int device_id, std::string& problem) override;

 private:
  bool has_context() {
    const std::lock_guard lock(mutex_);
    return context_ != nullptr;
  }

  std::mutex mutex_;
  GstCudaContext* context_ = nullptr;
};

bool SharedDevice::open(GstElement* element, int device_id, std::string& problem) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK) {
    problem = crowd_nms_last_error();
    return false;
  }
  if (!gst_cuda_load_library()) {
    problem = "GStreamer cannot load the CUDA driver's library (libcuda)";
    return false;
  }
  gst_cuda_memory_init_once();
  // These call back into set_context(), hence without the lock.
  if (has_context() || (ask_neighbours(element) && has_context()) ||
      (ask_application(element, device_id) && has_context()))
    return true;
  problem = "no CUDA context on device " + std::to_string(device_id) + ": is there such a device?";
  return false;
}

void SharedDevice::set_context(GstElement* element, GstContext* context, int device_id) {
  const std::lock_guard lock(mutex_);
  gst_cuda_handle_set_context(element, context, device_id, &context_);
}

bool SharedDevice::answer(GstElement* element, GstQuery* query) {
  const std::lock_guard lock(mutex_);
  return context_ && gst_cuda_handle_context_query(element, query, context_);
}

bool SharedDevice::adopt(GstMemory* memory, int device_id, std::string& problem) {
  GstCudaContext* context = GST_CUDA_MEMORY_CAST(memory)->context;
  const guint device = device_of(context);
  if (device_id >= 0 && device != static_cast<guint>(device_id)) {
    problem = "it is on CUDA device " + std::to_string(device) + ", but cuda-device-id is " +
              std::to_string(device_id) + ": set cuda-device-id=-1, or that of the elements before";
    return false;
  }
  const std::lock_guard lock(mutex_);
  gst_object_replace(reinterpret_cast<GstObject**>(&context_), GST_OBJECT_CAST(context));
  return true;
}

void SharedDevice::close() {
  const std::lock_guard lock(mutex_);
  if (context_)
    gst_object_unref(context_);
  context_ = nullptr;
}

}  // namespace

std::unique_ptr<CudaDevice> CudaDevice::make() {
  return std::make_unique<SharedDevice>();
}

#else

bool is_on_device(const GstMemory*) {
  return false;
}

#endif

}  // namespace crowd
