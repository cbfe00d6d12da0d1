// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/devicepeople.hpp"

#include <opencv2/objdetect.hpp>

#include "detect/deviceframes.hpp"
#include "detect/hog/hog.hpp"

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
    frames_.leave([this] { finder_.release(); });
  }

  DeviceReport find(GstBuffer* buffer, const GstVideoInfo& info, const Search& search, guint capacity,
                    MemoryRef& candidates) override {
    return frames_.search(
        buffer, info, capacity, candidates, [this] { finder_.release(); },
        [&](const DeviceFrames::Work& work) { return search_frame(work, search); });
  }

 private:
  DeviceReport search_frame(const DeviceFrames::Work& work, const Search& search) {
    const hog::DeviceImage image = image_of(work.frame, work.part);
    if (DeviceReport report = finder_.prepare(image.width, image.height, search); report.outcome != DeviceOutcome::done)
      return report;
    const hog::DeviceWindows windows = {work.boxes.count, &work.boxes.boxes->x1, work.boxes.scores, work.boxes.classes,
                                        work.capacity};
    return finder_.enqueue(image, windows, work.stream);
  }

  DeviceFrames frames_;
  hog::DeviceFinder finder_{cv::HOGDescriptor::getDefaultPeopleDetector()};
};

}  // namespace

std::unique_ptr<DevicePeople> DevicePeople::make() {
  return std::make_unique<CudaPeople>();
}

}  // namespace crowd
