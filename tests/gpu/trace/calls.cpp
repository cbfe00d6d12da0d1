// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "calls.hpp"

#include <iterator>

namespace crowd::trace {
namespace {

struct Row {
  std::string_view stem;
  Call call;
};

constexpr Call plain(Kind kind) {
  return {.kind = kind};
}

constexpr Call allocation(Form form = Form::word) {
  return {.kind = Kind::allocate, .form = form, .word = 1};
}

constexpr Call copy(Form form) {
  return {.kind = Kind::copy, .form = form};
}

constexpr Row rows[] = {
    {"cuLaunchKernel", plain(Kind::launch)},
    {"cuLaunchKernelEx", plain(Kind::launch)},
    {"cuLaunchCooperativeKernel", plain(Kind::launch)},
    {"cuLaunchCooperativeKernelMultiDevice", plain(Kind::launch)},
    {"cuGraphLaunch", plain(Kind::graph_launch)},
    {"cuCtxSynchronize", plain(Kind::synchronise)},
    {"cuStreamSynchronize", plain(Kind::synchronise)},
    {"cuEventSynchronize", plain(Kind::synchronise)},
    {"cuStreamQuery", plain(Kind::query)},
    {"cuEventQuery", plain(Kind::query)},
    {"cuMemAlloc", allocation()},
    {"cuMemAllocPitch", allocation(Form::pitched)},
    {"cuMemAllocManaged", allocation()},
    {"cuMemAllocHost", allocation()},
    {"cuMemHostAlloc", allocation()},
    {"cuMemHostRegister", allocation()},
    {"cuMemAllocAsync", allocation()},
    {"cuMemAllocFromPoolAsync", allocation()},
    {"cuMemCreate", allocation()},
    {"cuArrayCreate", allocation(Form::none)},
    {"cuArray3DCreate", allocation(Form::none)},
    {"cuMipmappedArrayCreate", allocation(Form::none)},
    {"cuMemPoolCreate", allocation(Form::none)},
    {"cuMemFree", plain(Kind::release)},
    {"cuMemFreeHost", plain(Kind::release)},
    {"cuMemHostUnregister", plain(Kind::release)},
    {"cuMemFreeAsync", plain(Kind::release)},
    {"cuMemRelease", plain(Kind::release)},
    {"cuArrayDestroy", plain(Kind::release)},
    {"cuMipmappedArrayDestroy", plain(Kind::release)},
    {"cuMemPoolDestroy", plain(Kind::release)},
    {"cuStreamCreate", plain(Kind::create_stream)},
    {"cuStreamCreateWithPriority", plain(Kind::create_stream)},
    {"cuEventCreate", plain(Kind::create_event)},
    {"cuGraphInstantiate", plain(Kind::create_graph)},
    {"cuGraphInstantiateWithFlags", plain(Kind::create_graph)},
    {"cuGraphInstantiateWithParams", plain(Kind::create_graph)},
    {"cuMemcpy", copy(Form::flat)},
    {"cuMemcpyPeer", {.kind = Kind::copy, .form = Form::word, .direction = Direction::peer, .word = 4}},
    {"cuMemcpy2D", copy(Form::rectangle)},
    {"cuMemcpy2DUnaligned", copy(Form::rectangle)},
    {"cuMemcpy3D", copy(Form::cuboid)},
    {"cuMemcpy3DPeer", copy(Form::peer_cuboid)},
    {"cuMemcpyBatch", copy(Form::batch)},
    {"cuMemcpy3DBatch", copy(Form::none)},
};

bool take_suffix(std::string_view& text, std::string_view suffix) {
  const bool has = text.ends_with(suffix);
  if (has)
    text.remove_suffix(suffix.size());
  return has;
}

unsigned memory_type(char letter) {
  return letter == 'H' ? memory_host : letter == 'D' ? memory_device : letter == 'A' ? memory_array : 0;
}

/// cuMemcpyHtoD and the like: of an array there are two arguments, the other ends have one, then come the bytes.
Call letters(std::string_view ends) {
  if (ends.size() != 4 || ends.substr(1, 2) != "to")
    return {};
  const unsigned from = memory_type(ends[0]), to = memory_type(ends[3]);
  if (!from || !to)
    return {};
  const std::size_t arrays = (from == memory_array) + (to == memory_array);
  return {.kind = Kind::copy, .form = Form::word, .direction = direction_between(from, to), .word = 2 + arrays};
}

}  // namespace

Direction direction_between(unsigned from, unsigned to) {
  const bool from_device = from == memory_device || from == memory_array;
  const bool to_device = to == memory_device || to == memory_array;
  if ((!from_device && from != memory_host) || (!to_device && to != memory_host))
    return Direction::unknown;
  if (from_device)
    return to_device ? Direction::device_to_device : Direction::device_to_host;
  return to_device ? Direction::host_to_device : Direction::host_to_host;
}

Call classify(std::string_view function) {
  constexpr std::string_view copies = "cuMemcpy", sets = "cuMemset";
  std::string_view stem = function.substr(0, function.find('_'));
  if (stem.starts_with(sets))
    return plain(Kind::memset);
  const bool copies_something = stem.starts_with(copies);
  const bool waits = copies_something && !take_suffix(stem, "Async");
  Call found = copies_something ? letters(stem.substr(copies.size())) : Call{};
  for (const Row& row : rows) {
    if (row.stem == stem)
      found = row.call;
  }
  found.waits = waits && found.kind == Kind::copy;
  return found;
}

}  // namespace crowd::trace
