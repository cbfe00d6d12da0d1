// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The frames of a batch: clustered in one call of the library, each as if it were alone. With batches of the test's own
// in place of GstAnalyticsBatchMeta, and a library that counts.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "cluster/stream.hpp"
#include "described.hpp"
#include "fake_cuda_device.hpp"
#include "support.hpp"
#include "tables.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_crowd_nms_debug);

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the library has seen.
struct Seen {
  unsigned calls = 0, sessions = 0;
  std::vector<unsigned> frames;  ///< of the calls
  CrowdNmsStatus gpu_says = CROWD_NMS_OK;
  unsigned gpu_calls = 0;
  CrowdNmsSession* gpu = nullptr;  ///< the newest that takes batches
};
Seen seen;

CrowdNmsStatus session_new(CrowdNmsBackend backend, const CrowdNmsParams* params, uint32_t frames, uint32_t capacity,
                           CrowdNmsSession** session) {
  seen.sessions++;
  const CrowdNmsStatus status = crowd_nms_session_new(CROWD_NMS_BACKEND_CPU, params, frames, capacity, session);
  if (backend == CROWD_NMS_BACKEND_CUDA)
    seen.gpu = *session;
  return status;
}

CrowdNmsStatus session_run(CrowdNmsSession* session, const CrowdNmsParams* params, const CrowdNmsCandidates* candidates,
                           const CrowdNmsSurvivors* survivors) {
  seen.calls++;
  seen.frames.push_back(candidates->frames);
  if (session == seen.gpu) {
    seen.gpu_calls++;
    if (seen.gpu_says != CROWD_NMS_OK)
      return seen.gpu_says;
  }
  return crowd_nms_session_run(session, params, candidates, survivors);
}

crowd::Library counting_library() {
  crowd::Library library;
  library.cuda_workspace_bytes = [](const CrowdNmsParams*, uint32_t, uint32_t) { return size_t{1}; };
  library.session_new = session_new;
  library.session_run = session_run;
  return library;
}

/// What a buffer in the test's hands holds.
struct Held {
  GstMiniObject* object;
  guint stream;
  GstCaps* caps;
};
std::vector<Held> held;

constexpr crowd::meta::BatchKind kind = {
    .caps = "test/x-batch",
    .find =
        [](GstBuffer*, std::vector<crowd::meta::BatchedFrame>& frames) {
          frames.clear();
          for (Held& one : held)
            frames.push_back({&one.object, 0, one.stream, one.caps, nullptr});
        },
};

/// An NmsStream, and an element that it speaks as.
class Stream {
 public:
  explicit Stream(const crowd::NmsSettings& settings, bool has_gpu = false,
                  const crowd::meta::BatchKind* batches = &kind)
      : settings_(settings), parts_(parts(has_gpu, batches)) {
    GST_DEBUG_CATEGORY_INIT(gst_crowd_nms_debug, "crowdnms", 0, nullptr);
    gst_object_ref_sink(element_.get());
    gst_element_set_bus(element_.get(), bus_.get());
    EXPECT_TRUE(stream_.start(settings));
  }
  ~Stream() {
    stream_.stop();
    gst_element_set_bus(element_.get(), nullptr);
  }

  void set_caps(const char* text) {
    const Ref<GstCaps> caps(gst_caps_from_string(text));
    stream_.set_caps(caps.get());
  }
  GstFlowReturn pass(GstBuffer* buffer) {
    const GstFlowReturn flow = stream_.begin(buffer, settings_);
    return flow == GST_FLOW_OK ? stream_.finish(buffer) : flow;
  }
  guint64 stat(const char* field) const {
    const Ref<GstStructure> all(stream_.stats(CROWD_NMS_GREEDY));
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(all.get(), field, &value)) << field;
    return value;
  }
  GstBus* bus() const {
    return bus_.get();
  }

 private:
  static crowd::StreamParts parts(bool has_gpu, const crowd::meta::BatchKind* batches) {
    crowd::StreamParts parts;
    parts.batches = batches;
    parts.library = counting_library();
    if (has_gpu)
      parts.make_device = [] { return std::make_unique<FakeCudaDevice>(); };
    parts.make_device_nms = [](crowd::CudaDevice&, const crowd::Metadata&) { return nullptr; };
    return parts;
  }

  crowd::NmsSettings settings_;
  crowd::StreamParts parts_;
  const Ref<GstBus> bus_{gst_bus_new()};
  const Ref<GstElement> element_{gst_element_factory_make("identity", nullptr)};
  crowd::NmsStream stream_{GST_BASE_TRANSFORM(element_.get()), parts_};
};

