// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Values of survivors that are not their candidates' own: boxes and scores that merging or soft methods make.
#pragma once

#include <crowd/nms.h>

namespace crowd {

struct ChangedValues {
  bool boxes, scores;
};

/// Whether scores are multiplied by weights of models. `method`: that of the params.
inline bool weighs_models(const CrowdNmsMethodInfo& method, const CrowdNmsParams& params) {
  return method.reads & CROWD_NMS_READS_WEIGHTS && params.weight_count > 0;
}

/// `method`: likewise.
inline ChangedValues changed_values(const CrowdNmsMethodInfo& method, const CrowdNmsParams& params) {
  const bool merging = method.reads & CROWD_NMS_READS_MERGE &&
                       (params.merge != CROWD_NMS_MERGE_NONE || params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE);
  return {merging || method.changes_boxes, merging || method.changes_scores || weighs_models(method, params)};
}

}  // namespace crowd
