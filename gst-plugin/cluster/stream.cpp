// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cluster/stream.hpp"

#include <algorithm>
#include <utility>

#include "base/transform.hpp"

GST_DEBUG_CATEGORY(gst_crowd_nms_debug);
#define GST_CAT_DEFAULT gst_crowd_nms_debug

namespace crowd {

namespace {

using Outcome = FrameReport::Outcome;

bool reads_d_max(CrowdNmsMethod method) {
  return crowd_nms_method_info(method)->reads & CROWD_NMS_READS_D_MAX;
}

// The matrix of the paper belongs to the element's capacity, not to the number of candidates of a frame.
Backends::Config backends_config(const NmsSettings& settings, BackendChoice backend) {
  Backends::Config config = {.backend = backend, .params = settings.params, .capacity = settings.max_candidates};
  const std::uint32_t k = config.params.paper_k;
  if (!config.params.paper_d_max)
    config.params.paper_d_max = (config.capacity + k - 1) / k * k;
  if (!reads_d_max(config.params.method))
    config.params.paper_d_max = 0;
  return config;
}

// Of those that are texts. Null if there is none.
const char* problem_of(const NmsSettings& settings) {
  if (settings.classes && !settings.classes->problem.empty())
    return settings.classes->problem.c_str();
  if (settings.model_weights && !settings.model_weights->problem.empty())
    return settings.model_weights->problem.c_str();
  return nullptr;
}

}  // namespace

NmsStream::NmsStream(GstBaseTransform* element, const StreamParts& parts)
    : element_(element),
      library_(parts.library),
      best_are_attached_(parts.best_are_attached),
      rows_(parts.rows),
      batches_(parts.best_are_attached ? nullptr : parts.batches),
      metadata_(parts.rows),
      device_(parts.make_device()),
      host_(metadata_, device_.get(), library_),
      device_nms_(device_ ? parts.make_device_nms(*device_, metadata_) : nullptr) {
  GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, "clustering of detections");
}

NmsStream::~NmsStream() = default;

// Without gst/cuda CUDA works in the primary context of its first device.
bool NmsStream::open_device(int device_id, std::string& problem) {
  if (device_)
    return device_->open(GST_ELEMENT(element_), device_id, problem);
  if (library_.cuda_probe() != CROWD_NMS_OK)
    problem = library_.last_error();
  else if (device_id > 0)
    problem = "this build cannot choose a device: build with gst/cuda, or leave cuda-device-id at -1";
  else
    return true;
  return false;
}

bool NmsStream::prepare(const Backends::Config& config) {
  const CrowdNmsStatus status = host_.prepare(config);
  switch (status) {
    case CROWD_NMS_OK:
      config_ = config;
      return true;
    case CROWD_NMS_NO_GPU:
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", host_.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_OUT_OF_MEMORY:
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT,
                        ("Not enough memory (%s). Lower max-candidates.", host_.problem().c_str()), (NULL));
      break;
    case CROWD_NMS_CUDA_ERROR:
      GST_ELEMENT_ERROR(element_, RESOURCE, FAILED,
                        ("CUDA failed (%s). Set backend=auto or backend=cpu.", host_.problem().c_str()), (NULL));
      break;
    default:
      GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS,
                        ("These properties do not go together: %s.", host_.problem().c_str()), (NULL));
  }
  return false;
}

meta::FrameSize NmsStream::size_of(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0;
  gst_structure_get_int(structure, "width", &width);
  gst_structure_get_int(structure, "height", &height);
  meta::FrameSize size;
  if (width > 0 && height > 0) {
    size.width = guint(width);
    size.height = guint(height);
    gst_structure_get_fraction(structure, "pixel-aspect-ratio", &size.par_n, &size.par_d);
  }
  return size;
}

void NmsStream::set_caps(GstCaps* caps) {
  meta::FrameSize size = size_of(caps);
  size.borders = gst_crowd_boxes_borders_before(GST_BASE_TRANSFORM_SINK_PAD(element_));
  batch_caps_ = meta::are_batch_caps(batches_, caps);
  set_frame_size(size);
}

bool NmsStream::start(const NmsSettings& settings) {
  backend_ = settings.backend;
  frame_size_ = {};
  batch_caps_ = false;
  downstream_.reconfigure();
  warned_settings_ = found_candidates_ = false;
  undecoded_ = nullptr;
  frames_undecoded_ = 0;
  warnings_ = {};
  metadata_.start();
  GST_OBJECT_LOCK(element_);
  stats_ = NmsStats{};
  GST_OBJECT_UNLOCK(element_);
  if (device_nms_)
    device_nms_->forget_totals();

  std::string problem;
  if (backend_ != BackendChoice::cpu && !open_device(settings.cuda_device_id, problem)) {
    if (backend_ == BackendChoice::cuda) {
      GST_ELEMENT_ERROR(element_, RESOURCE, NOT_FOUND,
                        ("No usable GPU (%s). Set backend=auto or backend=cpu.", problem.c_str()), (NULL));
      return false;
    }
    GST_INFO_OBJECT(element_, "clustering on the CPU: %s", problem.c_str());
    backend_ = BackendChoice::cpu;
  }
  if (const char* reason = problem_of(settings)) {
    GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS, ("%s.", reason), (NULL));
    stop();
    return false;
  }
  classes_ = settings.classes;
  if (!prepare(backends_config(settings, backend_))) {
    stop();
    return false;
  }
  if (!host_.no_gpu_reason().empty())
    GST_INFO_OBJECT(element_, "clustering on the CPU: %s", host_.no_gpu_reason().c_str());
  reads_device_ = device_nms_ && backend_ != BackendChoice::cpu && host_.no_gpu_reason().empty();
  return true;
}