class nms_batch : public testing::Test {
 protected:
  nms_batch() {
    seen = {};
    for (const char* text : {"video/x-raw,width=640,height=480", "video/x-raw,width=320,height=240"})
      caps_.emplace_back(gst_caps_from_string(text));
  }
  ~nms_batch() override {
    clear();
  }

  static void clear() {
    for (const Held& one : held)
      gst_mini_object_unref(one.object);
    held.clear();
  }

  GstBuffer* add(guint stream, std::span<const Candidate> candidates, GPtrArray* labels = nullptr) {
    const unsigned width = stream ? 320 : 640, height = stream ? 240 : 480;
    GstBuffer* buffer = make_frame(width, height).release();
    add_boxes(buffer, candidates, {.frame_width = width, .frame_height = height, .labels = labels});
    held.push_back({GST_MINI_OBJECT_CAST(buffer), stream, caps_[stream].get()});
    return buffer;
  }
  static GstBuffer* buffer(std::size_t i) {
    return GST_BUFFER_CAST(held[i].object);
  }

  static GstFlowReturn pass_batch(Stream& stream) {
    const Ref<GstBuffer> batch(gst_buffer_new());
    return stream.pass(batch.get());
  }

  /// Expects of each frame what another stream makes of a copy of it, and the sums of its counters.
  void expect_as_alone(const crowd::NmsSettings& settings) {
    Stream batches(settings), alone(settings, false, nullptr);
    batches.set_caps(kind.caps);
    std::vector<Ref<GstBuffer>> copies;
    for (const Held& one : held)
      copies.emplace_back(gst_buffer_copy(GST_BUFFER_CAST(one.object)));
    ASSERT_EQ(pass_batch(batches), GST_FLOW_OK);
    for (std::size_t i = 0; i < held.size(); i++) {
      alone.set_caps(held[i].stream ? "video/x-raw,width=320,height=240" : "video/x-raw,width=640,height=480");
      ASSERT_EQ(alone.pass(copies[i].get()), GST_FLOW_OK);
      ASSERT_EQ(described(buffer(i)), described(copies[i].get())) << i;
    }
    for (const char* field : {"frames", "candidates", "survivors", "suppressed", "invalid", "below-threshold",
                              "overflow", "clipped", "failures", "nan-candidates"})
      EXPECT_EQ(batches.stat(field), alone.stat(field)) << field;
    EXPECT_EQ(take_warnings(batches.bus()).size(), take_warnings(alone.bus()).size());
  }

  std::vector<Ref<GstCaps>> caps_;
};

TEST_F(nms_batch, each_frame_is_clustered_as_if_it_were_alone) {
  constexpr unsigned seed = 20261123;
  std::mt19937 random(seed);
  const std::vector<CrowdNmsMethod> methods = all_methods();
  const std::vector<CrowdNmsMerge> merges = all_merges();
  const std::vector<CrowdNmsRule> rules = all_rules();
  for (unsigned round = 0; round < 90; round++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    clear();
    const unsigned frames = 1 + random() % 6;
    for (unsigned i = 0; i < frames; i++) {
      const unsigned n = random() % 300;
      add_random_arrays(add(i % 2, random_candidates(random, n)), random, n);
    }
    crowd::NmsSettings settings;
    settings.params.rule = rules[random() % rules.size()];
    settings.params.method = methods[round % methods.size()];
    settings.params.merge = merges[random() % merges.size()];
    settings.params.cluster_score = CrowdNmsClusterScore(random() % (CROWD_NMS_CLUSTER_SCORE_SUM + 1));
    settings.params.min_members = random() % 3;
    settings.params.weight_count = random() % 4;
    std::ranges::copy(std::array{2.f, .5f, 1.f}, settings.params.model_weights);
    settings.classes = crowd::make_class_settings(round % 3 ? "" : "1,iou=0.9,score=0.2", round % 4 ? "" : "0,1");
    settings.params.overlap_threshold = .2 + .1 * (round % 6);
    settings.params.score_threshold = 0;
    settings.backend = crowd::BackendChoice::cpu;
    settings.mode = round % 5 == 4 ? crowd::meta::Mode::annotate : crowd::meta::Mode::replace;
    settings.output = round % 2 ? crowd::meta::KindId::all : crowd::meta::KindId::automatic;
    settings.max_candidates = round % 4 == 3 ? 100 : 1000;
    settings.max_detections = round % 7 == 6 ? 5 : 0;
    expect_as_alone(settings);
  }
}

