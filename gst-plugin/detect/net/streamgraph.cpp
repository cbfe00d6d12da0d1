// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/streamgraph.hpp"

#include <algorithm>
#include <exception>
#include <vector>

namespace crowd::net {

namespace {

bool is_device_memory(const CudaDriver& driver, CUmemorytype type, CUdeviceptr address) {
  if (type == CU_MEMORYTYPE_UNIFIED) {
    unsigned found = 0;
    return driver.get_pointer_attribute(&found, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS &&
           found == CU_MEMORYTYPE_DEVICE;
  }
  return type == CU_MEMORYTYPE_DEVICE;
}

bool copies_on_device(const CudaDriver& driver, CUgraphNode node) {
  CUDA_MEMCPY3D copy = {};
  return driver.get_memcpy_params(node, &copy) == CUDA_SUCCESS &&
         is_device_memory(driver, copy.srcMemoryType, copy.srcDevice) &&
         is_device_memory(driver, copy.dstMemoryType, copy.dstDevice);
}

/// Whether a node may run again: it takes nothing of the host.
bool may_repeat(const CudaDriver& driver, CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_HOST;
  if (driver.get_node_type(node, &type) != CUDA_SUCCESS)
    return false;
  if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
    return copies_on_device(driver, node);
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY;
}

bool may_repeat(const CudaDriver& driver, CUgraph graph) {
  std::size_t count = 0;
  if (driver.get_nodes(graph, nullptr, &count) != CUDA_SUCCESS)
    return false;
  std::vector<CUgraphNode> nodes(count);
  return driver.get_nodes(graph, nodes.data(), &count) == CUDA_SUCCESS &&
         std::ranges::all_of(nodes, [&driver](CUgraphNode node) { return may_repeat(driver, node); });
}

/// Null if the work fails or cannot be captured.
CUgraph capture(const PrimaryStream& stream, const std::function<void()>& work) {
  const CudaDriver& driver = stream.driver();
  // Other threads may allocate and wait meanwhile, which stricter modes make the capture fail for.
  if (driver.begin_capture(stream.stream(), CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS)
    return nullptr;
  bool worked = true;
  try {
    work();
  } catch (const std::exception&) {
    worked = false;  // the caller runs it without a capture, which says why, if it then fails too
  }
  CUgraph graph = nullptr;
  if (driver.end_capture(stream.stream(), &graph) != CUDA_SUCCESS)
    return nullptr;
  if (!worked && graph) {
    (void)driver.destroy_graph(graph);
    return nullptr;
  }
  return graph;
}

}  // namespace

bool StreamGraph::record(const PrimaryStream& stream, const std::function<void()>& work) {
  release();
  const CudaDriver& driver = stream.driver();
  CUgraph graph = capture(stream, work);
  if (!graph)
    return false;
  if (!may_repeat(driver, graph) || driver.instantiate(&executable_, graph, 0) != CUDA_SUCCESS)
    executable_ = nullptr;
  (void)driver.destroy_graph(graph);
  stream_ = &stream;
  return recorded();
}

DeviceReport StreamGraph::launch() {
  return stream_->driver().report("the network cannot be started",
                                  stream_->driver().launch_graph(executable_, stream_->stream()));
}

void StreamGraph::release() {
  if (executable_)
    (void)stream_->driver().destroy_executable(executable_);
  executable_ = nullptr;
}

}  // namespace crowd::net
