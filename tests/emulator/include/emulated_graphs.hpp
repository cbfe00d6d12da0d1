// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Graphs of kernels. Included by cuda_runtime.h beside this. One stream at a time is recorded.
#pragma once

#include <functional>
#include <vector>

struct EmulatedGraph {
  static inline bool refused = false;  ///< nothing can be recorded
  static inline bool no_room = false;  ///< for a graph to be launched
  static inline EmulatedGraph* recording = nullptr;
  static inline int alive = 0;     ///< graphs, ready ones included
  static inline int launches = 0;  ///< of graphs

  EmulatedGraph() {
    alive++;
  }
  EmulatedGraph(const EmulatedGraph& other) : kernels(other.kernels) {
    alive++;
  }
  ~EmulatedGraph() {
    alive--;
  }

  std::vector<std::function<void()>> kernels;
};
using cudaGraph_t = EmulatedGraph*;
struct EmulatedExec {
  EmulatedGraph graph;
};
using cudaGraphExec_t = EmulatedExec*;
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  if (EmulatedGraph::refused)
    return cudaErrorNotSupported;
  EmulatedGraph::recording = new EmulatedGraph;
  return cudaSuccess;
}
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = EmulatedGraph::recording ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = EmulatedGraph::recording;
  EmulatedGraph::recording = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new EmulatedExec{*graph};
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  if (EmulatedGraph::no_room)
    return cudaErrorMemoryAllocation;
  EmulatedGraph::launches++;
  for (const auto& kernel : exec->graph.kernels)
    kernel();
  return cudaSuccess;
}
