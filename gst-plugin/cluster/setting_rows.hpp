// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Properties that all elements that cluster have, alike. `nms` returns the NmsSettings of an element's settings.
#pragma once

#include "base/properties.hpp"
#include "cluster/setting_types.hpp"
#include "cluster/settings.hpp"

namespace crowd {

inline constexpr guint max_candidates_limit = 1u << 24;

/// backend and cuda-device-id.
template <typename Settings, typename Nms>
void add_backend_properties(PropertyTable<Settings>& table, Nms nms) {
  const Settings defaults;
  table.add(
      g_param_spec_enum("backend", "Backend", "What does the clustering; the survivors are the same. stats says which",
                        backend_type(), int(nms(defaults).backend), settable_before_start),
      [nms](auto& s) -> auto& { return nms(s).backend; });
  table.add(
      g_param_spec_int("cuda-device-id", "CUDA device ID",
                       "Number of the GPU to use; -1: that of the neighbours, else the first", -1, G_MAXINT,
                       nms(defaults).cuda_device_id, settable_before_start),
      [nms](auto& s) -> auto& { return nms(s).cuda_device_id; });
}

template <typename Settings, typename Nms>
void add_output_property(PropertyTable<Settings>& table, Nms nms) {
  const Settings defaults;
  table.add(
      g_param_spec_enum(
          "meta-output", "Metadata written",
          "As which metadata survivors leave; regions and objects that were candidates are edited in place",
          output_type(), int(nms(defaults).output), controllable),
      [nms](auto& s) -> auto& { return nms(s).output; });
}

template <typename Settings, typename Nms>
void add_class_property(PropertyTable<Settings>& table, Nms nms) {
  const Settings defaults;
  table.add(
      g_param_spec_boolean("class-agnostic", "Class-agnostic",
                           "Let boxes suppress boxes of other classes too, instead of only those of their own",
                           nms(defaults).params.class_agnostic, controllable),
      [nms](const Settings& s, GValue* value) { write_value(value, nms(s).params.class_agnostic != 0); },
      [nms](Settings& s, const GValue* value) { nms(s).params.class_agnostic = g_value_get_boolean(value); });
}

}  // namespace crowd
