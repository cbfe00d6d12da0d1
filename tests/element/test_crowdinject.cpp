// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gmock/gmock.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "crowdinject_support.hpp"

namespace {

using namespace crowd::test;
using crowd::scene::SceneKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(crowdinject, attaches_the_scenes_candidates_in_frame_pixels) {
  for (const SceneKind kind : {SceneKind::oscars, SceneKind::crowd_run, SceneKind::mosaic, SceneKind::uniform}) {
    const auto nick = std::vector{"oscars", "crowd-run", "mosaic", "uniform"}[static_cast<std::size_t>(kind)];
    const Inject inject("seed=77 scene=" + std::string(nick), video_caps(801, 333));
    for (std::uint64_t number = 0; number < 3; number++) {
      const Ref<GstBuffer> out = inject.pass(make_frame(801, 333));
      const Attached got = attached(out.get());
      const Expected want = expected({.kind = kind, .seed = 77}, number, 801, 333);
      EXPECT_EQ(got.candidates.boxes, want.candidates.boxes) << nick << number;
      EXPECT_EQ(got.candidates.scores, want.candidates.scores) << nick << number;
      EXPECT_EQ(got.candidates.classes, want.candidates.classes) << nick << number;
      EXPECT_EQ(got.count, want.candidates.size());
      EXPECT_EQ(got.width, 801u);
      EXPECT_EQ(got.height, 333u);
      EXPECT_THAT(got.labels, ElementsAre("face"));
    }
  }
}

TEST(crowdinject, leaves_the_frame_and_its_metas_alone) {
  const Inject inject;
  Ref<GstBuffer> in = make_frame(640, 360, 5 * GST_SECOND, 99);
  gst_buffer_add_video_region_of_interest_meta(in.get(), "hint", 1, 2, 3, 4);
  const GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
  GstBuffer* const same = in.get();
  const Ref<GstBuffer> out = inject.pass(std::move(in));
  EXPECT_EQ(out.get(), same);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 5 * GST_SECOND);
  ASSERT_EQ(rois(out.get()).size(), 1u);
  EXPECT_EQ(rois(out.get())[0].type, "hint");
}

// Memory that counts how often it is mapped.
gint mapped = 0;
GstMemory* counting_memory(GstAllocator* allocator, gsize size) {
  GstMemory* memory = g_new(GstMemory, 1);
  gst_memory_init(memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0, size);
  return memory;
}

struct CountingAllocator {
  GstAllocator parent;
};
struct CountingAllocatorClass {
  GstAllocatorClass parent;
};
G_DEFINE_TYPE(CountingAllocator, counting_allocator, GST_TYPE_ALLOCATOR)

void counting_allocator_class_init(CountingAllocatorClass* klass) {
  klass->parent.free = [](GstAllocator*, GstMemory* memory) { g_free(memory); };
}

void counting_allocator_init(CountingAllocator* self) {
  self->parent.mem_type = "counting";
  self->parent.mem_map = [](GstMemory*, gsize, GstMapFlags) -> gpointer {
    g_atomic_int_inc(&mapped);
    return nullptr;
  };
  self->parent.mem_unmap = [](GstMemory*) {};
}

