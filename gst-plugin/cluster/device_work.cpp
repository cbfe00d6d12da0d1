// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/device_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "cluster/changed_values.hpp"
#include "cluster/launch.hpp"
#include "cluster/problem.hpp"
#include "gpu/cudamemory.hpp"
#include "gpu/cudareport.hpp"
#include "gpu/devicetimes.hpp"
#include "gpu/launchgraphs.hpp"
#include "gpu/memorylayout.hpp"

namespace crowd {

namespace {

using Outcome = FrameReport::Outcome;

constexpr std::size_t alignment = 256;

/// Where the arrays of a gathered frame lie in a block of memory.
CrowdNmsGathered take_gathered(MemoryLayout& layout, std::uint32_t room) {
  CrowdNmsGathered gathered{};
  gathered.counts = layout.place<std::uint32_t>(1);
  gathered.boxes = layout.place<CrowdNmsBox>(room);
  gathered.scores = layout.place<float>(room);
  gathered.classes = layout.place<std::int32_t>(room);
  gathered.members = layout.place<std::uint32_t>(room);
  gathered.reports = layout.place<CrowdNmsReport>(1);
  return gathered;
}

/// A frame on its way to the host.
struct ReadbackSlot {
  cuda::PinnedMemory memory;
  cuda::Event arrived;
  CrowdNmsGathered gathered{};
  std::uint32_t room = 0;

  cudaError_t make_room(std::uint32_t wanted) {
    if (memory && wanted <= room)
      return cudaSuccess;
    room = 0;
    gathered = {};
    MemoryLayout measure(nullptr, alignment);
    take_gathered(measure, wanted);
    cudaError_t error = cuda::allocate(memory, measure.bytes());
    if (error == cudaSuccess)
      error = cuda::allocate(arrived);
    if (error != cudaSuccess)
      return error;
    MemoryLayout layout(memory.get(), alignment);
    gathered = take_gathered(layout, wanted);
    room = wanted;
    return error;
  }
};

}  // namespace

struct DeviceWork::State {
  std::size_t workspace_bytes = 0;  // of `workspace`
  std::uint32_t room = 0;           // survivors that `results` has room for
  cuda::DeviceMemory workspace;
  cuda::DeviceMemory results;
  CrowdNmsSurvivors survivors{};
  CrowdNmsTotals* sums = nullptr;
  std::array<ReadbackSlot, 2> slots;
  unsigned sent = 0, received = 0;
  std::vector<std::uint32_t> ranks;
  LaunchGraphs<LaunchKey> graphs;
  DeviceTimes timers;
  cuda::PinnedMemory counters;
  CUstream_st* stream = nullptr;  // of the last frame
  bool launched = false;          // on `stream`
  cuda::Event moved;              // for a frame on another stream than the last

  mutable std::mutex mutex;  // of what follows: read by any thread
  const volatile CrowdNmsTotals* published = nullptr;
  CrowdNmsTotals before{};  // of before the last release()
  DeviceNms::Times times;

