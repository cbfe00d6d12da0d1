// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The functions of libcrowdnms by which crowdnms clusters candidates on the host.
#pragma once

#include <crowd/nms.h>

namespace crowd {

/// Tests put functions of their own in place.
struct Library {
  decltype(&crowd_nms_method_info) method_info = crowd_nms_method_info;
  decltype(&crowd_nms_params_check) params_check = crowd_nms_params_check;
  decltype(&crowd_nms_cuda_probe) cuda_probe = crowd_nms_cuda_probe;
  decltype(&crowd_nms_cuda_workspace_bytes) cuda_workspace_bytes = crowd_nms_cuda_workspace_bytes;
  decltype(&crowd_nms_session_new) session_new = crowd_nms_session_new;
  decltype(&crowd_nms_session_run) session_run = crowd_nms_session_run;
  decltype(&crowd_nms_session_free) session_free = crowd_nms_session_free;
  decltype(&crowd_nms_last_error) last_error = crowd_nms_last_error;
};

}  // namespace crowd
