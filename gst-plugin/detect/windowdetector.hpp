// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** windowdetector.hpp: OpenCV's sliding windows as detectors of frames. */
#pragma once

#include <memory>

#include "detect/detector.hpp"
#include "detect/windows.hpp"

namespace crowd {

/** HOG people; in frames in CUDA memory as well, where the build has it. */
std::unique_ptr<Detector> make_people_detector(GstElement* element, const Model& model);

/** A cascade of Haar or LBP features; in system memory only. */
std::unique_ptr<Detector> make_face_detector(GstElement* element, const Model& model);

}  // namespace crowd