  FrameReport make_counters();
  FrameReport make_results(std::uint32_t capacity);
  CrowdNmsTotals read_published() const;
  void publish_times();
  CrowdNmsGathered on_device(const GstCrowdBoxesMap& to, bool count) const;
};

namespace {

FrameReport failed(const char* what, cudaError_t error) {
  return frame_report(report_of(what, error));
}

FrameReport report_of_library(CrowdNmsStatus status) {
  switch (status) {
    case CROWD_NMS_OK:
      return {};
    case CROWD_NMS_UNSUPPORTED:
    case CROWD_NMS_INVALID_ARGUMENT:
      return {Outcome::refused, library_problem(status)};
    case CROWD_NMS_OUT_OF_MEMORY:
      return {Outcome::gpu_out_of_memory, library_problem(status)};
    default:
      return {Outcome::gpu_failed, library_problem(status)};
  }
}

void add(CrowdNmsTotals& sum, const CrowdNmsTotals& more) {
  sum.frames += more.frames;
  sum.candidates += more.candidates;
  sum.overflow += more.overflow;
  sum.invalid += more.invalid;
  sum.below_threshold += more.below_threshold;
  sum.survivors += more.survivors;
  sum.clipped += more.clipped;
  if (more.frames)
    sum.last = more.last;
}

}  // namespace

CrowdNmsTotals DeviceWork::State::read_published() const {
  CrowdNmsTotals totals{};
  if (published) {
    // The device writes them meanwhile, number by number.
    const auto* from = reinterpret_cast<const volatile std::uint64_t*>(published);
    std::array<std::uint64_t, sizeof(CrowdNmsTotals) / sizeof(std::uint64_t)> words;
    std::copy_n(from, words.size(), words.begin());
    std::memcpy(&totals, words.data(), sizeof totals);
  }
  return totals;
}

void DeviceWork::State::publish_times() {
  const DeviceTimes::Sum& sum = timers.sum();
  const std::lock_guard lock(mutex);
  times = {sum.frames, sum.nanoseconds};
}

FrameReport DeviceWork::State::make_counters() {
  if (counters)
    return {};
  if (const cudaError_t error = cuda::allocate(counters, sizeof(CrowdNmsTotals)))
    return failed("no pinned memory for counters", error);
  std::memset(counters.get(), 0, sizeof(CrowdNmsTotals));
  const std::lock_guard lock(mutex);
  published = static_cast<const CrowdNmsTotals*>(counters.get());
  return {};
}

FrameReport DeviceWork::State::make_results(std::uint32_t capacity) {
  if (results && capacity <= room)
    return {};
  const auto carve = [capacity](MemoryLayout& layout, State& to) {
    to.sums = layout.place<CrowdNmsTotals>(1);
    to.survivors = {};
    to.survivors.reports = layout.place<CrowdNmsReport>(1);
    to.survivors.survivors = layout.place<std::uint32_t>(capacity);
    to.survivors.members = layout.place<std::uint32_t>(capacity);
    to.survivors.boxes = layout.place<CrowdNmsBox>(capacity);
    to.survivors.scores = layout.place<float>(capacity);
  };
  MemoryLayout measure(nullptr, alignment);
  carve(measure, *this);
  results.reset();
  room = 0;
  // The sums go on from where they were: freeing has waited for the device.
  const CrowdNmsTotals sums_so_far = read_published();
  if (const cudaError_t error = cuda::allocate(results, measure.bytes()))
    return failed("no device memory for survivors", error);
  MemoryLayout layout(results.get(), alignment);
  carve(layout, *this);
  cudaError_t error = cudaMemcpy(sums, &sums_so_far, sizeof sums_so_far, cudaMemcpyHostToDevice);
  // The copy may return while it is still under way, and the stream of a frame need not wait for it.
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(nullptr);
  if (error != cudaSuccess)
    return failed("preparing counters", error);
  room = capacity;
  return {};
}

FrameReport frame_report(DeviceReport report) {
  switch (report.outcome) {
    case DeviceOutcome::done:
      return {};
    case DeviceOutcome::dropped:
      return {Outcome::broken, std::move(report.problem)};
    case DeviceOutcome::out_of_memory:
      return {Outcome::gpu_out_of_memory, std::move(report.problem)};
    case DeviceOutcome::failed:
    case DeviceOutcome::unusable:
      break;
  }
  return {Outcome::gpu_failed, std::move(report.problem)};
}

DeviceWork::DeviceWork() : state_(std::make_unique<State>()) {}

DeviceWork::~DeviceWork() = default;

FrameReport DeviceWork::prepare(const Call& call) {
  State& s = *state_;
  const std::size_t needed = crowd_nms_cuda_workspace_bytes(&call.params, 1, call.capacity);
  if (!needed && call.capacity)
    return report_of_library(CROWD_NMS_UNSUPPORTED);
  if (s.workspace && needed <= s.workspace_bytes && s.results && call.capacity <= s.room)
    return {};
  s.graphs.clear();
  if (!s.workspace || needed > s.workspace_bytes) {
    s.workspace.reset();
    s.workspace_bytes = 0;
    if (const cudaError_t error = cuda::allocate(s.workspace, needed))
      return failed("no device memory for a workspace", error);
    s.workspace_bytes = needed;
  }
  if (FrameReport report = s.make_counters(); !report.is_done())
    return report;
  if (const cudaError_t error = s.timers.prepare())
    return failed("creating events", error);
  // Last: with room for results everything is there.
  return s.make_results(call.capacity);
}

void DeviceWork::release() {
  State& s = *state_;
  s.graphs.clear();
  s.workspace.reset();
  s.workspace_bytes = 0;
  s.results.reset();
  s.room = 0;
  s.slots = {};
  s.sent = s.received = 0;
  // Freeing has waited for the device.
  s.timers.release();
  s.publish_times();
  {
    const std::lock_guard lock(s.mutex);
    add(s.before, s.read_published());
    s.published = nullptr;
  }
  s.counters.reset();
  s.launched = false;
  s.moved.reset();
}

FrameReport DeviceWork::check_alive(const void* array) {
  cudaPointerAttributes attributes{};
  int device = 0;
  cudaError_t error = cudaPointerGetAttributes(&attributes, array);
  if (error == cudaSuccess)
    error = cudaGetDevice(&device);
  if (error != cudaSuccess && error != cudaErrorInvalidValue)
    return failed("asking for the memory of candidates", error);
  const bool is_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  if (error == cudaSuccess && is_device && attributes.device == device)
    return {};
  if (error != cudaSuccess)
    (void)cudaGetLastError();
  return {Outcome::broken,
          "its device memory has been freed, or is not of this device; keep it until the frame is gone"};
}

CrowdNmsGathered DeviceWork::State::on_device(const GstCrowdBoxesMap& to, bool count) const {
  CrowdNmsGathered gathered{};
  gathered.boxes = reinterpret_cast<CrowdNmsBox*>(to.boxes);
  gathered.scores = to.scores;
  gathered.classes = to.classes;
  gathered.members = to.members;
  gathered.counts = to.count;
  gathered.candidates = to.candidates;
  if (count) {
    gathered.totals = sums;
    gathered.totals_copy = static_cast<CrowdNmsTotals*>(counters.get());
  }
  return gathered;
}

FrameReport DeviceWork::submit(const Call& call, const GstCrowdBoxesMap& candidates, const Destination& destination,
                               CUstream_st* stream) {
  State& s = *state_;
  // Frames share the workspace, the results and the sums. The last stream may be gone.
  if (s.launched && stream != s.stream) {
    if (const cudaError_t error = cuda::wait_for_all(stream, s.moved))
      return failed("waiting for another stream", error);
  }
  s.stream = stream;
  s.launched = true;
  LaunchKey key{};
  key.params = call.params;
  key.candidates.boxes = reinterpret_cast<const CrowdNmsBox*>(candidates.boxes);
  key.candidates.scores = candidates.scores;
  key.candidates.classes = candidates.classes;
  key.candidates.densities = candidates.densities;
  key.candidates.proposals = candidates.proposals;
  key.candidates.visible = reinterpret_cast<const CrowdNmsBox*>(candidates.visible);
  key.candidates.features = candidates.features;
  key.candidates.feature_length = candidates.feature_length;
  key.candidates.models = candidates.models;
  key.candidates.counts = candidates.count;
  key.candidates.frames = 1;
  key.candidates.capacity = std::min(candidates.capacity, call.capacity);
  key.survivors = s.survivors;
  key.survivors.max_survivors = std::min(call.room, key.candidates.capacity);
  const ChangedValues changed = changed_values(*crowd_nms_method_info(call.params.method), call.params);
  if (!changed.boxes)
    key.survivors.boxes = nullptr;
  if (!changed.scores)
    key.survivors.scores = nullptr;
  if (destination.device)
    key.gathered[0] = s.on_device(*destination.device, destination.count);
  ReadbackSlot& slot = s.slots[s.sent % s.slots.size()];
  if (destination.host) {
    if (const cudaError_t error = slot.make_room(s.room))
      return failed("no pinned memory for survivors", error);
    key.gathered[1] = slot.gathered;
  }
  CrowdNmsStatus status = CROWD_NMS_OK;
  const auto launch_all = [&](CUstream_st* to) {
    status = launch_kernels(key, s.workspace.get(), s.workspace_bytes, to);
    return status == CROWD_NMS_OK;
  };
  if (s.timers.collect())
    s.publish_times();
  if (const cudaError_t error = s.graphs.launch(key, stream, launch_all, [&s](CUstream_st* to) { s.timers.begin(to); }))
    return failed("clustering", error);
  s.timers.end(stream);
  if (status != CROWD_NMS_OK || !destination.host)
    return report_of_library(status);
  if (const cudaError_t error = cudaEventRecord(slot.arrived.get(), stream))
    return failed("sending survivors to the host", error);
  s.sent++;
  return {};
}

FrameReport DeviceWork::wait(HostSurvivors& survivors) {
  State& s = *state_;
  const ReadbackSlot& slot = s.slots[s.received++ % s.slots.size()];
  if (const cudaError_t error = cudaEventSynchronize(slot.arrived.get()))
    return failed("waiting for survivors", error);
  const std::size_t n = *slot.gathered.counts;
  while (s.ranks.size() < n)
    s.ranks.push_back(static_cast<std::uint32_t>(s.ranks.size()));
  survivors.boxes = {};
  survivors.boxes.boxes = {slot.gathered.boxes, n};
  survivors.boxes.scores = {slot.gathered.scores, n};
  survivors.boxes.classes = {slot.gathered.classes, n};
  survivors.boxes.count = static_cast<std::uint32_t>(n);
  survivors.verdict = {.survivors = {s.ranks.data(), n}, .members = {slot.gathered.members, n}};
  survivors.report = *slot.gathered.reports;
  return {};
}

void DeviceWork::forget() {
  state_->received = state_->sent;
}

CrowdNmsTotals DeviceWork::totals() const {
  const std::lock_guard lock(state_->mutex);
  CrowdNmsTotals totals = state_->before;
  add(totals, state_->read_published());
  return totals;
}

DeviceNms::Times DeviceWork::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times;
}

void DeviceWork::forget_totals() {
  state_->timers.forget();
  const std::lock_guard lock(state_->mutex);
  state_->before = {};
  state_->times = {};
}

}  // namespace crowd
