// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/windowdetector.hpp"

#include <opencv2/core.hpp>

#include "detect/calibrations.hpp"
#include "detect/cascade.hpp"
#include "detect/devicepeople.hpp"
#include "detect/luma.hpp"
#include "detect/sizerange.hpp"
#include "gpu/parts.hpp"

namespace crowd {

namespace {

class WindowDetector : public Detector {
 public:
  WindowDetector(std::unique_ptr<WindowFinder> finder, const Model& model, const char* default_label)
      : finder_(std::move(finder)),
        calibration_(calibration_of(model.detector)),
        labels_(labels_of({model.label.empty() ? default_label : model.label})) {}

  std::string open(const GstVideoInfo&, bool on_device, const PerFrame&) override {
    return on_device ? "Faces are searched for in system memory only, and these frames are in CUDA memory. Put "
                       "cudadownload before crowddetect, or set detector=people or a network."
                     : "";
  }

  std::string vain_because(const GstVideoInfo& info, const PerFrame& settings) override {
    return size_range_problem(*finder_, {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)}, settings.search);
  }

  DeviceReport find_on_device(GstBuffer*, const GstVideoInfo&, const PerFrame&, MemoryRef&) override {
    return {DeviceOutcome::failed, "a cascade does not search CUDA memory"};
  }

  GPtrArray* labels() const override {
    return labels_.get();
  }
  Calibration calibration() const override {
    return calibration_;
  }

 private:
  std::string search(const GstVideoFrame& frame, const ShownPart& part, const PerFrame& settings,
                     std::vector<RawBox>& boxes) override;

  std::unique_ptr<WindowFinder> finder_;
  Calibration calibration_;
  Labels labels_;
  cv::Mat grey_;
  std::vector<Window> windows_;
};

std::string WindowDetector::search(const GstVideoFrame& frame, const ShownPart& part, const PerFrame& settings,
                                   std::vector<RawBox>& boxes) {
  try {
    const cv::Mat luma = luma_of(frame, grey_);
    // A matrix of its own: of a part of another one OpenCV's filters would look at the pixels beside it.
    const cv::Mat shown(part.height, part.width, CV_8UC1, const_cast<uchar*>(luma.ptr(part.y, part.x)), luma.step);
    finder_->find(shown, settings.search, windows_);
  } catch (const cv::Exception& exception) {
    return exception.err;
  } catch (const std::exception& exception) {
    return exception.what();
  }
  for (const Window& window : windows_)
    boxes.push_back({window.x1, window.y1, window.x2, window.y2, window.score, 0});
  return {};
}

class PeopleDetector final : public WindowDetector {
 public:
  explicit PeopleDetector(const Model& model) : WindowDetector(make_people_finder(), model, "person") {}

  std::string open(const GstVideoInfo&, bool, const PerFrame&) override {
    return {};
  }

  std::string slow_because(const PerFrame& settings) const override {
    const int stride = settings.search.win_stride;
    if (stride % hog_cell == 0)
      return {};
    return "win-stride " + std::to_string(stride) + " is no multiple of " + std::to_string(hog_cell) +
           ", the cell of HOG, so that windows share no features: on a CPU a frame takes some 4 times as long with 4, "
           "and 25 times with an odd number. Set win-stride=8; lower scale-factor or min-size to find more.";
  }

  DeviceReport find_on_device(GstBuffer* buffer, const GstVideoInfo& info, const PerFrame& settings,
                              MemoryRef& candidates) override {
    return device_->find(buffer, info, settings.search, settings.max_candidates, candidates);
  }

 private:
  std::unique_ptr<DevicePeople> device_ = make_device_part<DevicePeople>();
};

}  // namespace

std::unique_ptr<Detector> make_people_detector(GstElement* element, const Model& model) {
  if (!model.cascade.empty()) {
    GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS,
                      ("detector=people runs no cascade, and cascade is %s. Set detector=face-haar or "
                       "detector=face-lbp to run it, or leave cascade unset.",
                       model.cascade.c_str()),
                      (nullptr));
    return nullptr;
  }
  return std::make_unique<PeopleDetector>(model);
}

std::unique_ptr<Detector> make_face_detector(GstElement* element, const Model& model) {
  auto finder = load_cascade(element, model);
  return finder ? std::make_unique<WindowDetector>(std::move(finder), model, "face") : nullptr;
}

}  // namespace crowd
