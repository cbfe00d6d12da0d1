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

// Of so many, most would never come back.
constexpr unsigned most_evicted = 64;

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

cudaError_t LaunchGraphs::record(const LaunchKey& key, void* workspace, std::size_t workspace_bytes, Exec& exec,
                                 CrowdNmsStatus& status) {
  // A stream of its own, since the default one cannot be recorded.
  if (!capture_) {
    cudaStream_t stream = nullptr;
    if (const cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
      return error;
    capture_.reset(stream);
  }
  if (const cudaError_t error = cudaStreamBeginCapture(capture_.get(), cudaStreamCaptureModeThreadLocal))
    return error;
  status = enqueue(key, workspace, workspace_bytes, capture_.get());
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamEndCapture(capture_.get(), &graph);
  cudaGraphExec_t made = nullptr;
  if (error == cudaSuccess && status == CROWD_NMS_OK)
    error = cudaGraphInstantiateWithFlags(&made, graph, 0);
  if (graph)
    cudaGraphDestroy(graph);
  exec.reset(made);
  return error;
}

cudaError_t LaunchGraphs::add(const LaunchKey& key, void* workspace, std::size_t workspace_bytes,
                              CrowdNmsStatus& status, Entry*& entry) {
  Exec exec;
  const cudaError_t error = record(key, workspace, workspace_bytes, exec, status);
  if (error != cudaSuccess || status != CROWD_NMS_OK)
    return error;
  if (entries_.size() < most) {
    entry = &entries_.emplace_back(Entry{key, std::move(exec), 0});
  } else {
    // Destroyed once what is under way with it has ended.
    entry = &*std::ranges::min_element(entries_, {}, &Entry::used);
    *entry = Entry{key, std::move(exec), 0};
    evicted_++;
  }
  return cudaSuccess;
}

cudaError_t LaunchGraphs::launch(const LaunchKey& key, void* workspace, std::size_t workspace_bytes,
                                 CUstream_st* stream, CrowdNmsStatus& status) {
  status = CROWD_NMS_OK;
  Entry* entry = find(key);
  if (!entry && evicted_ < most_evicted) {
    if (const cudaError_t error = add(key, workspace, workspace_bytes, status, entry))
      return error;
    if (status != CROWD_NMS_OK)
      return cudaSuccess;
  }
  if (!entry) {
    status = enqueue(key, workspace, workspace_bytes, stream);
    return cudaSuccess;
  }
  entry->used = ++clock_;
  return cudaGraphLaunch(entry->exec.get(), stream);
}

void LaunchGraphs::clear() {
  entries_.clear();
  capture_.reset();
  evicted_ = 0;
}

}  // namespace crowd
