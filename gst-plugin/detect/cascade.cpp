// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/cascade.hpp"

#include <filesystem>
#include <opencv2/core.hpp>
#include <string>

#include "base/datafiles.hpp"

namespace crowd {

namespace {

// Where opencv-data lies: <data dir>/opencv4/haarcascades/..., the data dirs being XDG_DATA_DIRS and /usr/share.
std::string default_cascade(DetectorKind detector) {
  const char* file = detector == DETECTOR_FACE_LBP ? "opencv4/lbpcascades/lbpcascade_frontalface.xml"
                                                   : "opencv4/haarcascades/haarcascade_frontalface_default.xml";
  for (const std::filesystem::path& path : system_data_folders(file))
    if (is_file(path))
      return path.string();
  return (std::filesystem::path("/usr/share") / file).string();
}

}  // namespace

std::unique_ptr<WindowFinder> load_cascade(GstElement* element, const Model& model) {
  const std::string path = model.cascade.empty() ? default_cascade(model.detector) : model.cascade;
  if (!is_file(path)) {
    GST_ELEMENT_ERROR(
        element, RESOURCE, NOT_FOUND,
        ("No cascade file at %s. Install OpenCV's models (apt-get install opencv-data) or set the property "
         "cascade to a Haar or LBP cascade.",
         path.c_str()),
        (nullptr));
    return nullptr;
  }
  std::unique_ptr<WindowFinder> finder;
  std::string reason;
  try {
    finder = make_cascade_finder(path);
  } catch (const std::exception& exception) {
    reason = exception.what();
  }
  if (!finder)
    GST_ELEMENT_ERROR(
        element, RESOURCE, READ,
        ("%s is not a cascade that OpenCV %s can read. Set the property cascade to a Haar or LBP cascade, say "
         "one of package opencv-data.",
         path.c_str(), CV_VERSION),
        ("%s", reason.c_str()));
  return finder;
}

}  // namespace crowd