TEST(crowdinject, takes_any_caps_feature_and_never_maps_the_frame) {
  auto* allocator = static_cast<GstAllocator*>(g_object_new(counting_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  for (const char* caps :
       {"video/x-raw(memory:CUDAMemory),format=NV12,width=640,height=360", "video/x-raw,width=640,height=360",
        "video/x-raw(memory:DMABuf),format=DMA_DRM,width=640,height=360",
        "video/x-raw(memory:GLMemory,meta:GstVideoOverlayComposition),format=RGBA,width=640,height=360,framerate=0/"
        "1"}) {
    const Inject inject("", caps);
    Ref<GstBuffer> in(gst_buffer_new());
    gst_buffer_append_memory(in.get(), counting_memory(allocator, 640 * 360 * 3 / 2));
    const Ref<GstBuffer> out = inject.pass(std::move(in));
    ASSERT_NE(out, nullptr) << caps;
    EXPECT_EQ(number_of(out.get()), 0) << caps;
    const Ref<GstCaps> got(gst_pad_get_current_caps(inject.harness()->sinkpad));
    const Ref<GstCaps> want(gst_caps_from_string(caps));
    EXPECT_TRUE(gst_caps_is_equal(got.get(), want.get())) << caps;
  }
  EXPECT_EQ(mapped, 0);
  gst_object_unref(allocator);
}

TEST(crowdinject, a_shared_buffer_is_not_touched) {
  const Inject inject;
  Ref<GstBuffer> in = make_frame(640, 360);
  const Ref<GstBuffer> kept(gst_buffer_ref(in.get()));
  const Ref<GstBuffer> out = inject.pass(std::move(in));
  EXPECT_NE(out, kept);
  EXPECT_EQ(number_of(out.get()), 0);
  EXPECT_EQ(count_metas(kept.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
  EXPECT_FALSE(gst_crowd_truth_get(kept.get()));
}

TEST(crowdinject, replaces_candidates_and_warns_once) {
  const Inject inject;
  for (int number = 0; number < 3; number++) {
    Ref<GstBuffer> in = make_frame(640, 360);
    const Candidate other[] = {{1, 2, 3, 4, 0.5f}};
    add_boxes(in.get(), other, {.frame_width = 640, .frame_height = 360});
    add_boxes(in.get(), other, {.frame_width = 640, .frame_height = 360});
    EXPECT_EQ(number_of(inject.pass(std::move(in)).get()), number);
  }
  EXPECT_THAT(take_warnings(inject.bus()), ElementsAre(HasSubstr("one source of candidates")));
}

TEST(crowdinject, attaches_the_truth_beside) {
  const Inject inject("scene=mosaic classes=3");
  for (std::uint64_t number = 0; number < 2; number++) {
    const Ref<GstBuffer> out = inject.pass();
    const auto truth = gst_crowd_truth_get(out.get());
    const Expected want = expected({.kind = SceneKind::mosaic, .classes = 3}, number, 640, 360);
    ASSERT_TRUE(truth);
    ASSERT_EQ(truth->size(), want.objects.size());
    for (std::size_t i = 0; i < truth->size(); i++) {
      const GstCrowdTruthObject& object = (*truth)[i];
      EXPECT_EQ(
          (crowd::scene::TrueObject{object.id, object.object_class, {object.x1, object.y1, object.x2, object.y2}}),
          want.objects[i]);
    }
    EXPECT_TRUE(rois(out.get()).empty());
    GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), gst_crowd_truth_meta_name);
    guint width = 0, height = 0;
    ASSERT_TRUE(gst_structure_get(gst_custom_meta_get_structure(meta), "width", G_TYPE_UINT, &width, "height",
                                  G_TYPE_UINT, &height, nullptr));
    EXPECT_EQ(width, 640u);
    EXPECT_EQ(height, 360u);
    const Ref<GstBuffer> copy(gst_buffer_copy(out.get()));
    EXPECT_EQ(gst_crowd_truth_get(copy.get())->size(), want.objects.size());
  }
  inject.set("truth", FALSE);
  EXPECT_FALSE(gst_crowd_truth_get(inject.pass().get()));
  EXPECT_EQ(inject.stat("objects"), expected({.kind = SceneKind::mosaic}, 0, 640, 360).objects.size() +
                                        expected({.kind = SceneKind::mosaic}, 1, 640, 360).objects.size() +
                                        expected({.kind = SceneKind::mosaic}, 2, 640, 360).objects.size());
}

TEST(crowdinject, replaces_the_truth_of_another) {
  const Inject first("seed=1");
  const Inject second("seed=2");
  const auto truth = gst_crowd_truth_get(second.pass(first.pass()).get());
  const Expected want = expected({.seed = 2}, 0, 640, 360);
  ASSERT_TRUE(truth);
  ASSERT_EQ(truth->size(), want.objects.size());
  EXPECT_EQ(truth->front().x1, want.objects.front().box.x1);
}

TEST(crowdinject, candidates_change_while_playing) {
  const Inject inject("scene=oscars");
  for (const int candidates : {0, 1, 3000, 100'000, 7, -1}) {
    inject.set("candidates", candidates);
    const Attached got = attached(inject.pass().get());
    EXPECT_EQ(got.count, candidates < 0 ? 2895u : static_cast<unsigned>(candidates));
    EXPECT_EQ(got.candidates.size(), got.count);
    EXPECT_EQ(got.candidates.boxes, expected({.kind = SceneKind::oscars}, 0, 640, 360, candidates).candidates.boxes);
  }
  EXPECT_EQ(inject.stat("candidates"), 0u + 1 + 3000 + 100'000 + 7 + 2895);
  EXPECT_EQ(inject.stat("frames"), 6u);
}

TEST(crowdinject, uncovers_the_oscars_faces) {
  const Inject inject("scene=oscars uncover-every=1");
  for (std::size_t number = 0; number < 5; number++) {
    const Ref<GstBuffer> out = inject.pass();
    EXPECT_EQ(gst_crowd_truth_get(out.get())->size(), number);
    EXPECT_EQ(attached(out.get()).count > 0, number > 0);
  }
}

TEST(crowdinject, what_is_beyond_the_capacity_is_counted) {
  const Inject inject("scene=uniform candidates=100 max-candidates=30");
  const Attached got = attached(inject.pass().get());
  EXPECT_EQ(got.count, 100u);
  EXPECT_EQ(got.capacity, 30u);
  std::vector<crowd::scene::Box> want = expected({.kind = SceneKind::uniform}, 0, 640, 360, 100).candidates.boxes;
  want.resize(30);
  EXPECT_EQ(got.candidates.boxes, want);
  EXPECT_EQ(inject.stat("candidates"), 100u);
  EXPECT_EQ(inject.stat("overflow"), 70u);
  inject.pass();
  EXPECT_THAT(take_warnings(inject.bus()),
              ElementsAre(AllOf(HasSubstr("70 of the 100"), HasSubstr("the last"), HasSubstr("Raise max-candidates"))));
  inject.set("max-candidates", 100u);
  EXPECT_EQ(attached(inject.pass().get()).candidates.size(), 100u);
  EXPECT_EQ(inject.stat("overflow"), 140u);
  EXPECT_EQ(inject.stat("failures"), 0u);
}

TEST(crowdinject, memories_are_used_again_once_free) {
  const Inject inject;
  const auto memory_of = [](const Ref<GstBuffer>& buffer) {
    return gst_buffer_get_crowd_boxes_meta(buffer.get())->memory;
  };
  std::set<GstMemory*> used;
  for (int number = 0; number < 50; number++)
    used.insert(memory_of(inject.pass()));
  EXPECT_EQ(used.size(), 1u);

  std::vector<Ref<GstBuffer>> held;
  std::set<GstMemory*> memories;
  for (int i = 0; i < 100; i++) {
    held.push_back(inject.pass());
    memories.insert(memory_of(held.back()));
  }
  EXPECT_EQ(memories.size(), 100u);
  for (int i = 0; i < 100; i++)
    EXPECT_EQ(number_of(held[static_cast<std::size_t>(i)].get()), 50 + i);
  const Ref<GstBuffer> copy(gst_buffer_copy(held[0].get()));
  held.clear();
  for (int i = 0; i < 20; i++)
    EXPECT_NE(memory_of(inject.pass()), memory_of(copy));
  EXPECT_EQ(number_of(copy.get()), 50);
}

TEST(crowdinject, names_its_classes) {
  EXPECT_THAT(attached(Inject("classes=3").pass().get()).labels, ElementsAre("face-0", "face-1", "face-2"));
  EXPECT_THAT(attached(Inject("classes=2 labels=man,dog").pass().get()).labels, ElementsAre("man", "dog"));
}

TEST(crowdinject, properties_read_as_they_were_written) {
  const Ref<GstElement> element = make_element(
      "scene=mosaic seed=18446744073709551615 candidates=17 classes=9 jitter=0.125 uncover-every=4 location=a "
      "format=jsonl "
      "strict=true loop=true recorded-width=5 recorded-height=6 labels=x max-candidates=8 numbering=timestamp "
      "truth=false truth-location=b");
  const Ref<GstElement> fresh = make_element("");
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &n);
  unsigned compared = 0;
  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type != G_OBJECT_TYPE(element.get()) || !(specs[i]->flags & G_PARAM_WRITABLE))
      continue;
    GValue was = G_VALUE_INIT, is = G_VALUE_INIT;
    g_value_init(&was, specs[i]->value_type);
    g_value_init(&is, specs[i]->value_type);
    g_object_get_property(G_OBJECT(element.get()), specs[i]->name, &was);
    g_object_get_property(G_OBJECT(fresh.get()), specs[i]->name, &is);
    EXPECT_TRUE(g_param_value_defaults(specs[i], &is)) << specs[i]->name << ": the default is not the declared one";
    EXPECT_FALSE(g_param_value_defaults(specs[i], &was)) << specs[i]->name << " was not set";
    g_object_set_property(G_OBJECT(fresh.get()), specs[i]->name, &was);
    g_value_reset(&is);
    g_object_get_property(G_OBJECT(fresh.get()), specs[i]->name, &is);
    EXPECT_EQ(g_param_values_cmp(specs[i], &was, &is), 0) << specs[i]->name;
    g_value_unset(&was);
    g_value_unset(&is);
    compared++;
  }
  g_free(specs);
  EXPECT_EQ(compared, 17u);
}

TEST(crowdinject, a_jitter_of_nan_is_refused) {
  const Ref<GstElement> element = make_element("jitter=0.125");
  expect_refused(element.get(), "jitter", NAN);
}

TEST(crowdinject, properties_are_documented) {
  expect_documented_properties("crowdinject");
}

}  // namespace
