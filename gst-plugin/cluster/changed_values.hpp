// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What survivors leave with that candidates did not come with.
#pragma once

#include <crowd/nms.h>

namespace crowd {

struct ChangedValues {
  bool boxes, scores;
};

/// `method`: that of the params.
inline ChangedValues changed_values(const CrowdNmsMethodInfo& method, const CrowdNmsParams& params) {
  const bool merging = method.reads & CROWD_NMS_READS_MERGE &&
                       (params.merge != CROWD_NMS_MERGE_NONE || params.cluster_score != CROWD_NMS_CLUSTER_SCORE_NONE);
  return {merging || method.changes_boxes, merging || method.changes_scores};
}

}  // namespace crowd
