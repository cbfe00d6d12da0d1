// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The presets of crowdnms. Each rule is written here anew, in that project's arithmetic, sharing nothing with the
// library. test_crowdnms_presets_opencv.cpp and tests/pipeline/test_presets.py ask the projects themselves.

#include "presets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace {

using namespace crowd::test;

using Names = std::vector<std::string>;

/// Those of score `passes`, score descending, equal ones in their order.
template <typename Passes>
Indices ranked(const Frame& frame, Passes passes) {
  Indices order;
  for (std::size_t i = 0; i < frame.size(); i++) {
    if (passes(frame[i].score))
      order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return frame[a].score > frame[b].score; });
  return order;
}

/// Classic NMS: each meets those kept before it.
template <typename Overlaps>
Indices greedy(const Frame& frame, const Indices& order, Overlaps overlaps) {
  Indices kept;
  for (const std::size_t i : order) {
    if (std::ranges::none_of(kept, [&](std::size_t k) { return overlaps(frame[k], frame[i]); }))
      kept.push_back(i);
  }
  return kept;
}

// torchvision: corners in float32; the ratio is compared with the threshold as a double.
Indices torchvision_nms(const Frame& frame, const Indices& order, double threshold) {
  return greedy(frame, order, [threshold](const Candidate& a, const Candidate& b) {
    const float w = std::max(0.F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
    const float h = std::max(0.F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
    const float area_a = (a.x2 - a.x1) * (a.y2 - a.y1), area_b = (b.x2 - b.x1) * (b.y2 - b.y1);
    return double{w * h / (area_a + area_b - w * h)} > threshold;
  });
}

/// Moves each class to a place of its own.
Frame shifted_by_class(Frame frame, float step) {
  for (Candidate& c : frame) {
    const float shift = float(c.class_id) * step;
    c.x1 += shift, c.y1 += shift, c.x2 += shift, c.y2 += shift;
  }
  return frame;
}

Indices torchvision(const Frame& frame) {
  float furthest = 0;
  for (const Candidate& c : frame)
    furthest = std::max({furthest, c.x2, c.y2});
  return torchvision_nms(shifted_by_class(frame, furthest + 1), ranked(frame, [](float) { return true; }), .5);
}

Indices ultralytics(const Frame& frame) {
  Indices kept = torchvision_nms(shifted_by_class(frame, 7680), ranked(frame, [](float s) { return s > .25F; }), .7);
  kept.resize(std::min<std::size_t>(kept.size(), 300));
  return kept;
}

// OpenCV: areas in double, 1 - IoU rounded to float, the overlap is 1 less that.
Indices opencv(const Frame& frame) {
  return greedy(frame, ranked(frame, [](float s) { return s > .5F; }), [](const Candidate& a, const Candidate& b) {
    const auto area = [](double x1, double y1, double x2, double y2) {
      return std::max(0., x2 - x1) * std::max(0., y2 - y1);
    };
    const double both = area(std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2));
    const double either = area(a.x1, a.y1, a.x2, a.y2) + area(b.x1, b.y1, b.x2, b.y2) - both;
    return 1.F - float(1 - both / either) > .4F;
  });
}

// DeepStream: class by class, on left, top, width and height; all in float32, the threshold too.
Indices deepstream(const Frame& frame) {
  const auto common = [](float low_a, float size_a, float low_b, float size_b) {
    return std::max(0.F, std::min(low_a + size_a, low_b + size_b) - std::max(low_a, low_b));
  };
  const auto overlaps = [&](const Candidate& a, const Candidate& b) {
    const float wide_a = a.x2 - a.x1, high_a = a.y2 - a.y1, wide_b = b.x2 - b.x1, high_b = b.y2 - b.y1;
    const float both = common(a.x1, wide_a, b.x1, wide_b) * common(a.y1, high_a, b.y1, high_b);
    return both / (wide_a * high_a + wide_b * high_b - both) > .3F;
  };
  std::map<std::int32_t, Indices> classes;
  for (const std::size_t i : ranked(frame, [](float s) { return !(s < .2F); }))
    classes[frame[i].class_id].push_back(i);
  Indices kept;
  for (const auto& [label, order] : classes)
    std::ranges::copy(greedy(frame, order, overlaps), std::back_inserter(kept));
  std::ranges::sort(kept, [&](std::size_t a, std::size_t b) {
    return frame[a].score != frame[b].score ? frame[a].score > frame[b].score : a < b;
  });
  return kept;
}

// NNStreamer: whole pixels, the product of intersections in int, the rest in float32.
Indices nnstreamer(const Frame& frame) {
  const auto ratio = [](const Candidate& a, const Candidate& b) {
    const auto common = [](float low_a, float high_a, float low_b, float high_b) {
      return std::max(0, std::min(int(high_a), int(high_b)) - std::max(int(low_a), int(low_b)) + 1);
    };
    const auto size = [](const Candidate& c) { return float((int(c.x2) - int(c.x1)) * (int(c.y2) - int(c.y1))); };
    const auto both = float(common(a.x1, a.x2, b.x1, b.x2) * common(a.y1, a.y2, b.y1, b.y2));
    const float ratio = both / (size(a) + size(b) - both);
    return ratio >= 0 ? ratio : 0;
  };
  const auto overlaps = [&](const Candidate& a, const Candidate& b) { return ratio(a, b) > .5F; };
  return greedy(frame, ranked(frame, [](float s) { return s >= .5F; }), overlaps);
}

/// Of whole pixels; some boxes are tiny.
Frame whole_pixels(unsigned seed, std::size_t n) {
  Frame crowd = tied_crowd(seed, n);
  for (std::size_t i = 0; i < crowd.size(); i++) {
    Candidate& c = crowd[i];
    for (float* value : {&c.x1, &c.y1, &c.x2, &c.y2})
      *value = std::floor(*value);
    if (i % 9 == 0)
      c.x2 = c.x1 + float(1 + i % 4), c.y2 = c.y1 + float(1 + i % 3);
  }
  return crowd;
}

// Algorithms 1 and 2, row by row: D holds squares x, y, z with score s, and 0 behind the last.
Indices paper(const Frame& frame) {
  struct Detection {
    float x, y, z, s;
  };
  std::vector<Detection> d(4096);
  for (std::size_t i = 0; i < frame.size(); i++)
    d[i] = {frame[i].x1, frame[i].y1, frame[i].x2 - frame[i].x1, frame[i].score};
  Indices kept;
  for (const std::size_t i : ranked(frame, [](float) { return true; })) {
    const auto row = [&](const Detection& other) {
      if (!(d[i].s < other.s))
        return true;
      const float a = (other.z + 1) * (other.z + 1);
      const float w = std::max(0.F, std::min(d[i].x + d[i].z, other.x + other.z) - std::max(d[i].x, other.x) + 1);
      const float h = std::max(0.F, std::min(d[i].y + d[i].z, other.y + other.z) - std::max(d[i].y, other.y) + 1);
      return double{w * h / a} < .3 && other.z != 0;
    };
    if (std::ranges::all_of(d, row))
      kept.push_back(i);
  }
  return kept;
}

Frame squares(unsigned seed, std::size_t n) {
  Frame crowd = tied_crowd(seed, n);
  for (Candidate& c : crowd)
    c.y2 = c.y1 + (c.x2 - c.x1);
  return crowd;
}

Ref<GstElement> make_nms() {
  return Ref<GstElement>(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("crowdnms", nullptr))));
}

