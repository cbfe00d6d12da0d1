// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Types of the properties that are enumerations of what NmsSettings has.
#pragma once

#include <glib-object.h>

namespace crowd {

GType method_type();
GType metric_type();
GType comparator_type();
GType rule_type();
GType merge_type();
GType cluster_score_type();
GType backend_type();
GType mode_type();
GType source_type();  ///< the ids of the rows of metadata that can be read
GType output_type();  ///< of those that can be written

}  // namespace crowd
