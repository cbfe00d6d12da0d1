// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** sizerange.hpp: a search that can find nothing, and what helps. */
#pragma once

#include <string>

#include "detect/windows.hpp"

namespace crowd {

/** Why frames of this size hold no window of the sizes searched for, in whole sentences that name crowddetect's
 *  properties; empty if they hold one. */
std::string size_range_problem(const WindowFinder& finder, cv::Size frame, const Search& search);

}  // namespace crowd