Names names_of_presets() {
  const auto nms = make_nms();
  gchar** names = gst_preset_get_preset_names(GST_PRESET(nms.get()));
  Names all;
  for (gchar** name = names; name && *name; name++)
    all.emplace_back(*name);
  g_strfreev(names);
  return all;
}

/// The properties that make a rule, as text.
Names rule_of(GstElement* nms, const std::string& preset) {
  Names properties = {
      "method",          "metric",         "iou-threshold", "comparator",    "pixel-offset", "class-agnostic",
      "score-threshold", "max-detections", "merge",         "cluster-score", "min-members",  "class-attrs",
      "class-filter",    "min-width",      "min-height",    "max-width",     "max-height",   "rule"};
  if (preset == "paper")
    properties.insert(properties.end(), {"paper-k", "paper-d-max"});
  Names all;
  for (const std::string& property : properties) {
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(nms), property.c_str(), &value);
    gchar* text = gst_value_serialize(&value);
    all.push_back(property + "=" + text);
    g_free(text);
    g_value_unset(&value);
  }
  return all;
}

TEST(crowdnms_presets, are_these) {
  EXPECT_EQ(names_of_presets(), (Names{"deepstream", "nnstreamer", "opencv", "paper", "torchvision", "ultralytics"}));
  const auto nms = make_nms();
  EXPECT_FALSE(gst_preset_load_preset(GST_PRESET(nms.get()), "no such preset"));
}