void NmsStream::stop() {
  drop();
  host_.release();
  if (device_nms_) {
    device_nms_->release();
    warn_overflow_on_device();
  }
  if (device_)
    device_->close();
  reads_device_ = false;
  metadata_.stop();
  items_.clear();
  stream_metadata_.clear();
}

void NmsStream::drop() {
  frames_ = {};
  begun_ = finished_ = 0;
  host_.drop();
  if (device_nms_)
    device_nms_->drop();
}

// An application sets properties one by one, so on the way from one good state to the next they may not fit.
void NmsStream::follow_settings(const NmsSettings& settings) {
  const Backends::Config config = backends_config(settings, backend_);
  const char* reason = problem_of(settings);
  if (!reason && host_.prepare(config) == CROWD_NMS_OK) {
    config_ = config;
    classes_ = settings.classes;
    warned_settings_ = false;
  } else if (!std::exchange(warned_settings_, true)) {
    GST_ELEMENT_WARNING(element_, LIBRARY, SETTINGS,
                        ("These properties do not go together: %s. The previous settings stay in force until they fit.",
                         reason ? reason : host_.problem().c_str()),
                        (NULL));
  }
}

/// Whether the frame is clustered in the device memory that its candidates lie in. Sets then where survivors are left
/// and whether the host waits for them.
bool NmsStream::place_on_device(GstBuffer* buffer, Frame& frame) {
  if (!reads_device() || frame.settings.mode != meta::Mode::replace)
    return false;
  // A method that the GPU lacks takes candidates from there to the host.
  if (!library_.cuda_workspace_bytes(&frame.config.params, 1, 1))
    return false;
  frame.on_device = frame.source->adapter->on_device(buffer, frame.size);
  if (!frame.on_device)
    return false;
  const char* field = frame.source->row->on_device;
  const bool automatic = frame.settings.output == meta::KindId::automatic;
  // Asked only where the answer matters, as it costs a query.
  const bool downstream_reads = automatic && field && downstream_.wants(GST_BASE_TRANSFORM_SRC_PAD(element_), field);
  frame.left_on_device = leaves_on_device(frame.settings, *frame.source->row, downstream_reads);
  frame.awaited = frame.settings.post_messages || metadata_.needs_host(frame);
  return true;
}

FrameReport NmsStream::follow_context(const Frame& frame) {
  GstMemory* memory = frame.on_device->memory;
  // Nothing else of a frame between begin() and finish() depends on the context.
  if (!device_->owns(memory) && begun_ != finished_ && frames_[finished_ % frames_.size()].awaited)
    return {Outcome::broken,
            "its CUDA context is another one than that of the frame before, which is still on its way"};
  DeviceReport report = device_->follow(memory, frame.settings.cuda_device_id, [this] {
    host_.release();
    device_nms_->release();
  });
  if (report.outcome != DeviceOutcome::done)
    return {Outcome::broken, std::move(report.problem)};
  return {};
}

FrameReport NmsStream::cluster(GstBuffer* buffer, Frame& frame) {
  if (!place_on_device(buffer, frame)) {
    frame.clusterer = &host_;
  } else {
    frame.clusterer = device_nms_.get();
    if (FrameReport report = follow_context(frame); !report.is_done())
      return report;
    meta::Candidates unseen;
    unseen.info = frame.on_device->info;
    host_.class_numbers().apply(classes_, unseen, frame.config.params);
  }
  FrameReport report = frame.clusterer->begin(buffer, frame);
  if (classes_ && !host_.class_numbers().unknown().empty())
    warn_unknown_class(host_.class_numbers().unknown());
  return report;
}

Frame NmsStream::examine(GstBuffer* buffer, const Metadata& metadata, const meta::FrameSize& size,
                         const NmsSettings& settings) {
  Frame frame{.settings = settings, .config = config_, .size = size};
  frame.settings.classes = classes_;
  frame.source = metadata.find_source(buffer, settings.source);
  look_for_lost(buffer, metadata, frame);
  if (!frame.source) {
    look_for_unread(buffer, settings.source);
    return frame;
  }
  found_candidates_ = true;
  if (!size.known())
    warn_unknown_size();
  return frame;
}

