// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowdnms on random frames: what the library says, and on the GPU what it says on the CPU.

#include <crowd/nms.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include "nms_harness.hpp"
#include "tables.hpp"

namespace {

using namespace crowd::test;

struct Expected {
  std::vector<std::uint32_t> survivors;
  std::vector<CrowdNmsBox> boxes;
  std::vector<float> scores;
};

// What crowd_nms_cpu() says, called directly.
Expected expected_survivors(const CrowdNmsParams& params, const std::vector<Candidate>& candidates) {
  const auto n = static_cast<std::uint32_t>(candidates.size());
  std::vector<CrowdNmsBox> boxes;
  std::vector<float> score;
  std::vector<std::int32_t> classes;
  for (const Candidate& c : candidates) {
    boxes.push_back({c.x1, c.y1, c.x2, c.y2});
    score.push_back(c.score);
    classes.push_back(c.class_id);
  }
  std::vector<std::uint32_t> survivors(n);
  std::vector<CrowdNmsBox> out_boxes(n);
  std::vector<float> scores(n);
  CrowdNmsReport report;
  CrowdNmsCandidates in{};
  in.boxes = boxes.data();
  in.scores = score.data();
  in.classes = classes.data();
  in.frames = 1;
  in.capacity = n;
  const CrowdNmsSurvivors out = {survivors.data(), nullptr,       nullptr, &report, n, 0,
                                 out_boxes.data(), scores.data(), {}};
  const std::size_t bytes = (crowd_nms_cpu_workspace_bytes(&params, 1, n) + 63) / 64 * 64;
  const std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(64, bytes), &std::free);
  EXPECT_EQ(crowd_nms_cpu(&params, &in, &out, workspace.get(), bytes), CROWD_NMS_OK) << crowd_nms_last_error();
  survivors.resize(report.survivors);
  return {std::move(survivors), std::move(out_boxes), std::move(scores)};
}

std::vector<Candidate> random_crowd(std::mt19937& random, unsigned n) {
  std::uniform_real_distribution<float> x(-40, 640), y(-30, 480), size(1, 90), jitter(-6, 6);
  std::uniform_int_distribution<int> score(0, 40), class_id(0, 2);
  std::vector<Candidate> crowd;
  Candidate face{};
  for (unsigned i = 0; i < n; i++) {
    if (i % 8 == 0) {
      face = {x(random), y(random), 0, 0, 0, class_id(random)};
      face.x2 = face.x1 + size(random), face.y2 = face.y1 + size(random);
    }
    const float dx = jitter(random), dy = jitter(random);
    crowd.push_back(
        {face.x1 + dx, face.y1 + dy, face.x2 + dx, face.y2 + dy, float(score(random)) / 40 - .1f, face.class_id});
  }
  return crowd;
}

/// All regions with all their structures.
std::vector<std::string> describe(GstBuffer* buffer) {
  std::vector<std::string> all = rectangles(buffer);
  gpointer state = nullptr;
  for (std::string& text : all) {
    GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    for (GList* link = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->params; link; link = link->next) {
      gchar* structure = gst_structure_to_string(static_cast<GstStructure*>(link->data));
      text += std::string(" ") + structure;
      g_free(structure);
    }
  }
  return all;
}

TEST(crowdnms, agrees_with_the_library_on_random_frames) {
  constexpr unsigned seed = 20201121;
  std::mt19937 random(seed);
  const std::vector<CrowdNmsMethod> methods = methods_of(CROWD_NMS_BACKEND_CPU);
  const std::vector<CrowdNmsMerge> merges = all_merges();
  for (std::size_t round = 0; round < 10 * methods.size(); round++) {
    const CrowdNmsMethod method = methods[round % methods.size()];
    const unsigned n = 1 + random() % 1500;
    const float threshold = .2f + .1f * float(round % 6);
    const bool agnostic = round % 4 == 0;
    CrowdNmsParams params;
    crowd_nms_params_init(&params);
    params.method = method;
    params.overlap_threshold = threshold;
    params.class_agnostic = agnostic;
    params.score_threshold = 0;
    params.paper_d_max = 16384;
    params.merge = merges[random() % merges.size()];
    params.cluster_score = CrowdNmsClusterScore(random() % (CROWD_NMS_CLUSTER_SCORE_SUM + 1));
    params.min_members = random() % 3;
    params.models = 1 + random() % 3;
    const std::vector<Candidate> crowd = random_crowd(random, n);
    const auto [expected, boxes, scores] = expected_survivors(params, crowd);
    NmsHarness nms(std::string("score-threshold=0 method=") + crowd_nms_method_info(method)->name);
    g_object_set(nms.element(), "iou-threshold", threshold, "class-agnostic", agnostic, "merge", params.merge,
                 "cluster-score", params.cluster_score, "min-members", params.min_members, "models", params.models,
                 nullptr);
    const auto out = nms.pass(crowd);
    const std::vector<Roi> found = rois(out.get());
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed << " round " << round << " n " << n;
    for (std::size_t i = 0; i < found.size(); i++) {
      const Candidate& c = crowd[expected[i]];
      ASSERT_EQ(float(*found[i].x_min * 640), boxes[i].x1) << "seed " << seed << " round " << round << " rank " << i;
      ASSERT_EQ(float(*found[i].y_max * 480), boxes[i].y2) << "seed " << seed << " round " << round << " rank " << i;
      ASSERT_EQ(*found[i].confidence, std::clamp(scores[i], 0.0f, 1.0f))
          << "seed " << seed << " round " << round << " rank " << i;
      ASSERT_EQ(*found[i].label_id, c.class_id) << "seed " << seed << " round " << round << " rank " << i;
    }
  }
}

TEST(crowdnms, writes_the_same_metadata_on_the_gpu) {
  if (crowd_nms_cuda_probe() != CROWD_NMS_OK) {
    ASSERT_STRNE(g_getenv("CROWD_REQUIRE_GPU"), "1") << crowd_nms_last_error();
    GTEST_SKIP() << crowd_nms_last_error();
  }
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  const std::vector<CrowdNmsMethod> methods = methods_of(CROWD_NMS_BACKEND_CUDA);
  for (const char* mode : {"mode=replace ", "mode=annotate "}) {
    NmsHarness cpu(mode + std::string("backend=cpu")), gpu(mode + std::string("backend=cuda"));
    for (int round = 0; round < 40; round++) {
      for (const NmsHarness* nms : {&cpu, &gpu})
        g_object_set(nms->element(), "method", methods[round % methods.size()], "iou-threshold",
                     .3f + .1f * float(round % 4), nullptr);
      const std::vector<Candidate> crowd = random_crowd(random, random() % 3000);
      const auto expected = cpu.pass(crowd), got = gpu.pass(crowd);
      ASSERT_TRUE(expected && got);
      ASSERT_EQ(describe(got.get()), describe(expected.get())) << mode << "seed " << seed << " round " << round;
    }
    EXPECT_EQ(gpu.stat("frames-on-gpu"), 40u);
    EXPECT_EQ(gpu.stat_text("backend"), "cuda");
    EXPECT_EQ(cpu.stat("frames-on-gpu"), 0u);
  }
}

}  // namespace
