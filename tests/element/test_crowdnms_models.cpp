// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms with candidates of several models, which have weights.

#include <gmock/gmock.h>
#include <gst/crowd/gstcrowdboxesarrays.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "described.hpp"
#include "nms_harness.hpp"
#include "rule_cases.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two of a cluster, 8 pixels apart, and one alone.
const std::vector<Candidate> pair_and_one = {
    {100, 50, 180, 90, .75f}, {108, 50, 188, 90, .25f}, {300, 200, 380, 290, .5f}};

const std::string weighing = "iou-threshold=0.3 score-threshold=0 meta-output=boxes ";

template <typename T>
Ref<GBytes> bytes_of(const std::vector<T>& values) {
  return Ref<GBytes>(values.empty() ? nullptr : g_bytes_new(values.data(), values.size() * sizeof(T)));
}

/// Candidates with these arrays, as far as they are not empty.
Ref<GstBuffer> frame_with(std::span<const Candidate> candidates, const Extras& extras) {
  Ref<GstBuffer> buffer = make_frame(640, 480);
  add_boxes(buffer.get(), candidates, {.frame_width = 640, .frame_height = 480});
  EXPECT_TRUE(gst_crowd_boxes_meta_set_array_bytes(
      gst_buffer_get_crowd_boxes_meta(buffer.get()), bytes_of(extras.densities).get(), bytes_of(extras.proposals).get(),
      bytes_of(extras.visible).get(), bytes_of(extras.features).get(), bytes_of(extras.models).get(), nullptr));
  return buffer;
}

Ref<GstBuffer> frame_of_models(const std::vector<std::uint32_t>& models) {
  return frame_with(pair_and_one, {.models = models});
}

struct Survivors {
  std::vector<float> boxes;  ///< x1, y1, x2, y2 of each
  std::vector<float> scores;
};

Survivors survivors_of(GstBuffer* buffer) {
  Survivors all;
  const GstCrowdBoxesMeta* meta = gst_buffer_get_crowd_survivors_meta(buffer);
  GstCrowdBoxesMap map;
  if (!meta || !gst_crowd_boxes_map_memory(&map, meta->memory, meta->capacity, GST_MAP_READ))
    return all;
  for (guint i = 0; i < *map.count; i++)
    all.boxes.insert(all.boxes.end(), {map.boxes[i].x1, map.boxes[i].y1, map.boxes[i].x2, map.boxes[i].y2});
  all.scores.assign(map.scores, map.scores + *map.count);
  gst_crowd_boxes_unmap(&map);
  return all;
}

std::vector<float> scores_of(NmsHarness& nms, Ref<GstBuffer> buffer) {
  return survivors_of(nms.pass(std::move(buffer)).get()).scores;
}

TEST(crowdnms_models, weigh_in_wbf) {
  NmsHarness nms(weighing + "method=wbf models=7 model-weights=1,3");
  const Survivors all = survivors_of(nms.pass(frame_of_models({0, 1, 0})).get());
  // .75 * 1 and .25 * 3: half way between the two, (.75 + .75) / 2 * 2 / (1 + 3).
  EXPECT_THAT(all.boxes, ElementsAre(104, 50, 184, 90, 300, 200, 380, 290));
  EXPECT_THAT(all.scores, ElementsAre(.375f, .125f)) << "models is not read";
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_models, weigh_in_nmw) {
  NmsHarness nms(weighing + "method=nmw model-weights=0.5,2");
  // The second is better now: .75 * .5 / 2 and .25 * 2 / 2.
  EXPECT_THAT(scores_of(nms, frame_of_models({0, 1, 0})), ElementsAre(.25f, .125f));
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_models, weigh_in_regions) {
  NmsHarness nms("iou-threshold=0.3 meta-output=roi method=nmw model-weights=0.5,2");
  const auto out = nms.pass(frame_of_models({0, 1, 0}));
  const auto regions = rois(out.get());
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_EQ(regions[0].score, .25);
  EXPECT_EQ(*regions[1].confidence, .125);
}