GstFlowReturn NmsStream::follow_report(GstBuffer* buffer, Frame& frame, const FrameReport& report) {
  if (frame.result)
    warn_gpu(frame.result->gpu);
  if (report.outcome == Outcome::broken)
    drop_candidates(buffer, frame, report.problem.c_str());
  else if (!report.is_done())
    return fail(report);
  return GST_FLOW_OK;
}

GstFlowReturn NmsStream::begin(GstBuffer* buffer, const NmsSettings& settings) {
  follow_settings(settings);
  if (const GstFlowReturn flow = cluster_batch(buffer, settings); flow != GST_FLOW_OK)
    return flow;
  Frame frame = batch_caps_ ? Frame{.settings = settings, .config = config_, .size = {}}
                            : examine(buffer, metadata_, frame_size_, settings);
  frame.is_batch = batch_caps_;
  if (frame.source) {
    const FrameReport report = cluster(buffer, frame);
    if (const GstFlowReturn flow = follow_report(buffer, frame, report); flow != GST_FLOW_OK)
      return flow;
  }
  frames_[begun_++ % frames_.size()] = std::move(frame);
  return GST_FLOW_OK;
}

GstFlowReturn NmsStream::finish(GstBuffer* buffer) {
  Frame& frame = frames_[finished_++ % frames_.size()];
  if (frame.is_batch)
    return GST_FLOW_OK;
  if (frame.clusterer) {
    if (const FrameReport report = frame.clusterer->finish(buffer, frame); !report.is_done())
      return fail(report);
  }
  tell(buffer, frame);
  return GST_FLOW_OK;
}

void NmsStream::drop_candidates(GstBuffer* buffer, Frame& frame, const char* problem) {
  warnings_.broken.post(element_, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                        "The candidates of a frame cannot be read and are dropped: %s. Further ones are only counted, "
                        "see failures in stats.",
                        problem);
  if (frame.settings.mode == meta::Mode::replace)
    frame.source->adapter->remove(buffer);
  frame.broken = true;
  frame.awaited = false;
  frame.on_device.reset();
  frame.clusterer = nullptr;
}

GstFlowReturn NmsStream::fail(const FrameReport& report) {
  const char* problem = report.problem.c_str();
  switch (report.outcome) {
    case Outcome::refused:
      GST_ELEMENT_ERROR(element_, LIBRARY, SETTINGS,
                        ("The GPU cannot cluster candidates in device memory with these properties: %s.", problem),
                        (NULL));
      break;
    case Outcome::gpu_failed:
      return fail_for_gpu(element_, DeviceOutcome::failed, problem);
    case Outcome::gpu_out_of_memory:
      return fail_for_gpu(element_, DeviceOutcome::out_of_memory, problem);
    case Outcome::no_memory:
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT,
                        ("There is no memory for the survivors of a frame. Lower max-candidates or max-detections."),
                        (NULL));
      break;
    case Outcome::done:
    case Outcome::broken:
    case Outcome::failed:
      GST_ELEMENT_ERROR(element_, LIBRARY, FAILED, ("Clustering failed (%s). Try backend=cpu.", problem), (NULL));
  }
  return GST_FLOW_ERROR;
}

void NmsStream::warn_overflow(guint64 overflow, guint64 candidates, CrowdNmsMethod method) {
  if (overflow && best_are_attached_)
    warnings_.overflow.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " candidates are not looked at, the worst-scored ones. Raise max-candidates, or the "
                            "thresholds of scores. Further ones are only counted, see overflow in stats.",
                            overflow, candidates);
  else if (overflow)
    warnings_.overflow.post(element_, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " candidates are not looked at: the last in the order of the metadata, whatever their "
                            "scores. Raise %smax-candidates, here and of the element that attaches them. Further ones "
                            "are only counted, see overflow in stats.",
                            overflow, candidates, reads_d_max(method) ? "paper-d-max and " : "");
}

// Of the frames that the device is done with: there is no wait for the one that has just been enqueued.
void NmsStream::warn_overflow_on_device() {
  if (!warnings_.overflow.is_due())
    return;
  const CrowdNmsTotals totals = device_nms_->totals();
  warn_overflow(totals.overflow, totals.candidates, config_.params.method);
}

void NmsStream::set_context(GstContext* context, int device_id) {
  if (device_)
    device_->set_context(GST_ELEMENT(element_), context, device_id);
}

bool NmsStream::answer(GstQuery* query) {
  return device_ && device_->answer(GST_ELEMENT(element_), query);
}

GstStructure* NmsStream::stats(CrowdNmsMethod method) const {
  GST_OBJECT_LOCK(element_);
  const NmsStats stats = stats_;
  GST_OBJECT_UNLOCK(element_);
  return device_nms_ ? stats.structure(method, device_nms_->totals(), device_nms_->times())
                     : stats.structure(method, {}, {});
}

}  // namespace crowd
