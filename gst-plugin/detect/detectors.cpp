// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/mappedframe.hpp"
#include "detect/detector.hpp"
#include "detect/netdetector.hpp"
#include "detect/windowdetector.hpp"

namespace crowd {

std::string Detector::find(GstBuffer* buffer, const GstVideoInfo& info, const PerFrame& settings,
                           std::vector<RawBox>& boxes) {
  const MappedFrame frame(buffer, info, GST_MAP_READ);
  if (!frame)
    return mapping_problem(buffer, info);
  const auto part = shown_part(*frame, info);
  return part ? search(*frame, *part, settings, boxes) : part_is_missing;
}

std::unique_ptr<Detector> make_detector(GstElement* element, const Model& model) {
  switch (model.detector) {
    case DETECTOR_PEOPLE:
      return make_people_detector(element, model);
    case DETECTOR_FACE_HAAR:
    case DETECTOR_FACE_LBP:
      return make_face_detector(element, model);
    case DETECTOR_PERSON_NET:
      return make_net_detector(element, model, "person-net", "person");
    case DETECTOR_FACE_NET:
      return make_net_detector(element, model, "face-net", "face");
    case DETECTOR_NETWORK:
      return make_net_detector(element, model, nullptr, nullptr);
  }
  return nullptr;
}

}  // namespace crowd
