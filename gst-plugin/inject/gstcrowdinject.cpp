// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-crowdinject
 * @title: crowdinject
 * @short_description: candidates without a detector
 *
 * Attaches candidates, the overlapping boxes that a detector leaves before clustering, to the frames that pass, as one
 * #GstCrowdBoxesMeta in pixels of the frame. They come from a synthetic crowd (#crowdinject:scene) or from a file
 * (#crowdinject:location). The frame itself, in any memory, is not looked at. On frames in CUDA memory the candidates
 * go there as well, if downstream reads them there, as crowdnms does.
 *
 * ## Synthetic crowds
 *
 * The boxes are a function of scene, seed, candidates, jitter, classes and the frame's number, the same on every
 * machine. A scene is stretched to the frame's size. With #crowdinject:truth the true objects are attached beside, as a
 * #GstCustomMeta named "GstCrowdTruth": a structure with `objects` (a #GstMemory of 24-byte records: guint32 id, gint32
 * class, gfloat x1 y1 x2 y2), `count`, `width` and `height` (guint). #crowdinject:truth-location writes them to a file.
 *
 * ## Recorded candidates
 *
 * MOTChallenge `det.txt`, a line `frame,id,left,top,width,height,conf[,x,y,z]` for each box, frames counting from 1; or
 * JSON lines, a line for each frame, frames counting from 0 where they are not numbered:
 *
 * |[
 * {"frame": 0, "resolution": {"width": 1920, "height": 1080}, "objects": [
 *   {"box": [x1, y1, x2, y2], "score": 0.9, "class": 0, "label": "person"}, ...]}
 * ]|
 *
 * (in one line), or with the objects of DL Streamer's gvametaconvert. Only "objects" and "box" are required. For rules
 * of crowdnms an object may have a "density" (of adaptive), a "proposal" (of set: a whole number below 2^32), a
 * "visible-box" ([x1, y1, x2, y2], of visible) and a "feature" (of feature: an array of 1 to 4096 numbers, as many in
 * each), and for its model-weights a "model" (which of several models found it: a whole number from 0 to 15): each is
 * there in all objects of a line or in none, else the line does not fit. They are attached as #GstCrowdBoxesArrays.
 * What the tool gst-crowd-read-survivors prints is such a file. A line that does not fit is skipped and counted, or an
 * error, see #crowdinject:strict. A file may have 1 GiB; a pipe that brings more is an error too.
 *
 * ## Frame numbers
 *
 * Buffers are counted from 0, anew at each start and segment, hence after a seek. With #crowdinject:numbering=timestamp
 * the number is the stream time in frames, so that boxes stay with their frame when the film is sought in or frames are
 * missing. Where a buffer has no timestamp, or the caps no framerate, it is counted after all: that is reported in a
 * warning on the bus, and in `failures` of #crowdinject:stats.
 *
 * Of more candidates than #crowdinject:max-candidates the first in the order of the scene or of the file are attached;
 * the others are counted in `overflow`, and reported in a warning on the bus.
 *
 * A frame that already carries a #GstCrowdBoxesMeta gets the new one instead; so it does with the truth, if on.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=300 ! video/x-raw,width=1920,height=1080 ! crowdinject scene=crowd-run ! \
 *   crowdnms ! crowdoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */

#include "inject/gstcrowdinject.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/element.hpp"
#include "base/transform.hpp"
#include "gst/crowd/gstcrowdboxesmeta.h"
#include "inject/candidates.hpp"
#include "inject/gstcrowdinjectsettings.hpp"
#include "inject/gstcrowdtruth.hpp"
#include "inject/injectrecording.hpp"
#include "inject/injectstats.hpp"
#include "inject/scene/source.hpp"
#include "inject/scene/truth_file.hpp"
#include "inject/truthwriter.hpp"
#include "meta/candidatewriter.hpp"

GST_DEBUG_CATEGORY_STATIC(crowd_inject_debug);
#define GST_CAT_DEFAULT crowd_inject_debug

namespace {

using namespace crowd;
using inject::LiveSettings;
using inject::Numbering;
using inject::Settings;
using inject::Stats;

// From start to stop.
struct State {
  State(scene::Source the_source, Numbering the_numbering) : source(std::move(the_source)), numbering(the_numbering) {}
  ~State() {
    g_clear_pointer(&labels, g_ptr_array_unref);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  scene::Source source;
  Numbering numbering;
  GPtrArray* labels = nullptr;
  std::optional<scene::TruthFile> truth_file;
  TruthWriter truth;
  guint64 next_number = 0;
  CandidateWriter::Arrays arrays{};  ///< of the last frame with candidates; before it of the first there will be
  RunWarning replaced, unnumbered, overflow;
  gint width = 0, height = 0, fps_n = 0, fps_d = 1;
};

}  // namespace

struct GstCrowdInjectImpl : ElementImpl<GstCrowdInject, Settings, Stats, State> {
  explicit GstCrowdInjectImpl(GstBaseTransform* element) : candidates(GST_BASE_TRANSFORM_SRC_PAD(element)) {}

