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

class CudaPeople final : public DevicePeople {
 public:
  ~CudaPeople() override {
    release();
  }

  DeviceReport find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search, guint capacity,
                    MemoryRef& candidates) override;

 private:
  void release() {
    const CudaDevice::Current current(device_.get());
    finder_.release();
    pool_.clear();
    stream_ = nullptr;
  }

  DeviceReport search_image(const hog::DeviceImage& image, const Search& search, GstMemory* boxes, guint capacity) {
    if (DeviceReport report = finder_.prepare(image.width, image.height, search); report.outcome != DeviceOutcome::done)
      return report;
    const MappedBoxes map(boxes, capacity, GST_MAP_WRITE | map_on_device);
    if (!map)
      return {DeviceOutcome::failed, "the memory of candidates cannot be mapped"};
    const hog::DeviceWindows windows = {map->count, &map->boxes->x1, map->scores, map->classes, capacity};
    return finder_.enqueue(image, windows, stream_of(boxes));
  }

  std::unique_ptr<CudaDevice> device_ = CudaDevice::make();
  hog::DeviceFinder finder_{cv::HOGDescriptor::getDefaultPeopleDetector()};
  DeviceBoxesPool pool_;
  CUstream_st* stream_ = nullptr;  // of the last frame
};

DeviceReport CudaPeople::find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search, guint capacity,
                              MemoryRef& candidates) {
  GstMemory* memory = gst_buffer_n_memory(buffer) ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!is_on_device(memory))
    return {DeviceOutcome::dropped,
            "the frame is not in the CUDA memory that its caps promise; put cudaupload before this element"};
  if (DeviceReport report = device_->follow(memory, -1, [this] { release(); }); report.outcome != DeviceOutcome::done)
    return report;
  const CudaDevice::Current current(device_.get());
  if (!current)
    return {DeviceOutcome::failed, "the CUDA context cannot be made current"};
  // Searches share the finder's memory. Freeing it waits for what is done with it on the last stream.
  if (CUstream_st* stream = stream_of(memory); stream != std::exchange(stream_, stream))
    finder_.release();
  MemoryRef boxes = pool_.acquire(capacity, memory);
  if (!boxes)
    return report_of_no_memory("no device memory for candidates");
  const MappedFrame frame(buffer, info, GST_MAP_READ | map_on_device);
  if (!frame)
    return {DeviceOutcome::dropped, "the frame cannot be mapped; put cudaconvert before this element"};
  const auto part = shown_part(*frame, info);
  if (!part)
    return {DeviceOutcome::dropped, part_is_missing};
  DeviceReport report = search_image(image_of(*frame, *part), search, boxes.get(), capacity);
  if (report.outcome == DeviceOutcome::done)
    candidates = std::move(boxes);
  return report;
}

}  // namespace

std::unique_ptr<DevicePeople> DevicePeople::make() {
  return std::make_unique<CudaPeople>();
}

}  // namespace crowd
