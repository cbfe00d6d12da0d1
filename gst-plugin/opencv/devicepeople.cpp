// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "devicepeople.hpp"

#include <opencv2/objdetect.hpp>
#include <utility>

#include "device.hpp"
#include "hog.hpp"

namespace crowd {

namespace {

hog::DeviceImage image_of(const GstVideoFrame& frame) {
  hog::DeviceImage image{};
  image.data = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  image.stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  image.width = GST_VIDEO_FRAME_WIDTH(&frame);
  image.height = GST_VIDEO_FRAME_HEIGHT(&frame);
  image.pixel_bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
  if (GST_VIDEO_INFO_IS_RGB(&frame.info)) {
    image.red = static_cast<int>(GST_VIDEO_FRAME_COMP_POFFSET(&frame, GST_VIDEO_COMP_R));
    image.green = static_cast<int>(GST_VIDEO_FRAME_COMP_POFFSET(&frame, GST_VIDEO_COMP_G));
    image.blue = static_cast<int>(GST_VIDEO_FRAME_COMP_POFFSET(&frame, GST_VIDEO_COMP_B));
  }
  return image;
}

}  // namespace

struct DevicePeople::State {
  CudaDevice device;
  hog::DeviceFinder finder{cv::HOGDescriptor::getDefaultPeopleDetector()};
  DeviceBoxesPool pool;
  CUstream_st* stream = nullptr;  // of the last frame
  std::string problem;

  ~State() {
    release();
  }

  void release() {
    const CudaDevice::Current current(device);
    finder.release();
    pool.clear();
    stream = nullptr;
  }

  bool follow_context(GstMemory* memory) {
    if (device.owns(memory))
      return true;
    release();
    return device.adopt(memory, -1, problem);
  }

  Outcome say(Outcome outcome, std::string why) {
    problem = std::move(why);
    return outcome;
  }

  Outcome search(const GstVideoFrame& frame, const Search& settings, GstMemory* boxes, guint capacity) {
    const auto outcome_of = [this](std::string why) {
      return why.empty() ? Outcome::found
                         : say(finder.cuda_failed() ? Outcome::failed : Outcome::dropped, std::move(why));
    };
    if (const Outcome prepared =
            outcome_of(finder.prepare(GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame), settings));
        prepared != Outcome::found)
      return prepared;
    const MappedBoxes map(boxes, capacity, GST_MAP_WRITE | map_on_device);
    if (!map)
      return say(Outcome::failed, "the memory of candidates cannot be mapped");
    const hog::DeviceWindows windows = {map->count, &map->boxes->x1, map->scores, map->classes, capacity};
    return outcome_of(finder.enqueue(image_of(frame), windows, stream_of(boxes)));
  }
};

bool DevicePeople::is_available() {
  return true;
}

DevicePeople::DevicePeople() : state_(std::make_unique<State>()) {}

DevicePeople::~DevicePeople() = default;

DevicePeople::Outcome DevicePeople::find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search,
                                         guint capacity, MemoryRef& candidates) {
  State& s = *state_;
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return s.say(Outcome::dropped, "the frame is not in the CUDA memory that its caps promise");
  if (!s.follow_context(memory))
    return Outcome::failed;
  const CudaDevice::Current current(s.device);
  if (!current)
    return s.say(Outcome::failed, "the CUDA context cannot be made current");
  // Searches share the finder's memory. Freeing it waits for what is done with it on the last stream.
  if (CUstream_st* stream = stream_of(memory); stream != std::exchange(s.stream, stream))
    s.finder.release();
  MemoryRef boxes = s.pool.acquire(capacity, memory);
  if (!boxes)
    return s.say(Outcome::failed, "no device memory for candidates: lower max-candidates");
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ | map_on_device))
    return s.say(Outcome::dropped, "the frame cannot be mapped");
  const Outcome outcome = s.search(frame, search, boxes.get(), capacity);
  gst_video_frame_unmap(&frame);
  if (outcome == Outcome::found)
    candidates = std::move(boxes);
  return outcome;
}

const std::string& DevicePeople::problem() const {
  return state_->problem;
}

}  // namespace crowd
