// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nms/nmsworker.hpp"

#include <algorithm>
#include <utility>

#include "meta/unread.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

namespace crowd {

namespace {

// The matrix of the paper belongs to the element's capacity, not to the number of candidates of a frame.
NmsEngine::Config engine_config(const NmsSettings& settings, BackendChoice backend) {
  NmsEngine::Config config = {backend, settings.params, settings.max_candidates};
  const std::uint32_t k = config.params.paper_k;
  if (!config.params.paper_d_max)
    config.params.paper_d_max = (config.capacity + k - 1) / k * k;
  if (config.params.method != CROWD_NMS_PAPER)
    config.params.paper_d_max = 0;
  return config;
}

}  // namespace

NmsWorker::NmsWorker(GstBaseTransform* element) : element_(element) {}

NmsWorker::~NmsWorker() = default;

bool NmsWorker::prepare(const NmsEngine::Config& config) {
  const CrowdNmsStatus status = engine_.prepare(config);
  switch (status) {
    case CROWD_NMS_OK:
      config_ = config;
      return true;
    case CROWD_NMS_NO_GPU:
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", engine_.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_OUT_OF_MEMORY:
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT,
                        ("Not enough memory (%s). Lower max-candidates.", engine_.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_CUDA_ERROR:
      GST_ELEMENT_ERROR(element_, RESOURCE, FAILED,
                        ("CUDA failed (%s). Set backend=auto or backend=cpu.", engine_.problem().c_str()), (NULL));
      break;
    default:
      GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS,
                        ("These properties do not go together: %s.", engine_.problem().c_str()), (NULL));
  }
  return false;
}

bool NmsWorker::start(const NmsSettings& settings) {
  backend_ = settings.backend;
  frame_size_ = {};
  wish_.reconfigure();
  warned_settings_ = found_candidates_ = false;
  warnings_ = {};
  adapters_.clear();
  for (const meta::AdapterRow& row : meta::adapter_rows())
    adapters_.push_back(row.make());
  GST_OBJECT_LOCK(element_);
  stats_ = NmsStats{};
  GST_OBJECT_UNLOCK(element_);
  device_nms_.forget_totals();

  std::string problem;
  if (backend_ != BackendChoice::cpu && !device_.open(GST_ELEMENT(element_), settings.cuda_device_id, problem)) {
    if (backend_ == BackendChoice::cuda) {
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", problem.c_str()), (NULL));
      return false;
    }
    GST_INFO_OBJECT(element_, "clustering on the CPU: %s", problem.c_str());
    backend_ = BackendChoice::cpu;
  }
  if (!prepare(engine_config(settings, backend_))) {
    stop();
    return false;
  }
  if (!engine_.no_gpu_reason().empty())
    GST_INFO_OBJECT(element_, "clustering on the CPU: %s", engine_.no_gpu_reason().c_str());
  reads_device_ = backend_ != BackendChoice::cpu && engine_.no_gpu_reason().empty();
  return true;
}

void NmsWorker::stop() {
  drop();
  engine_.close();
  release_device();
  warn_overflow_on_device();
  device_.close();
  reads_device_ = false;
  adapters_.clear();
}

void NmsWorker::drop() {
  frames_ = {};
  begun_ = finished_ = 0;
  const CudaDevice::Current current(device_);
  device_nms_.forget();
}

// An application sets properties one by one, so on the way from one good state to the next they may not fit.
void NmsWorker::follow(const NmsSettings& settings) {
  const NmsEngine::Config config = engine_config(settings, backend_);
  if (engine_.prepare(config) == CROWD_NMS_OK) {
    config_ = config;
    warned_settings_ = false;
  } else if (!std::exchange(warned_settings_, true)) {
    GST_ELEMENT_WARNING(element_, LIBRARY, SETTINGS,
                        ("These properties do not go together: %s. The previous settings stay in force until they fit.",
                         engine_.problem().c_str()),
                        (NULL));
  }
}

/// Where this frame's candidates are: a row of adapter_rows(), -1 if there are none.
int NmsWorker::find_source(const NmsSettings& settings, GstBuffer* buffer) const {
  const int rows = static_cast<int>(adapters_.size());
  const int first = settings.source_row < 0 ? 0 : settings.source_row;
  const int last = settings.source_row < 0 ? rows : settings.source_row + 1;
  for (int row = first; row < last; row++) {
    if (adapters_[static_cast<std::size_t>(row)]->probe(buffer))
      return row;
  }
  return -1;
}

/// Whether survivors leave as metadata of this row, as far as the settings say.
bool NmsWorker::writes(const NmsSettings& settings, int row) const {
  if (settings.output_row == automatic_output)
    return row == default_output_row();
  return settings.output_row == all_outputs || settings.output_row == row;
}

/// The same of a frame that was clustered on the device.
bool NmsWorker::writes_awaited(const Frame& frame, int row) const {
  if (!writes(frame.settings, row))
    return false;
  return !frame.left_on_device || (frame.settings.output_row != automatic_output && row != frame.source_row);
}

/// Whether survivors of candidates of this row, in device memory, leave there as the same kind of metadata.
bool NmsWorker::leaves_on_device(const NmsSettings& settings, int row) {
  if (settings.output_row != automatic_output)
    return settings.output_row == all_outputs || settings.output_row == row;
  // Of the rows that have a place on the device, candidates are of one.
  const char* field = meta::adapter_rows()[static_cast<std::size_t>(row)].on_device;
  return field && wish_.wants(GST_BASE_TRANSFORM_SRC_PAD(element_), field);
}

GstFlowReturn NmsWorker::begin(GstBuffer* buffer, const NmsSettings& settings) {
  follow(settings);
  Frame frame;
  frame.settings = settings;
  frame.config = config_;
  frame.source_row = find_source(settings, buffer);
  look_for_lost(buffer, settings, frame);
  GstFlowReturn flow = GST_FLOW_OK;
  if (frame.source_row < 0)
    warn_unread(settings, buffer);
  if (frame.source_row >= 0) {
    found_candidates_ = true;
    if (!frame_size_.known())
      warn_unknown_size();
    const auto on_device = adapters_[static_cast<std::size_t>(frame.source_row)]->on_device(buffer, frame_size_);
    const bool may_stay = reads_device() && settings.mode == meta::Mode::replace;
    flow = on_device && may_stay ? cluster_on_device(buffer, settings, frame.source_row, *on_device, frame)
                                 : cluster(buffer, settings, frame.source_row, frame);
  }
  if (flow == GST_FLOW_OK)
    frames_[begun_++ % frames_.size()] = std::move(frame);
  return flow;
}

GstFlowReturn NmsWorker::finish(GstBuffer* buffer) {
  Frame& frame = frames_[finished_++ % frames_.size()];
  if (frame.awaited) {
    const CudaDevice::Current current(device_);
    DeviceNms::HostSurvivors survivors;
    const CrowdNmsStatus status = current ? device_nms_.await(survivors) : CROWD_NMS_CUDA_ERROR;
    if (status != CROWD_NMS_OK)
      return fail_device(status);
    if (!write_awaited(buffer, frame, survivors))
      return fail_writing();
    frame.result.emplace();
    frame.result->report = survivors.report;
    frame.result->backend = CROWD_NMS_BACKEND_CUDA;
    warn_overflow(survivors.report.overflow, survivors.report.candidates);
  }
  count(frame);
  if (frame.on_device)
    warn_overflow_on_device();
  GST_LOG_OBJECT(element_, "%u candidates, %u survivors", stats_.last().candidates, stats_.last().survivors);
  if (frame.settings.post_messages)
    post_message(buffer);
  return GST_FLOW_OK;
}

void NmsWorker::drop_broken(GstBuffer* buffer, const NmsSettings& settings, meta::Adapter& source, const char* problem,
                            Frame& frame) {
  warn_broken(problem);
  if (settings.mode == meta::Mode::replace)
    source.remove(buffer);
  frame.broken = true;
}

GstFlowReturn NmsWorker::cluster(GstBuffer* buffer, const NmsSettings& settings, int source_row, Frame& frame) {
  meta::Adapter& source = *adapters_[static_cast<std::size_t>(source_row)];
  const bool rewritten = writes(settings, source_row) && source.edits();
  const bool with_stand_ins = settings.mode != meta::Mode::replace || (rewritten && source.rewrite_needs_stand_ins());

  meta::Candidates candidates;
  const char* problem = nullptr;
  if (!source.read(buffer, frame_size_, config_.capacity, candidates, problem)) {
    drop_broken(buffer, settings, source, problem, frame);
    source.release();
    return GST_FLOW_OK;
  }
  NmsEngine::Result& result = frame.result.emplace();
  const std::uint32_t room = settings.max_detections ? settings.max_detections : config_.capacity;
  if (engine_.run(config_, candidates, room, with_stand_ins, result) != CROWD_NMS_OK) {
    source.release();
    GST_ELEMENT_ERROR(element_, LIBRARY, FAILED,
                      ("Clustering failed (%s). Try backend=cpu.", engine_.problem().c_str()), (NULL));
    return GST_FLOW_ERROR;
  }
  warn_gpu(result.gpu);
  warn_overflow(result.report.overflow, result.report.candidates);
  const bool written = write(buffer, settings, source_row, candidates, result.verdict);
  source.release();
  return written ? GST_FLOW_OK : fail_writing();
}

// Also where candidates of another flavour are there.
void NmsWorker::look_for_lost(GstBuffer* buffer, const NmsSettings& settings, Frame& frame) {
  bool lost = false;
  for (int row = 0; row < static_cast<int>(adapters_.size()); row++) {
    if (settings.source_row < 0 || settings.source_row == row)
      lost |= adapters_[static_cast<std::size_t>(row)]->lost(buffer);
  }
  frame.broken |= lost;
  if (lost)
    warnings_.lost.post(
        element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Candidates were attached to the frames and dropped on the way to here, by an element that copies the picture. "
        "Put crowdnms before the element that crops, flips, pads or filters it, or the detector behind that. Further "
        "frames are only counted, see failures in stats.");
}

GstFlowReturn NmsWorker::fail_writing() {
  GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT,
                    ("There is no memory for the survivors of a frame. Lower max-candidates or max-detections."),
                    (NULL));
  return GST_FLOW_ERROR;
}

