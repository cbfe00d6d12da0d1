// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gst/gst.h>
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "inject/scene/random.hpp"
#include "inject/scene/recording.hpp"
#include "survivors.hpp"

namespace {

using crowd::scene::Box;
using crowd::scene::Recording;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

GstStructure* detection(const std::array<double, 4>& normalised, double confidence, int label_id) {
  return gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, normalised[0], "y_min", G_TYPE_DOUBLE, normalised[1],
                           "x_max", G_TYPE_DOUBLE, normalised[2], "y_max", G_TYPE_DOUBLE, normalised[3], "confidence",
                           G_TYPE_DOUBLE, confidence, "label_id", G_TYPE_INT, label_id, nullptr);
}

/// A frame with regions.
class Frame {
 public:
  explicit Frame(const char* caps = "video/x-raw,width=640,height=360") : buffer_(gst_buffer_new()) {
    GstCaps* parsed = gst_caps_from_string(caps);
    sample_ = gst_sample_new(buffer_, parsed, nullptr, nullptr);
    gst_caps_unref(parsed);
    gst_buffer_unref(buffer_);
  }
  ~Frame() {
    gst_sample_unref(sample_);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Takes the structures.
  void add(const char* label, const std::vector<GstStructure*>& params) {
    auto* roi = gst_buffer_add_video_region_of_interest_meta(buffer_, label, 10, 20, 30, 40);
    for (GstStructure* param : params)
      gst_video_region_of_interest_meta_add_param(roi, param);
  }
  std::string line() const {
    return crowd::survivors_line(7, sample_);
  }
  Recording replayed() const {
    crowd::scene::ReadFailure failure;
    auto recording = crowd::scene::parse_recording(line(), "line", crowd::scene::Format::automatic, true, failure);
    EXPECT_TRUE(recording) << failure.message;
    return recording ? std::move(*recording) : Recording();
  }

 private:
  GstBuffer* buffer_;
  GstSample* sample_;
};

std::string line_of(const char* label, const std::vector<GstStructure*>& params) {
  Frame frame;
  frame.add(label, params);
  return frame.line();
}

TEST(survivors, have_one_schema) {
  Frame frame;
  frame.add("person", {detection({.25, .5, .75, 1}, .5, 3),
                       gst_structure_new("nms", "members", G_TYPE_UINT, 4, "score", G_TYPE_DOUBLE, .75, "kept",
                                         G_TYPE_BOOLEAN, TRUE, nullptr)});
  frame.add("gone", {detection({0, 0, 1, 1}, 1, 0), gst_structure_new("nms", "kept", G_TYPE_BOOLEAN, FALSE, nullptr)});
  frame.add("bare", {});
  EXPECT_EQ(
      frame.line(),
      R"({"frame": 7, "pts": -1, "resolution": {"width": 640, "height": 360}, "objects": [)"
      R"({"box": [160, 180, 480, 360], "score": 0.5, "class": 3, "label": "person", "members": 4, "raw-score": 0.75}, )"
      R"({"box": [10, 20, 40, 60], "label": "bare", "members": 1}]})"
      "\n");
  EXPECT_EQ(Frame("audio/x-raw").line(), "{\"frame\": 7, \"pts\": -1, \"objects\": []}\n");
}

TEST(survivors, read_back_as_the_same_floats) {
  Frame frame;
  std::vector<Box> boxes;
  std::vector<float> scores;
  for (std::uint64_t i = 0; i < 5'000; i++) {
    const auto coordinate = [&](std::uint64_t which) {
      const std::uint64_t bits = crowd::scene::mix(4 * i + which);
      return static_cast<float>(std::ldexp(double(bits >> 40) - (1 << 23), int(bits % 60) - 40));
    };
    boxes.push_back({coordinate(0), coordinate(1), coordinate(2), coordinate(3)});
    scores.push_back(static_cast<float>(crowd::scene::mix(i) >> 40) / (1 << 24));
    // As crowdnms writes them.
    frame.add("a", {detection({boxes[i].x1 / 640.0, boxes[i].y1 / 360.0, boxes[i].x2 / 640.0, boxes[i].y2 / 360.0},
                              scores[i], static_cast<int>(i % 100))});
  }
  const Recording recording = frame.replayed();
  const auto view = recording.frame(7);
  EXPECT_EQ(std::vector<Box>(view.boxes.begin(), view.boxes.end()), boxes);
  EXPECT_EQ(std::vector<float>(view.scores.begin(), view.scores.end()), scores);
  ASSERT_EQ(view.classes.size(), 5'000u);
  EXPECT_EQ(view.classes[4'999], 99);
  EXPECT_EQ(recording.resolution().width, 640);
}

TEST(survivors, labels_are_json_whatever_they_are) {
  const std::string odd = "\"quoted\" \\ / \b\t\n\x01\x1f\x7f <\u00e9\U0001f600>";
  Frame frame;
  frame.add(odd.c_str(), {detection({0, 0, 1, 1}, 1, 0)});
  frame.add("not \xff UTF-8 \xc3", {detection({0, 0, 1, 1}, 1, 1)});
  EXPECT_THAT(frame.replayed().labels(), ElementsAre(odd, "not \ufffd UTF-8 \ufffd"));
  EXPECT_THAT(frame.line(), HasSubstr(R"("\"quoted\" \\ / \u0008\u0009\u000a\u0001\u001f)"));
}

TEST(survivors, without_a_score_or_a_class_have_none) {
  const auto text = line_of("a", {gst_structure_new("detection", "label_id", G_TYPE_INT, -1, nullptr)});
  EXPECT_THAT(text, HasSubstr(R"({"box": [10, 20, 40, 60], "label": "a", "members": 1})"));
  EXPECT_THAT(line_of("a", {gst_structure_new("nms", "score", G_TYPE_DOUBLE, .25, nullptr)}),
              HasSubstr(R"("score": 0.25)"));
  EXPECT_THAT(line_of("a", {gst_structure_new("detection", "confidence", G_TYPE_FLOAT, .25f, nullptr)}),
              HasSubstr(R"("score": 0.25)"));
}

TEST(survivors, what_is_not_finite_is_no_number) {
  for (const double odd : {no_number, HUGE_VAL, -HUGE_VAL, 1e300}) {
    EXPECT_THAT(line_of("a", {detection({0, 0, odd, 1}, .5, 0)}),
                HasSubstr(R"({"box": [10, 20, 40, 60], "score": 0.5)"));
    const std::string text = line_of("a", {detection({0, 0, 1, 1}, odd, 0)});
    EXPECT_THAT(text, HasSubstr(R"("score": null)"));
    crowd::scene::ReadFailure failure;
    EXPECT_FALSE(crowd::scene::parse_recording(text, "line", crowd::scene::Format::jsonl, true, failure));
    EXPECT_THAT(failure.message, HasSubstr("\"score\" is not a number"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
