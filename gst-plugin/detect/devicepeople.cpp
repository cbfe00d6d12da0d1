// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/devicepeople.hpp"

#include <opencv2/objdetect.hpp>
#include <utility>

#include "base/mappedframe.hpp"
#include "base/shownpart.hpp"
#include "detect/hog/hog.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/device.hpp"

namespace crowd {

namespace {

hog::DeviceImage image_of(const GstVideoFrame& frame, const ShownPart& part) {
  hog::DeviceImage image{};
  image.stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  image.pixel_bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
  image.data = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) + part.y * image.stride +
               std::ptrdiff_t{part.x} * image.pixel_bytes;
  image.width = part.width;
  image.height = part.height;
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

  DeviceOutcome tell(DeviceReport report) {
    problem = std::move(report.problem);
    return report.outcome;
  }

  DeviceOutcome search(const hog::DeviceImage& image, const Search& settings, GstMemory* boxes, guint capacity) {
    DeviceReport report = finder.prepare(image.width, image.height, settings);
    if (report.outcome != DeviceOutcome::done)
      return tell(std::move(report));
    const MappedBoxes map(boxes, capacity, GST_MAP_WRITE | map_on_device);
    if (!map)
      return tell({DeviceOutcome::failed, "the memory of candidates cannot be mapped"});
    const hog::DeviceWindows windows = {map->count, &map->boxes->x1, map->scores, map->classes, capacity};
    return tell(finder.enqueue(image, windows, stream_of(boxes)));
  }
};

bool DevicePeople::is_available() {
  return true;
}

DevicePeople::DevicePeople() : state_(std::make_unique<State>()) {}

DevicePeople::~DevicePeople() = default;

DeviceOutcome DevicePeople::find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search, guint capacity,
                                 MemoryRef& candidates) {
  State& s = *state_;
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return s.tell({DeviceOutcome::dropped,
                   "the frame is not in the CUDA memory that its caps promise; put cudaupload before this element"});
  if (!s.follow_context(memory))
    return DeviceOutcome::failed;
  const CudaDevice::Current current(s.device);
  if (!current)
    return s.tell({DeviceOutcome::failed, "the CUDA context cannot be made current"});
  // Searches share the finder's memory. Freeing it waits for what is done with it on the last stream.
  if (CUstream_st* stream = stream_of(memory); stream != std::exchange(s.stream, stream))
    s.finder.release();
  MemoryRef boxes = s.pool.acquire(capacity, memory);
  if (!boxes)
    return s.tell(report_of_no_memory("no device memory for candidates"));
  const MappedFrame frame(buffer, info, GST_MAP_READ | map_on_device);
  if (!frame)
    return s.tell({DeviceOutcome::dropped, "the frame cannot be mapped; put cudaconvert before this element"});
  const auto part = shown_part(*frame, info);
  if (!part)
    return s.tell({DeviceOutcome::dropped, part_is_missing});
  const DeviceOutcome outcome = s.search(image_of(*frame, *part), search, boxes.get(), capacity);
  if (outcome == DeviceOutcome::done)
    candidates = std::move(boxes);
  return outcome;
}

const std::string& DevicePeople::problem() const {
  return state_->problem;
}

}  // namespace crowd
