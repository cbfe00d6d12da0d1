// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// BoxesUpload of a build in which there are no device memories: never asked to upload.

#include "gpu/boxesupload.hpp"

namespace crowd {

struct BoxesUpload::State {};

BoxesUpload::BoxesUpload() = default;

BoxesUpload::~BoxesUpload() = default;

MemoryRef BoxesUpload::upload(GstMemory*, guint, const std::function<void(const GstCrowdBoxesMap&)>&) {
  report_ = {DeviceOutcome::failed, "this build has no CUDA"};
  return nullptr;
}

}  // namespace crowd