bool NmsWorker::write(GstBuffer* buffer, const NmsSettings& settings, int source_row,
                      const meta::Candidates& candidates, const meta::Verdict& verdict) {
  meta::Adapter& source = *adapters_[static_cast<std::size_t>(source_row)];
  const bool rewritten = writes(settings, source_row) && source.edits();
  bool written = true;
  for (int row = 0; row < static_cast<int>(adapters_.size()); row++) {
    meta::Adapter& output = *adapters_[static_cast<std::size_t>(row)];
    if (writes(settings, row) && !(rewritten && row == source_row))
      written &= output.write(buffer, frame_size_, candidates, verdict, settings.mode);
  }
  // Last, as what others add is not what it has read.
  if (rewritten)
    source.rewrite(buffer, candidates, verdict, settings.mode);
  else if (settings.mode == meta::Mode::replace)
    source.remove(buffer);
  return written;
}

void NmsWorker::warn_broken(const char* problem) {
  warnings_.broken.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                        "The candidates of a frame cannot be read and are dropped: %s. Further ones are only counted, "
                        "see failures in stats.",
                        problem);
}

void NmsWorker::warn_overflow(guint64 overflow, guint64 candidates) {
  const bool paper = config_.params.method == CROWD_NMS_PAPER;
  if (overflow)
    warnings_.overflow.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " candidates are not looked at: the last in the order of the metadata, whatever their "
                            "scores. Raise %smax-candidates, here and of the element that attaches them. Further ones "
                            "are only counted, see overflow in stats.",
                            overflow, candidates, paper ? "paper-d-max and " : "");
}

