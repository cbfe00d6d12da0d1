// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The properties of crowdnms that an application sets.
#pragma once

#include "base/properties.hpp"
#include "cluster/settings.hpp"

namespace crowd {

const PropertyTable<NmsSettings>& nms_properties();

}  // namespace crowd
