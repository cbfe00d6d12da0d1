// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** netdetector.hpp: neural networks as detectors of frames. */
#pragma once

#include <memory>

#include "detect/detector.hpp"

namespace crowd {

/** `name`: of the model and of its description where `model` names none; null for a network of the user's own.
 * `default_label`: of its one class, or null. Null, with an error posted as `element`, where files or settings are
 * wrong; the network itself is loaded by Detector::open(). */
std::unique_ptr<Detector> make_net_detector(GstElement* element, const Model& model, const char* name,
                                            const char* default_label);

}  // namespace crowd