// Cheap, and only until there were candidates.
void NmsWorker::warn_unread(const NmsSettings& settings, GstBuffer* buffer) {
  if (found_candidates_ || !warnings_.unread.is_due())
    return;
  if (const char* problem = meta::unread_detections(buffer, settings.source_row))
    warnings_.unread.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "%s", problem);
}

// Of the frames that the device is done with: nobody waits for the one that has just been enqueued.
void NmsWorker::warn_overflow_on_device() {
  if (!warnings_.overflow.is_due())
    return;
  const CrowdNmsTotals totals = device_nms_.totals();
  warn_overflow(totals.overflow, totals.candidates);
}

void NmsWorker::warn_gpu(NmsEngine::GpuOutcome outcome) {
  const char* problem = engine_.problem().c_str();
  if (outcome == NmsEngine::GpuOutcome::lost)
    GST_ELEMENT_WARNING(element_, RESOURCE, FAILED, ("The GPU failed; clustering goes on on the CPU."),
                        ("%s", problem));
  else if (outcome == NmsEngine::GpuOutcome::refused)
    warnings_.refused.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                           "The GPU cannot cluster a frame with these properties, the CPU does: %s. Further ones are "
                           "not told.",
                           problem);
}

void NmsWorker::warn_unknown_size() {
  warnings_.size.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                      "The caps have no width and height, so boxes are neither clipped nor scaled to the frame. Put a "
                      "capsfilter with both before crowdnms.");
}

void NmsWorker::count(const Frame& frame) {
  GST_OBJECT_LOCK(element_);
  if (frame.on_device && !frame.result)
    stats_.count_on_device(frame.config.params.method);
  else
    stats_.count(frame.result ? &*frame.result : nullptr,
                 frame.on_device ? NmsStats::Place::device : NmsStats::Place::host, frame.broken,
                 frame.config.params.method);
  GST_OBJECT_UNLOCK(element_);
}

void NmsWorker::post_message(GstBuffer* buffer) const {
  // Read without the lock: written by this thread only.
  GstStructure* message = stats_.message(element_->segment, buffer);
  gst_element_post_message(GST_ELEMENT(element_), gst_message_new_element(GST_OBJECT(element_), message));
}

GstStructure* NmsWorker::stats(CrowdNmsMethod method) const {
  GST_OBJECT_LOCK(element_);
  const NmsStats stats = stats_;
  GST_OBJECT_UNLOCK(element_);
  return stats.structure(method, device_nms_.totals(), device_nms_.times());
}

}  // namespace crowd
