// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "device_support.hpp"

#include <crowd/nms.h>
#include <gst/crowd/gstcrowdboxesmeta.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/mappedframe.hpp"
#include "gpu/givenstream.hpp"

namespace crowd::test {

namespace {

GstCudaAllocator* find_allocator() {
  gst_cuda_memory_init_once();
  GstAllocator* allocator = gst_allocator_find(GST_CUDA_MEMORY_TYPE_NAME);
  EXPECT_NE(allocator, nullptr);
  return GST_CUDA_ALLOCATOR_CAST(allocator);
}

}  // namespace

std::string missing_gpu() {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK)
    return crowd_nms_last_error();
  return gst_cuda_load_library() ? "" : "GStreamer cannot load the CUDA driver's library";
}

Gpu::Gpu(unsigned device) : Gpu(gst_cuda_context_new(device)) {}

std::unique_ptr<Gpu> Gpu::other_stream() const {
  return std::unique_ptr<Gpu>(new Gpu(static_cast<GstCudaContext*>(gst_object_ref(context_))));
}

Gpu::Gpu(GstCudaContext* context) : context_(context) {
  if (!context_)
    g_error("no CUDA context");
#if GST_CHECK_VERSION(1, 24, 0)
  stream_ = gst_cuda_stream_new(context_);
#endif
}

Gpu::~Gpu() {
#if GST_CHECK_VERSION(1, 24, 0)
  gst_clear_cuda_stream(&stream_);
#endif
  gst_object_unref(context_);
}

Gpu::Current::Current(const Gpu& gpu) {
  EXPECT_TRUE(gst_cuda_context_push(gpu.context_));
}

Gpu::Current::~Current() {
  gst_cuda_context_pop(nullptr);
}

GstContext* Gpu::new_gst_context() const {
  return gst_context_new_cuda_context(context_);
}

GstMemory* Gpu::allocate(const GstVideoInfo& info) const {
  GstCudaAllocator* allocator = find_allocator();
#if GST_CHECK_VERSION(1, 24, 0)
  GstMemory* memory = gst_cuda_allocator_alloc(allocator, context_, stream_, &info);
#else
  GstMemory* memory = gst_cuda_allocator_alloc(allocator, context_, &info);
#endif
  gst_object_unref(allocator);
  return memory;
}

Ref<GstMemory> Gpu::wrap([[maybe_unused]] void* device_pointer, [[maybe_unused]] std::size_t bytes) const {
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaAllocator* allocator = find_allocator();
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, static_cast<guint>((bytes + 3) / 4), 1);
  GstMemory* memory = gst_cuda_allocator_alloc_wrapped(
      allocator, context_, stream_, &info, static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(device_pointer)),
      nullptr, nullptr);
  gst_object_unref(allocator);
  return Ref<GstMemory>(memory);
#else
  return nullptr;
#endif
}

cudaStream_t given_stream([[maybe_unused]] GstBuffer* frame) {
#if CROWD_GIVES_STREAMS
  const GivenStream* given = given_stream_of(gst_buffer_peek_memory(frame, 0));
  return given ? given->stream : nullptr;
#else
  return nullptr;
#endif
}

Ref<GstBuffer> Gpu::frame(const GstVideoInfo& info, GstClockTime pts) const {
  GstMemory* memory = allocate(info);
  EXPECT_NE(memory, nullptr);
  if (!memory)
    return nullptr;
  Ref<GstBuffer> buffer(gst_buffer_new());
  GstVideoInfo placed = GST_CUDA_MEMORY_CAST(memory)->info;
  gst_buffer_append_memory(buffer.get(), memory);
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&placed),
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)), GST_VIDEO_INFO_N_PLANES(&placed),
                                 placed.offset, placed.stride);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 25;
  return buffer;
}

Ref<GstBuffer> Gpu::frame_like(GstBuffer* system, const GstVideoInfo& info) const {
  Ref<GstBuffer> buffer = frame(info, GST_BUFFER_PTS(system));
  if (!buffer)
    return buffer;
  {
    MappedFrame from(system, info, GST_MAP_READ), to(buffer.get(), info, GST_MAP_WRITE);
    if (!from || !to || !gst_video_frame_copy(&*to, &*from))
      ADD_FAILURE() << "the picture cannot be copied";
  }
  // Mapping is what sends it to the device.
  const MappedFrame sent(buffer.get(), info, int{GST_MAP_READ} | int{GST_MAP_CUDA});
  EXPECT_TRUE(sent);
  EXPECT_EQ(synchronise(), cudaSuccess);
  return buffer;
}

cudaError_t Gpu::synchronise() const {
  const Current current(*this);
  return cudaDeviceSynchronize();
}

std::size_t Gpu::free_bytes() const {
  const Current current(*this);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::size_t available = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  return available;
}

bool is_cuda_memory(GstMemory* memory) {
  return gst_is_cuda_memory(memory);
}

GstVideoInfo info_of(const char* format, unsigned width, unsigned height) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height));
  info.fps_n = 25;
  info.fps_d = 1;
  return info;
}

std::string caps_of(const GstVideoInfo& info, bool on_device) {
  return std::string("video/x-raw") + (on_device ? "(memory:CUDAMemory)" : "") +
         ",format=" + GST_VIDEO_INFO_NAME(&info) + ",width=" + std::to_string(GST_VIDEO_INFO_WIDTH(&info)) +
         ",height=" + std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + ",framerate=25/1";
}

