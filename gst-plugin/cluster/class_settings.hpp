// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Settings of classes, by label or id: the properties class-attrs and class-filter, and what they are on a frame.
#pragma once

#include <crowd/nms.h>
#include <gst/gst.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meta/adapter.hpp"

namespace crowd {

/// A class with settings of its own; NaN: as all others.
struct ClassEntry {
  std::string name;                ///< as it was written
  GQuark quark;                    ///< of that
  std::optional<std::int32_t> id;  ///< if the name is a whole number
  double overlap_threshold = std::numeric_limits<double>::quiet_NaN();
  float score_threshold = std::numeric_limits<float>::quiet_NaN();
};

struct ClassSettings {
  std::string attrs;   ///< as it was set: "person,iou=0.6,score=0.3;car,iou=0.45"
  std::string filter;  ///< as it was set: "person,car,3"; empty: all classes
  std::vector<ClassEntry> entries{};
  std::string problem{};  ///< what does not parse, and what would; else empty
};

/// Null where both are empty.
std::shared_ptr<const ClassSettings> make_class_settings(const std::string& attrs, const std::string& filter);

/// Finds the numbers that classes have on a frame. Of one stream.
class ClassNumbers {
 public:
  /// Fills in the params what the settings, null or without a problem, are for candidates with these labels and names,
  /// see meta::Candidates. Looks through labels once as long as they stay the same, through names of each frame.
  void apply(const std::shared_ptr<const ClassSettings>& settings, const meta::Candidates& candidates,
             CrowdNmsParams& params);

  /// A class of the settings that the labels of the last frame lack, where these are all there are; else empty.
  const std::string& unknown() const {
    return unknown_;
  }

 private:
  struct Unref {
    void operator()(GPtrArray* labels) const {
      g_ptr_array_unref(labels);
    }
  };

  void look_through_labels(const meta::BoxesInfo& info);
  void look_through_names(const meta::Candidates& candidates);
  void add(const ClassEntry& entry, std::int32_t number);

  std::shared_ptr<const ClassSettings> settings_;  // that the rest is of
  std::unique_ptr<GPtrArray, Unref> labels_;       // likewise
  std::vector<CrowdNmsClassSettings> found_;
  std::string unknown_;
};

}  // namespace crowd
