// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nmsgraphs.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace crowd {

namespace {

// Graphs that did not come back in time, or could not be recorded. After so many, recording is in vain.
constexpr unsigned most_given_up = 64;

CrowdNmsStatus enqueue(const LaunchKey& key, void* workspace, std::size_t bytes, CUstream_st* stream) {
  CrowdNmsStatus status = crowd_nms_cuda(&key.params, &key.candidates, &key.survivors, workspace, bytes, stream);
  for (const CrowdNmsGathered& gathered : key.gathered) {
    if (status == CROWD_NMS_OK && gathered.counts)
      status = crowd_nms_cuda_gather(&key.candidates, &key.survivors, &gathered, stream);
  }
  return status;
}

template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

bool LaunchKey::operator==(const LaunchKey& other) const {
  static_assert(std::has_unique_object_representations_v<CrowdNmsCandidates> &&
                std::has_unique_object_representations_v<CrowdNmsGathered>);
  const auto outputs = [](const CrowdNmsSurvivors& s) {
    return std::tuple(s.survivors, s.members, s.stand_ins, s.reports, s.max_survivors);
  };
  return same(params, other.params) && same(candidates, other.candidates) && same(gathered, other.gathered) &&
         outputs(survivors) == outputs(other.survivors);
}

LaunchGraphs::Entry* LaunchGraphs::find(const LaunchKey& key) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  return found == entries_.end() ? nullptr : &*found;
}

LaunchGraphs::Exec LaunchGraphs::record(const LaunchKey& key, void* workspace, std::size_t workspace_bytes) {
  // A stream of its own, since the default one cannot be recorded.
  if (!capture_ && cuda::allocate(capture_) != cudaSuccess)
    return nullptr;
  if (cudaStreamBeginCapture(capture_.get(), cudaStreamCaptureModeRelaxed) != cudaSuccess)
    return nullptr;
  const CrowdNmsStatus status = enqueue(key, workspace, workspace_bytes, capture_.get());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  if (cudaStreamEndCapture(capture_.get(), &graph) == cudaSuccess && status == CROWD_NMS_OK)
    (void)cudaGraphInstantiateWithFlags(&made, graph, 0);
  if (graph)
    cudaGraphDestroy(graph);
  return Exec(made);
}

LaunchGraphs::Entry* LaunchGraphs::add(const LaunchKey& key, void* workspace, std::size_t workspace_bytes) {
  Exec exec = record(key, workspace, workspace_bytes);
  if (!exec) {
    (void)cudaGetLastError();
    given_up_++;
    return nullptr;
  }
  if (entries_.size() < most)
    return &entries_.emplace_back(Entry{key, std::move(exec), 0});
  // Destroyed once what is under way with it has ended.
  Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::used);
  oldest = Entry{key, std::move(exec), 0};
  given_up_++;
  return &oldest;
}

cudaError_t LaunchGraphs::launch(const LaunchKey& key, void* workspace, std::size_t workspace_bytes,
                                 CUstream_st* stream, CrowdNmsStatus& status) {
  Entry* entry = find(key);
  // The first launch loads the kernels, which must not happen while a stream is recorded.
  if (!entry && std::exchange(loaded_, true) && given_up_ < most_given_up)
    entry = add(key, workspace, workspace_bytes);
  if (!entry) {
    status = enqueue(key, workspace, workspace_bytes, stream);
    return cudaSuccess;
  }
  status = CROWD_NMS_OK;
  entry->used = ++clock_;
  return cudaGraphLaunch(entry->exec.get(), stream);
}

void LaunchGraphs::clear() {
  entries_.clear();
  capture_.reset();
  given_up_ = 0;
  loaded_ = false;
}

}  // namespace crowd
