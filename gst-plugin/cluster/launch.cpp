// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/launch.hpp"

#include <cstring>
#include <type_traits>

namespace crowd {

namespace {

template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

bool LaunchKey::operator==(const LaunchKey& other) const {
  static_assert(std::has_unique_object_representations_v<CrowdNmsCandidates> &&
                std::has_unique_object_representations_v<CrowdNmsSurvivors> &&
                std::has_unique_object_representations_v<CrowdNmsGathered>);
  // What is added to a key does not compile until it is compared here.
  const auto& [its_params, its_candidates, its_survivors, its_gathered] = other;
  return same(params, its_params) && same(candidates, its_candidates) && same(survivors, its_survivors) &&
         same(gathered, its_gathered);
}

CrowdNmsStatus launch_kernels(const LaunchKey& key, void* workspace, std::size_t workspace_bytes, CUstream_st* stream) {
  bool has_run = false;
  for (const CrowdNmsGathered& gathered : key.gathered) {
    if (!gathered.counts)
      continue;
    const CrowdNmsStatus status = has_run ? crowd_nms_cuda_gather(&key.candidates, &key.survivors, &gathered, stream)
                                          : crowd_nms_cuda_and_gather(&key.params, &key.candidates, &key.survivors,
                                                                      &gathered, workspace, workspace_bytes, stream);
    if (status != CROWD_NMS_OK)
      return status;
    has_run = true;
  }
  if (has_run)
    return CROWD_NMS_OK;
  return crowd_nms_cuda(&key.params, &key.candidates, &key.survivors, workspace, workspace_bytes, stream);
}

}  // namespace crowd