  static const PropertyTable<Settings>& properties() {
    return inject::properties();
  }
  static std::unique_ptr<State> open(GstCrowdInject* self, const Settings& settings);
  static void close(GstCrowdInject* self, State& state);

  CandidateWriter candidates;
};

struct _GstCrowdInject {
  GstBaseTransform parent;
  GstCrowdInjectImpl* impl;
};

#define gst_crowd_inject_parent_class parent_class
G_DEFINE_TYPE(GstCrowdInject, gst_crowd_inject, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(crowdinject, "crowdinject", GST_RANK_NONE, GST_TYPE_CROWD_INJECT)

using Base = ElementBase<GstCrowdInject>;

namespace {

bool open_truth_file(GstCrowdInject* self, State& state, const std::string& location) {
  if (location.empty())
    return true;
  if (!state.source.has_objects()) {
    GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS, ("A recording has no true objects: truth-location is not written."),
                        ("set truth-location to NULL, or location to NULL for a synthetic scene"));
    return true;
  }
  state.truth_file.emplace(location);
  if (state.truth_file->ok())
    return true;
  GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE,
                    ("\"%s\" cannot be written: %s.", location.c_str(), state.truth_file->error().c_str()),
                    ("set truth-location to a file in a folder that can be written, or to NULL"));
  return false;
}

/// Null if it cannot work; why has been posted. Throws std::bad_alloc.
std::unique_ptr<State> open_source(GstCrowdInject* self, const Settings& settings) {
  guint64 skipped_lines = 0;
  auto source = settings.location.empty() ? std::optional<scene::Source>(settings.scene)
                                          : inject::open_recording(GST_ELEMENT(self), settings, skipped_lines);
  if (!source)
    return nullptr;
  auto state = std::make_unique<State>(std::move(*source), settings.numbering);
  state->labels = inject::new_labels(settings, state->source.labels());
  state->arrays = inject::arrays_of(state->source.first_candidates());
  if (!open_truth_file(self, *state, settings.truth_location))
    return nullptr;
  GST_OBJECT_LOCK(self);
  self->impl->stats.skipped_lines = skipped_lines;
  GST_OBJECT_UNLOCK(self);
  return state;
}

void drop_truth_file(GstCrowdInject* self, State& state) {
  GST_ELEMENT_WARNING(self, RESOURCE, WRITE,
                      ("Writing truth-location failed: %s. The file is incomplete.", state.truth_file->error().c_str()),
                      ("make room there, or set truth-location elsewhere"));
  state.truth_file.reset();
}

}  // namespace

std::unique_ptr<State> GstCrowdInjectImpl::open(GstCrowdInject* self, const Settings& settings) {
  if ((settings.recorded_width == 0) != (settings.recorded_height == 0)) {
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("recorded-width and recorded-height go together, one of them is 0."),
                      ("set both, or neither"));
    return nullptr;
  }
  try {
    return open_source(self, settings);
  } catch (const std::bad_alloc&) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("There is no memory for the candidates of \"%s\".", settings.location.c_str()),
                      ("set location to a shorter recording"));
    return nullptr;
  }
}

void GstCrowdInjectImpl::close(GstCrowdInject* self, State& state) {
  if (state.truth_file && !state.truth_file->close())
    drop_truth_file(self, state);
  self->impl->candidates.reset();
}

namespace {

gboolean crowd_inject_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  auto* self = GST_CROWD_INJECT(base);
  State& state = *self->impl->state;
  self->impl->candidates.reconfigure();
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (!gst_structure_get_int(structure, "width", &state.width) ||
      !gst_structure_get_int(structure, "height", &state.height) || state.width <= 0 || state.height <= 0) {
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT, ("The frame's width and height are not known: boxes cannot be placed on it."),
        ("put a capsfilter with width and height before this element; the caps are %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  state.fps_n = 0;
  gst_structure_get_fraction(structure, "framerate", &state.fps_n, &state.fps_d);
  return TRUE;
}

gboolean crowd_inject_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_CROWD_INJECT(base);
  const std::unique_ptr<State>& state = self->impl->state;  // out-of-band events may come while stop() empties it
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_SEGMENT:
      state->next_number = 0;
      break;
    case GST_EVENT_EOS:
      if (state->truth_file && !state->truth_file->flush())
        drop_truth_file(self, *state);
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(base, event);
}

gboolean crowd_inject_src_event(GstBaseTransform* base, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE)
    GST_CROWD_INJECT(base)->impl->candidates.reconfigure();
  return GST_BASE_TRANSFORM_CLASS(parent_class)->src_event(base, event);
}

struct FrameNumber {
  guint64 value;
  bool guessed = false;  ///< counted, though numbering=timestamp
};

