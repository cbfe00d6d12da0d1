/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The header alone, first, in plain C and in plain C++, and a call through it. */
#include "crowd/nms.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static const CrowdNmsBox boxes[3] = {{0, 0, 10, 5}, {1, 0, 11, 5}, {40, 0, 50, 5}};
  static const float scores[3] = {0.5f, 0.9f, 0.7f};
  uint32_t kept[3];
  CrowdNmsReport report;
  CrowdNmsParams params;
  CrowdNmsCandidates candidates = {boxes, scores, NULL, NULL, NULL, 1, 3, 0, 0, NULL, NULL, NULL, NULL, NULL, {NULL}};
  CrowdNmsSurvivors survivors = {kept, NULL, NULL, &report, 3, 0, NULL, NULL, {NULL}};
  CrowdNmsSession* session = NULL;
  CrowdNmsStatus status;

  crowd_nms_params_init(&params);
  status = crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, NULL, 1, 3, &session);
  if (status == CROWD_NMS_OK)
    status = crowd_nms_session_run(session, &params, &candidates, &survivors);
  crowd_nms_session_free(session);
  if (status != CROWD_NMS_OK) {
    fprintf(stderr, "%s: %s\n", crowd_nms_status_text(status), crowd_nms_last_error());
    return EXIT_FAILURE;
  }
  return report.survivors == 2 && kept[0] == 1 && kept[1] == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