TEST_F(nms_batch, a_batch_is_one_call) {
  constexpr unsigned seed = 3;
  std::mt19937 random(seed);
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  for (const unsigned frames : {5u, 5u, 3u}) {
    clear();
    for (unsigned i = 0; i < frames; i++)
      add(i % 2, random_candidates(random, 40));
    EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  }
  EXPECT_THAT(seen.frames, ElementsAre(5, 5, 3));
  EXPECT_EQ(seen.sessions, 2u) << "one for frames, one for batches";
  EXPECT_EQ(stream.stat("frames"), 13u);
}

TEST_F(nms_batch, streams_may_number_their_classes_in_other_ways) {
  GPtrArray* labels[] = {g_ptr_array_new(), g_ptr_array_new()};
  for (int i = 0; i < 2; i++) {
    g_ptr_array_add(labels[i], const_cast<char*>(i ? "car" : "person"));
    g_ptr_array_add(labels[i], const_cast<char*>(i ? "person" : "car"));
  }
  // Of two boxes that overlap by 0.6 both stay where they are people.
  std::vector<Candidate> pairs;
  for (int c = 0; c < 2; c++) {
    const float y = 60.f * float(c);
    pairs.push_back({0, y, 80, y + 50, .9f, c});
    pairs.push_back({20, y, 100, y + 50, .5f, c});
  }
  crowd::NmsSettings settings;
  settings.backend = crowd::BackendChoice::cpu;
  settings.classes = crowd::make_class_settings("person,iou=0.7", "");
  for (const guint stream : {0u, 0u, 1u, 0u, 1u, 1u})
    add(stream, pairs, labels[stream]);
  expect_as_alone(settings);
  EXPECT_THAT(std::vector(seen.frames.begin(), seen.frames.begin() + 4), ElementsAre(2, 1, 1, 2));
  EXPECT_EQ(rois(buffer(0))[2].label_id, 0);
  EXPECT_EQ(rois(buffer(5))[2].label_id, 1);
  for (GPtrArray* one : labels)
    g_ptr_array_unref(one);
}

TEST_F(nms_batch, sessions_grow_with_batches) {
  const Candidate one = {1, 2, 30, 40, 1};
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  for (const unsigned frames : {1u, 2u, 9u, 16u, 1u}) {
    clear();
    for (unsigned i = 0; i < frames; i++)
      add(0, std::span(&one, 1));
    EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  }
  EXPECT_THAT(seen.frames, ElementsAre(1, 2, 9, 16, 1));
  EXPECT_EQ(seen.sessions, 1u + 3u) << "16 fit where 9 do";
}

TEST_F(nms_batch, a_huge_batch_takes_more_calls) {
  const Candidate one = {1, 2, 30, 40, 1};
  for (unsigned i = 0; i < 1500; i++)
    add(0, std::span(&one, 1));
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_THAT(seen.frames, ElementsAre(1024, 476));
  EXPECT_EQ(stream.stat("frames"), 1500u);
  EXPECT_EQ(stream.stat("survivors"), 1500u);
}

TEST_F(nms_batch, frames_without_candidates_are_no_call) {
  held.push_back({GST_MINI_OBJECT_CAST(make_frame(640, 480).release()), 0, caps_[0].get()});
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  clear();
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_EQ(seen.calls, 0u);
  EXPECT_EQ(stream.stat("frames"), 1u);
}

