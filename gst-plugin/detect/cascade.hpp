// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** cascade.hpp: the cascade that crowddetect is set to run. */
#pragma once

#include <gst/gst.h>

#include <memory>

#include "detect/detectsettings.hpp"
#include "detect/windows.hpp"

namespace crowd {

/** The finder of model.cascade, or of package opencv-data's frontal face; null, with an error posted as `element`, if
 *  there is none. */
std::unique_ptr<WindowFinder> load_cascade(GstElement* element, const Model& model);

}  // namespace crowd
