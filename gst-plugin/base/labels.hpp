// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names of classes as GstCrowdBoxesMeta has them. Header only, for every plugin.
#pragma once

#include <glib.h>

#include <memory>
#include <string>
#include <vector>

namespace crowd {

using Labels = std::unique_ptr<GPtrArray, decltype(&g_ptr_array_unref)>;

inline Labels labels_of(const std::vector<std::string>& names) {
  Labels labels(g_ptr_array_new_with_free_func(g_free), g_ptr_array_unref);
  for (const std::string& name : names)
    g_ptr_array_add(labels.get(), g_strdup(name.c_str()));
  return labels;
}

}  // namespace crowd