// As a row of pixels of 4 bytes, which every version can put into device memory.
Ref<GstBuffer> upload(const Gpu& gpu, const void* data, std::size_t bytes) {
  const GstVideoInfo info = info_of("RGBA", static_cast<unsigned>((bytes + 3) / 4), 1);
  const Ref<GstBuffer> system(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(system.get(), 0, 0, GST_VIDEO_INFO_SIZE(&info));
  gst_buffer_fill(system.get(), 0, data, bytes);
  return gpu.frame_like(system.get(), info);
}

Ref<GstBuffer> noise(const GstVideoInfo& info, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(GST_VIDEO_INFO_SIZE(&info) / sizeof(std::uint64_t) + 1);
  for (std::uint64_t& word : words)
    word = random();
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_fill(buffer.get(), 0, words.data(), GST_VIDEO_INFO_SIZE(&info));
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                            static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                            static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)));
  GST_BUFFER_PTS(buffer.get()) = 0;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 25;
  return buffer;
}

testing::AssertionResult same_picture(GstBuffer* expected, GstBuffer* got, const GstVideoInfo& info) {
  const MappedFrame mapped_expected(expected, info, GST_MAP_READ), mapped_got(got, info, GST_MAP_READ);
  if (!mapped_expected || !mapped_got)
    return testing::AssertionFailure() << "a frame cannot be mapped";
  const GstVideoFrame *const e = &*mapped_expected, *const g = &*mapped_got;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(e); c++) {
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(e, c); y++) {
      const guint8* row = GST_VIDEO_FRAME_COMP_DATA(e, c) + y * GST_VIDEO_FRAME_COMP_STRIDE(e, c);
      const guint8* other = GST_VIDEO_FRAME_COMP_DATA(g, c) + y * GST_VIDEO_FRAME_COMP_STRIDE(g, c);
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(e, c); x++) {
        const int at = x * GST_VIDEO_FRAME_COMP_PSTRIDE(e, c);
        if (row[at] != other[at])
          return testing::AssertionFailure() << "component " << c << " at " << x << ',' << y << " is " << int{other[at]}
                                             << ", not " << int{row[at]};
      }
    }
  }
  return testing::AssertionSuccess();
}

Pipe::Pipe(const std::string& description, const Gpu* gpu)
    : bus_(gst_bus_new()), bin_(gst_parse_bin_from_description(description.c_str(), TRUE, nullptr)) {
  if (!bin_)
    g_error("not a launch line: %s", description.c_str());
  gst_object_ref_sink(bin_.get());
  gst_element_set_bus(bin_.get(), bus_.get());
  if (gpu) {
    GstContext* context = gpu->new_gst_context();
    gst_element_set_context(bin_.get(), context);
    gst_context_unref(context);
  }
  harness_.reset(gst_harness_new_with_element(bin_.get(), "sink", "src"));
}

Pipe::~Pipe() {
  harness_.reset();
  gst_element_set_bus(bin_.get(), nullptr);
}

void Pipe::set_caps(const GstVideoInfo& info, bool on_device) {
  gst_harness_set_src_caps_str(harness_.get(), caps_of(info, on_device).c_str());
}

void Pipe::ask_for_survivors_on_device() {
  ask_for("survivors-on-device");
}

void Pipe::ask_for_candidates_on_device() {
  ask_for("candidates-on-device");
}

void Pipe::ask_for(const char* field) {
  const Ref<GstStructure> params(gst_structure_new("GstCrowdBoxesMeta", field, G_TYPE_BOOLEAN, TRUE, nullptr));
  gst_harness_add_propose_allocation_meta(harness_.get(), GST_CROWD_BOXES_META_API_TYPE, params.get());
}

GstFlowReturn Pipe::push(Ref<GstBuffer> buffer) {
  return gst_harness_push(harness_.get(), buffer.release());
}

Ref<GstBuffer> Pipe::pull() {
  return Ref<GstBuffer>(gst_harness_try_pull(harness_.get()));
}

Ref<GstBuffer> Pipe::pass(Ref<GstBuffer> buffer) {
  EXPECT_EQ(push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = pull();
  EXPECT_NE(out, nullptr);
  return out;
}

bool Pipe::send(GstEvent* event) {
  return gst_harness_push_event(harness_.get(), event);
}

Ref<GstStructure> Pipe::stats(const char* element) const {
  const Ref<GstElement> found(gst_bin_get_by_name(GST_BIN(bin_.get()), element));
  GstStructure* structure = nullptr;
  g_object_get(found.get(), "stats", &structure, nullptr);
  return Ref<GstStructure>(structure);
}

std::uint64_t Pipe::stat(const char* element, const char* field) const {
  const Ref<GstStructure> all = stats(element);
  guint64 wide = 0;
  guint narrow = 0;
  if (gst_structure_get_uint64(all.get(), field, &wide))
    return wide;
  EXPECT_TRUE(gst_structure_get_uint(all.get(), field, &narrow)) << field;
  return narrow;
}

std::string expect_one_resource_error(GstBus* bus, int code) {
  const Ref<GstMessage> message = pop_message(bus, GST_MESSAGE_ERROR);
  EXPECT_NE(message, nullptr);
  if (!message)
    return "";
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  EXPECT_EQ(error->domain, GST_RESOURCE_ERROR) << error->message;
  EXPECT_EQ(error->code, code) << error->message;
  std::string text = error->message;
  g_error_free(error);
  while (const Ref<GstMessage> more = pop_message(bus, GST_MESSAGE_ERROR))
    ADD_FAILURE() << "one more error: " << message_text(more.get());
  return text;
}

}  // namespace crowd::test
