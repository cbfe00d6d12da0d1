// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA half of the library in a build without the CUDA toolkit: same symbols, one clear answer.

#include <memory>

#include "api/device_session.hpp"
#include "core/failure.hpp"

namespace crowd {

namespace {

CrowdNmsStatus no_gpu() {
  return fail(CROWD_NMS_NO_GPU, "this build has no CUDA backend: use the CPU backend, or build with -Dcuda=enabled");
}

}  // namespace

CrowdNmsStatus make_device_session(const CrowdNmsParams*, std::uint32_t, std::uint32_t,
                                   std::unique_ptr<Session>&) noexcept {
  return no_gpu();
}

}  // namespace crowd

size_t crowd_nms_cuda_workspace_bytes(const CrowdNmsParams*, uint32_t, uint32_t) {
  crowd::no_gpu();
  return 0;
}

CrowdNmsStatus crowd_nms_cuda(const CrowdNmsParams*, const CrowdNmsCandidates*, const CrowdNmsSurvivors*, void*, size_t,
                              CUstream_st*) {
  return crowd::no_gpu();
}

CrowdNmsStatus crowd_nms_cuda_gather(const CrowdNmsCandidates*, const CrowdNmsSurvivors*, const CrowdNmsGathered*,
                                     CUstream_st*) {
  return crowd::no_gpu();
}

CrowdNmsStatus crowd_nms_cuda_and_gather(const CrowdNmsParams*, const CrowdNmsCandidates*, const CrowdNmsSurvivors*,
                                         const CrowdNmsGathered*, void*, size_t, CUstream_st*) {
  return crowd::no_gpu();
}

CrowdNmsStatus crowd_nms_cuda_probe(void) {
  return crowd::no_gpu();
}