TEST_F(nms_batch, a_frame_that_cannot_be_read_leaves_the_others_alone) {
  const std::vector<Candidate> two = {{10, 10, 50, 50, .9f}, {12, 10, 52, 50, .8f}};
  add(0, two);
  GstBuffer* broken = make_frame(640, 480).release();
  add_boxes(broken, two, {.frame_width = 640, .frame_height = 480, .count = 0xffffffff});
  held.push_back({GST_MINI_OBJECT_CAST(broken), 0, caps_[0].get()});
  add(1, two);
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_THAT(seen.frames, ElementsAre(2));
  EXPECT_EQ(rois(buffer(0)).size(), 1u);
  EXPECT_EQ(described(buffer(1)), "") << "its candidates are dropped";
  EXPECT_EQ(rois(buffer(2)).size(), 1u);
  EXPECT_EQ(stream.stat("frames"), 3u);
  EXPECT_EQ(stream.stat("failures"), 1u);
  EXPECT_THAT(take_warnings(stream.bus()), ElementsAre(HasSubstr("count is beyond any capacity")));
}

TEST_F(nms_batch, a_shared_buffer_is_not_written_to) {
  const std::vector<Candidate> two = {{10, 10, 50, 50, .9f}, {12, 10, 52, 50, .8f}};
  const Ref<GstBuffer> mine(gst_buffer_ref(add(0, two)));
  const Ref<GstBuffer> other(make_frame(640, 480));
  held.push_back({GST_MINI_OBJECT_CAST(gst_buffer_ref(other.get())), 0, caps_[0].get()});
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_NE(buffer(0), mine.get());
  EXPECT_EQ(described(mine.get()), "candidates\n");
  EXPECT_EQ(rois(buffer(0)).size(), 1u);
  EXPECT_EQ(buffer(1), other.get()) << "nothing to write, no copy";
}

TEST_F(nms_batch, what_is_no_video_is_no_frame) {
  const Ref<GstCaps> sound(gst_caps_from_string("audio/x-raw"));
  const std::vector<Candidate> two = {{10, 10, 50, 50, .9f}, {12, 10, 52, 50, .8f}};
  add(0, two);
  held[0].caps = sound.get();
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_EQ(described(buffer(0)), "candidates\n");
  EXPECT_EQ(stream.stat("frames"), 0u);
}

TEST_F(nms_batch, a_frame_may_hold_frames_beside_its_own_candidates) {
  const std::vector<Candidate> two = {{10, 10, 50, 50, .9f}, {12, 10, 52, 50, .8f}};
  add(1, two);
  Ref<GstBuffer> outer = make_frame(640, 480);
  add_boxes(outer.get(), two, {.frame_width = 640, .frame_height = 480});
  Stream stream({.backend = crowd::BackendChoice::cpu});
  stream.set_caps("video/x-raw,width=640,height=480");
  EXPECT_EQ(stream.pass(outer.get()), GST_FLOW_OK);
  EXPECT_EQ(rois(buffer(0)).size(), 1u);
  EXPECT_EQ(rois(outer.get()).size(), 1u);
  EXPECT_EQ(stream.stat("frames"), 2u);
}

TEST_F(nms_batch, backend_auto_counts_the_candidates_of_all_frames) {
  const std::vector<Candidate> candidates(crowd::gpu_crossover / 2, {10, 10, 50, 50, .9f});
  add(0, candidates);
  Stream stream({}, true);
  stream.set_caps(kind.caps);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_EQ(stream.stat("frames-on-gpu"), 0u);
  clear();
  for (guint i = 0; i < 2; i++)
    add(i, candidates);
  EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
  EXPECT_EQ(seen.gpu_calls, 1u);
  EXPECT_EQ(stream.stat("frames-on-gpu"), 2u);
}

TEST_F(nms_batch, a_gpu_that_fails_is_said_once) {
  const std::vector<Candidate> candidates(crowd::gpu_crossover, {10, 10, 50, 50, .9f});
  Stream stream({}, true);
  stream.set_caps(kind.caps);
  seen.gpu_says = CROWD_NMS_CUDA_ERROR;
  for (int round = 0; round < 2; round++) {
    clear();
    for (guint i = 0; i < 2; i++)
      add(i, candidates);
    EXPECT_EQ(pass_batch(stream), GST_FLOW_OK);
    EXPECT_EQ(rois(buffer(0)).size(), 1u);
    EXPECT_EQ(rois(buffer(1)).size(), 1u);
  }
  EXPECT_EQ(seen.gpu_calls, 1u);
  EXPECT_THAT(take_warnings(stream.bus()), ElementsAre(HasSubstr("goes on on the CPU")));
}

}  // namespace