TEST(crowdnms_models, have_other_weights_while_it_plays) {
  NmsHarness nms(weighing + "method=nmw");
  const auto scores = [&](const char* weights) {
    g_object_set(nms.element(), "model-weights", weights, nullptr);
    return scores_of(nms, frame_of_models({0, 1, 0}));
  };
  EXPECT_THAT(scores(nullptr), ElementsAre(.75f, .5f));
  EXPECT_THAT(scores(" 0.5 , 2,"), ElementsAre(.25f, .125f));
  EXPECT_THAT(scores("1,0,7"), ElementsAre(FloatEq(.75f / 7), FloatEq(.5f / 7)));
  EXPECT_THAT(scores(""), ElementsAre(.75f, .5f));
  gst_util_set_object_arg(G_OBJECT(nms.element()), "method", "wbf");
  EXPECT_THAT(scores("1,3"), ElementsAre(.375f, .125f));
  gst_util_set_object_arg(G_OBJECT(nms.element()), "method", "greedy");
  EXPECT_THAT(scores("1,3"), ElementsAre(.75f, .5f)) << "other methods ignore them";
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

TEST(crowdnms_models, agree_with_the_oracle) {
  constexpr unsigned seed = 20261125;
  Dice dice(seed);
  unsigned unknown = 0;
  for (unsigned round = 0; round < 60; round++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    Batch batch = Batch::of(distribution("multi_class").make(1 + dice.below(400), dice.bits()));
    batch.extras = draw_extras(batch.all, dice);
    std::vector<Candidate> candidates;
    for (std::uint32_t i = 0; i < batch.all.size(); i++) {
      const CrowdNmsBox& box = batch.all.boxes[i];
      candidates.push_back({box.x1, box.y1, box.x2, box.y2, batch.all.scores[i], batch.all.classes[i]});
    }
    CrowdNmsParams params = default_params();
    params.method = round % 2 ? CROWD_NMS_NMW : CROWD_NMS_WBF;
    params.rule = round % 3 ? CROWD_NMS_PLAIN : CROWD_NMS_SET;  // two arrays in nmw
    params.weight_count = 4;
    std::ranges::copy(std::array{2.f, .5f, 0.f, 1.f}, params.model_weights);
    const Result expected = run_oracle(
        params, batch, {.max_survivors = batch.capacity, .representatives = false, .boxes = true, .scores = true});
    NmsHarness nms("meta-output=boxes model-weights=2,.5,0,1");
    g_object_set(nms.element(), "method", params.method, "rule", params.rule, nullptr);
    const Survivors got = survivors_of(nms.pass(frame_with(candidates, batch.extras)).get());
    const CrowdNmsReport& report = expected.reports[0];
    ASSERT_EQ(got.scores.size(), report.survivors);
    EXPECT_TRUE(std::equal(got.scores.begin(), got.scores.end(), expected.scores.begin()));
    EXPECT_EQ(std::memcmp(got.boxes.data(), expected.boxes.data(), got.boxes.size() * sizeof(float)), 0);
    EXPECT_EQ(nms.stat("invalid"), report.invalid);
    unknown += report.invalid;
  }
  EXPECT_GT(unknown, 20u) << "candidates of models without a weight";
}

class each_fusion : public testing::TestWithParam<const char*> {
 protected:
  std::string properties() const {
    return weighing + "method=" + GetParam();
  }
};

TEST_P(each_fusion, drops_candidates_without_models) {
  NmsHarness nms(properties() + " model-weights=1,3");
  for (int i = 0; i < 3; i++)
    EXPECT_THAT(scores_of(nms, frame_with(pair_and_one, {.proposals = {1, 2, 3}})), IsEmpty());
  EXPECT_EQ(nms.stat("failures"), 3u);
  EXPECT_THAT(take_warnings(nms.bus()),
              ElementsAre(AllOf(HasSubstr("model-weights reads models, which they lack"),
                                HasSubstr("have the detector"), HasSubstr("set model-weights=\"\""))))
      << "one from start to stop";
  EXPECT_THAT(scores_of(nms, frame_of_models({0, 1, 0})), SizeIs(2)) << "the next frame is read";
  g_object_set(nms.element(), "model-weights", "", nullptr);
  EXPECT_THAT(scores_of(nms, frame_with(pair_and_one, {})), SizeIs(2)) << "the remedy";
}

TEST_P(each_fusion, counts_candidates_of_models_without_a_weight) {
  NmsHarness nms(properties() + " model-weights=1,3");
  for (int i = 0; i < 2; i++)
    EXPECT_THAT(scores_of(nms, frame_of_models({2, 1, std::numeric_limits<std::uint32_t>::max()})), SizeIs(1));
  EXPECT_EQ(nms.stat("invalid"), 4u);
  EXPECT_EQ(nms.stat("failures"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()),
              ElementsAre(AllOf(HasSubstr("2 candidates of a frame are of models that have no weight"),
                                HasSubstr("model-weights has 2"), HasSubstr("see invalid in stats"))));
  g_object_set(nms.element(), "model-weights", "", nullptr);
  EXPECT_THAT(scores_of(nms, frame_of_models({2, 1, 99})), SizeIs(2)) << "models are not read";
  EXPECT_EQ(nms.stat("invalid"), 4u);
}

TEST_P(each_fusion, takes_an_empty_frame) {
  NmsHarness nms(properties() + " model-weights=1,3");
  EXPECT_THAT(scores_of(nms, frame_with({}, {})), IsEmpty());
  EXPECT_EQ(nms.stat("failures"), 0u);
  EXPECT_THAT(take_warnings(nms.bus()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, each_fusion, testing::Values("nmw", "wbf"),
                         [](const auto& info) { return std::string(info.param); });

TEST(crowdnms_models, may_be_there_beside_what_a_rule_reads) {
  NmsHarness nms(weighing + "method=nmw rule=set model-weights=0.5,2");
  EXPECT_THAT(scores_of(nms, frame_with(pair_and_one, {.proposals = {7, 7, 8}, .models = {0, 1, 0}})),
              ElementsAre(.25f, .1875f, .125f))
      << "of one proposal";
  EXPECT_THAT(scores_of(nms, frame_of_models({0, 1, 0})), IsEmpty());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("rule=set reads proposals")));
  nms.restart();
  EXPECT_THAT(scores_of(nms, frame_with(pair_and_one, {.proposals = {7, 7, 8}})), IsEmpty());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("model-weights reads models")));
}