FrameNumber number_of(GstCrowdInject* self, State& state, GstClockTime stream_time) {
  const guint64 counted = state.next_number++;
  if (state.numbering == Numbering::counter)
    return {counted};
  if (GST_CLOCK_TIME_IS_VALID(stream_time) && state.fps_n > 0 && state.fps_d > 0)
    return {gst_util_uint64_scale_round(stream_time, static_cast<guint64>(state.fps_n),
                                        static_cast<guint64>(state.fps_d) * GST_SECOND)};
  state.unnumbered.post(
      self, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "numbering=timestamp, but there is no %s, so buffers are counted instead and boxes may be those "
      "of another frame. Put videorate before this element. Further ones are only counted, see "
      "failures in stats.",
      state.fps_n > 0 ? "timestamp on a buffer" : "framerate in the caps");
  return {counted, true};
}

void warn_of_overflow(GstCrowdInject* self, State& state, std::size_t overflow, std::size_t candidates) {
  if (overflow > 0)
    state.overflow.post(
        self, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "%zu of the %zu candidates of a frame are not attached, the last in the order of the scene or "
        "of the file. Raise max-candidates, or set it to 0. Further ones are only counted, see overflow "
        "in stats.",
        overflow, candidates);
}

// Throws std::bad_alloc.
bool inject_into(GstCrowdInject* self, GstBuffer* buffer) {
  State& state = *self->impl->state;
  GST_OBJECT_LOCK(self);
  const LiveSettings live = self->impl->settings.live;
  GST_OBJECT_UNLOCK(self);

  const auto [number, guessed] = number_of(self, state, stream_time_of(GST_BASE_TRANSFORM(self), buffer));
  const scene::Size frame{static_cast<float>(state.width), static_cast<float>(state.height)};
  const scene::CandidatesView candidates = state.source.frame({number, frame, live.candidates, live.loop});
  const auto& objects = state.source.objects();

  // A frame without candidates goes with its neighbours: a rule finds its array, in memory of the same shape.
  if (!candidates.boxes.empty())
    state.arrays = inject::arrays_of(candidates);
  if (remove_candidates(buffer))
    warn_of_replaced(self, state.replaced);
  const CandidateWriter::Written written = self->impl->candidates.write(
      buffer, candidates.boxes.size(),
      [&candidates](const GstCrowdBoxesMap& to, std::size_t n) { inject::fill(to, candidates, n); },
      live.max_candidates, state.arrays);
  if (!written.memory)
    return false;
  CandidateWriter::attach(buffer, written,
                          {static_cast<guint>(state.width), static_cast<guint>(state.height), state.labels});
  const std::size_t overflow =
      candidates.boxes.size() - std::min<std::size_t>(candidates.boxes.size(), written.capacity);
  const bool wants_truth = live.truth && state.source.has_objects();
  if (wants_truth && !state.truth.attach(buffer, objects, state.width, state.height))
    return false;
  if (state.truth_file && !state.truth_file->write(number, objects))
    drop_truth_file(self, state);

  GST_OBJECT_LOCK(self);
  Stats& stats = self->impl->stats;
  stats.frames++;
  stats.candidates += candidates.boxes.size();
  stats.overflow += overflow;
  stats.failures += guessed ? 1 : 0;
  stats.objects += objects.size();
  GST_OBJECT_UNLOCK(self);
  warn_of_overflow(self, state, overflow, candidates.boxes.size());
  GST_LOG_OBJECT(self, "frame %" G_GUINT64_FORMAT ": %zu candidates, %zu objects", number, candidates.boxes.size(),
                 objects.size());
  return true;
}

GstFlowReturn crowd_inject_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  auto* self = GST_CROWD_INJECT(base);
  try {
    if (inject_into(self, buffer))
      return GST_FLOW_OK;
  } catch (const std::bad_alloc&) {
    // As where GStreamer has no memory, below.
  }
  const DeviceReport& report = self->impl->candidates.device_report();
  if (is_fatal(report.outcome))
    return fail_for_gpu(base, report.outcome, report.problem.c_str());
  GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("There is no memory for the candidates of a frame."),
                    ("lower candidates or max-candidates, or set location to a recording of fewer candidates a frame"));
  return GST_FLOW_ERROR;
}

}  // namespace

static void gst_crowd_inject_class_init(GstCrowdInjectClass* klass) {
  GST_DEBUG_CATEGORY_INIT(crowd_inject_debug, "crowdinject", 0, "synthetic and recorded candidates");
  gst_crowd_truth_register();
  Base::class_init(klass,
                   {.name = "Crowd candidate injector",
                    .classification = "Filter/Analyzer/Video",
                    .description = "Attaches candidate boxes of a synthetic crowd or a recording to video frames",
                    .stats = "Since the start, all uint64: frames, candidates (those beyond max-candidates included), "
                             "overflow (candidates beyond max-candidates), failures (frames that numbering=timestamp "
                             "could not number), objects (true objects), skipped-lines (of the location)"});
  add_any_video_templates(klass);

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->set_caps = crowd_inject_set_caps;
  transform_class->sink_event = crowd_inject_sink_event;
  transform_class->src_event = crowd_inject_src_event;
  transform_class->transform_ip = crowd_inject_transform_ip;
}

static void gst_crowd_inject_init(GstCrowdInject* self) {
  Base::init(self);
}
