// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * calibrations.hpp: from a detector's score to the probability that its box holds what it looks for.
 *
 * Logistic functions fitted by Platt's method (with his targets) to the best-scored boxes of clusters:
 *
 * - people: 99 boxes of 14 frames of OpenCV's film vtest.avi, found with hit-threshold=0, of which 83 hold a person, as
 *   judged by eye. A score of 0.5 is even odds, 0.6 (the default of hit-threshold) 56 %, 2 98 %.
 * - face-haar, face-lbp: 100 faces and 100 other patches of Labeled Faces in the Wild, four times enlarged, and what
 * the cascade takes for faces in 10 frames of vtest.avi (96 and 403 others in all); both groups weigh the same. Even
 * odds at 4.1 and 2.2. A cascade of one's own has these, too, and needs others.
 *
 * Scores of networks are taken as they are.
 *
 * They say which of two detections is the surer one in a unit that people know; they are no promise for other cameras.
 */
#pragma once

#include "base/confidence.hpp"
#include "detect/detectsettings.hpp"

namespace crowd {

constexpr Calibration calibration_of(DetectorKind detector) {
  switch (detector) {
    case DETECTOR_FACE_HAAR:
      return {0.99F, -4.1F};
    case DETECTOR_FACE_LBP:
      return {2.35F, -5.2F};
    case DETECTOR_PEOPLE:
      return {2.5F, -1.25F};
    case DETECTOR_PERSON_NET:
    case DETECTOR_FACE_NET:
    case DETECTOR_NETWORK:
      break;
  }
  return {};
}

}  // namespace crowd