TEST(crowdnms_models, regions_have_none) {
  NmsHarness nms("method=wbf model-weights=1");
  EXPECT_THAT(rectangles(nms.pass(frame_with_region()).get()), IsEmpty());
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(HasSubstr("model-weights reads models")));
}

TEST(crowdnms_models, of_further_metas_are_not_read) {
  // The first meta counts, whole; others stay as they are.
  NmsHarness nms(weighing + "method=wbf model-weights=1,3");
  Ref<GstBuffer> buffer = frame_of_models({0, 1, 0});
  add_boxes(buffer.get(), pair_and_one, {.frame_width = 640, .frame_height = 480});
  const auto out = nms.pass(std::move(buffer));
  EXPECT_THAT(survivors_of(out.get()).scores, ElementsAre(.375f, .125f));
  EXPECT_NE(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
}

TEST(crowdnms_models, weights_that_are_none_are_an_error_at_the_start) {
  const std::pair<const char*, const char*> wrong[] = {
      {"1,x", "has \"x\": write one finite number from 0 on"},
      {"1;2", "\"1;2\""},
      {"1,,2", "has \"\""},
      {"1,-0.5", "\"-0.5\""},
      {"inf", "\"inf\""},
      {"nan,1", "\"nan\""},
      {"1e39", "\"1e39\""},
      {"0,0", "are 0, give one model more"},
      {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "has 17 weights, name at most 16"},
  };
  for (const auto& [weights, words] : wrong) {
    const std::string text = start_error(std::string("crowdnms model-weights=\"") + weights + "\"");
    EXPECT_THAT(text, AllOf(HasSubstr(words), HasSubstr("model-weights"))) << weights;
  }
  NmsHarness most(weighing + "method=wbf model-weights=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3");
  EXPECT_THAT(scores_of(most, frame_of_models({15, 15, 15})), SizeIs(2));
}

TEST(crowdnms_models, weights_that_are_none_leave_it_as_it_was_while_it_plays) {
  NmsHarness nms(weighing + "method=wbf model-weights=1,3");
  g_object_set(nms.element(), "model-weights", "1,3,", nullptr);
  g_object_set(nms.element(), "model-weights", "2,-1", nullptr);
  for (int i = 0; i < 2; i++)
    EXPECT_THAT(scores_of(nms, frame_of_models({0, 1, 0})), ElementsAre(.375f, .125f));
  EXPECT_THAT(take_warnings(nms.bus()), ElementsAre(AllOf(HasSubstr("model-weights has \"-1\""),
                                                          HasSubstr("The previous settings stay in force"))));
  g_object_set(nms.element(), "model-weights", "3,1", nullptr);
  EXPECT_THAT(scores_of(nms, frame_of_models({1, 0, 1})), ElementsAre(.375f, .125f));
}

TEST(crowdnms_models, weights_come_back_as_they_were_set) {
  NmsHarness nms("model-weights=\"2, 1\"");
  gchar* weights = nullptr;
  g_object_get(nms.element(), "model-weights", &weights, nullptr);
  EXPECT_STREQ(weights, "2, 1");
  g_free(weights);
}

TEST(crowdnms_models, weigh_on_the_gpu_as_on_the_cpu) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK) {
    ASSERT_STRNE(g_getenv("CROWD_REQUIRE_GPU"), "1") << crowd_nms_last_error();
    GTEST_SKIP() << crowd_nms_last_error();
  }
  constexpr unsigned seed = 11;
  std::mt19937 random(seed);
  for (const char* properties : {"method=wbf model-weights=2,0.5,1 ", "method=nmw model-weights=2,0.5,1 ",
                                 "method=nmw rule=set model-weights=2,0.5,1 "}) {
    NmsHarness cpu(properties + std::string("backend=cpu")), gpu(properties + std::string("backend=cuda"));
    for (int round = 0; round < 20; round++) {
      const unsigned n = random() % 2000;
      Ref<GstBuffer> buffer = make_frame(640, 480);
      add_boxes(buffer.get(), random_candidates(random, n), {.frame_width = 640, .frame_height = 480});
      add_random_arrays(buffer.get(), random, n);
      const auto expected = cpu.pass(Ref<GstBuffer>(gst_buffer_copy(buffer.get())));
      const auto got = gpu.pass(std::move(buffer));
      ASSERT_EQ(described(got.get()), described(expected.get())) << properties << "seed " << seed << " round " << round;
    }
    EXPECT_EQ(gpu.stat_text("backend"), "cuda");
    for (const char* counter : {"candidates", "survivors", "invalid", "failures"})
      EXPECT_EQ(gpu.stat(counter), cpu.stat(counter)) << counter;
  }
}

}  // namespace