TEST(crowdnms_presets, say_what_they_equal_and_what_they_do_not) {
  const auto nms = make_nms();
  for (const std::string& name : names_of_presets()) {
    gchar* comment = nullptr;
    ASSERT_TRUE(gst_preset_get_meta(GST_PRESET(nms.get()), name.c_str(), "comment", &comment));
    EXPECT_NE(std::string(comment ? comment : "").find(". Not the same: "), std::string::npos) << name;
    g_free(comment);
  }
}

TEST(crowdnms_presets, leave_nothing_of_what_was_set_before) {
  for (const std::string& name : names_of_presets()) {
    const auto fresh = make_nms(), used = make_nms();
    g_object_set(used.get(), "method", 1, "metric", 1, "iou-threshold", .123, "comparator", 1, "pixel-offset", 1u,
                 "class-agnostic", TRUE, "score-threshold", 7., "max-detections", 9u, "paper-k", 16u, "paper-d-max",
                 64u, "merge", 1, "cluster-score", 1, "min-members", 2u, "class-attrs", "car,iou=0", "class-filter",
                 "car", "min-width", 2., "min-height", 2., "max-width", 3., "max-height", 3., "rule", 1, nullptr);
    const Names before = rule_of(used.get(), "paper"), defaults = rule_of(fresh.get(), "paper");
    for (std::size_t i = 0; i < before.size(); i++)
      EXPECT_NE(before[i], defaults[i]) << "not told from one that is not set";
    EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(fresh.get()), name.c_str()));
    EXPECT_TRUE(gst_preset_load_preset(GST_PRESET(used.get()), name.c_str()));
    EXPECT_EQ(rule_of(used.get(), name), rule_of(fresh.get(), name)) << name;
  }
}

TEST(crowdnms_presets, are_set_in_a_launch_line) {
  NmsHarness nms("max-candidates=5 @preset=ultralytics");
  double iou = 0;
  guint detections = 0, candidates = 0;
  g_object_get(nms.element(), "iou-threshold", &iou, "max-detections", &detections, "max-candidates", &candidates,
               nullptr);
  EXPECT_EQ(iou, .7);
  EXPECT_EQ(detections, 300u);
  EXPECT_EQ(candidates, 5u) << "is no rule, but what there is room for";
}

TEST(crowdnms_presets, torchvision_is_its_rule) {
  expect_rule("torchvision", torchvision, tied_crowd);
}

TEST(crowdnms_presets, opencv_is_its_rule) {
  expect_rule("opencv", opencv, tied_crowd);
}

TEST(crowdnms_presets, deepstream_is_its_rule) {
  expect_rule("deepstream", deepstream, tied_crowd);
}

TEST(crowdnms_presets, ultralytics_is_its_rule) {
  expect_rule("ultralytics", ultralytics, tied_crowd);
  EXPECT_EQ(ultralytics(tied_crowd(1, 1500)).size(), 300u) << "no frame has too many";
}

TEST(crowdnms_presets, nnstreamer_is_its_rule) {
  expect_rule("nnstreamer", nnstreamer, whole_pixels);
}

TEST(crowdnms_presets, paper_is_its_rule) {
  expect_rule("paper", paper, squares);
}

TEST(crowdnms_presets, paper_counts_what_its_matrix_has_no_room_for) {
  NmsHarness nms("@preset=paper");
  nms.pass(squares(1, 4100));
  EXPECT_EQ(nms.stat("last-overflow"), 4u);
}

}  // namespace
