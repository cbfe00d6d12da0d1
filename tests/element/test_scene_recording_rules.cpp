// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Recordings of JSON lines, with what rules and weights of models of crowdnms read.

#include <gmock/gmock.h>

#include "recording_cases.hpp"

namespace {

using namespace crowd::scene;
using testing::ElementsAre;
using testing::IsEmpty;

std::string json_reason(const std::string& bad) {
  return reason(bad, R"({"objects": [{"box": [1, 2, 3, 4]}]})");
}

/// What is known of a frame's candidates beside boxes, in words.
std::vector<std::string> extras(const Recording& recording, std::uint64_t frame) {
  const auto view = recording.frame(frame);
  std::vector<std::string> all;
  for (const Extra& extra : view.extras) {
    std::string text = extra.density ? "d" + std::to_string(*extra.density).substr(0, 4) : "-";
    text += extra.proposal ? " p" + std::to_string(*extra.proposal) : " -";
    text += extra.visible ? " v" + std::to_string(int(extra.visible->x2)) : " -";
    text += extra.model ? " m" + std::to_string(*extra.model) : "";
    for (const float value : view.features.subspan(extra.first_feature, extra.feature_length))
      text += " " + std::to_string(int(value));
    all.push_back(text);
  }
  return all;
}

TEST(recording_rules, reads_what_rules_want) {
  const Parsed parsed = parse(
      R"({"frame": 3, "objects": [{"box": [0,0,1,1], "feature": [1, 2]}, {"box": [0,0,2,2], "feature": [3, 4]}]}
{"frame": 1, "objects": [{"box": [0,0,3,3], "density": 0.5, "proposal": 4294967295, "visible-box": [1,2,7,4], "feature": [5]}]}
{"frame": 2, "objects": [{"box": [0,0,4,4]}]}
{"frame": 4, "objects": [{"box": [0,0,4,4], "model": 0}, {"box": [0,0,4,4], "model": 15.0}]}
{"frame": 3, "objects": [{"box": [0,0,5,5], "feature": [6, 7], "density": 0}]})",
      true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(extras(*parsed.recording, 1), ElementsAre("d0.50 p4294967295 v7 5"));
  EXPECT_THAT(extras(*parsed.recording, 2), ElementsAre("- - -"));
  EXPECT_THAT(extras(*parsed.recording, 3), ElementsAre("- - - 1 2", "- - - 3 4", "d0.00 - - 6 7"));
  EXPECT_THAT(extras(*parsed.recording, 4), ElementsAre("- - - m0", "- - - m15"));
  EXPECT_THAT(boxes(*parsed.recording, 3), ElementsAre(Box{0, 0, 1, 1}, Box{0, 0, 2, 2}, Box{0, 0, 5, 5}));
}

TEST(recording_rules, recordings_without_what_rules_want_hold_nothing_of_it) {
  const Parsed parsed = parse(R"({"objects": [{"box": [0,0,1,1]}]})", true);
  EXPECT_THAT(parsed.recording->frame(0).extras, IsEmpty());
}

TEST(recording_rules, skipped_lines_leave_no_features) {
  const Parsed parsed = parse(R"({"objects": [{"box": [0,0,1,1], "feature": [1]}, {"box": [0,0,1,1]}]}
{"objects": [{"box": [0,0,1,1], "feature": [2]}]})");
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->skipped_lines(), 1u);
  EXPECT_THAT(extras(*parsed.recording, 1), ElementsAre("- - - 2"));
  EXPECT_THAT(parsed.recording->frame(1).features, ElementsAre(2));
}

TEST(recording_rules, what_rules_want_is_there_in_all_objects_or_in_none) {
  const auto two = [](const std::string& first, const std::string& second) {
    return json_reason("{\"objects\": [{\"box\": [0,0,1,1]" + first + "}, {\"box\": [0,0,1,1]" + second + "}]}");
  };
  for (const std::string member :
       {"\"density\": 1", "\"proposal\": 1", "\"visible-box\": [0,0,1,1]", "\"feature\": [1]", "\"model\": 1"}) {
    const std::string name = member.substr(0, member.find(':'));
    EXPECT_EQ(two(", " + member, ""), name + " is there in some objects of the line and not in others");
    EXPECT_EQ(two("", ", " + member), name + " is there in some objects of the line and not in others");
  }
  EXPECT_EQ(two(R"(, "feature": [1, 2])", R"(, "feature": [1])"),
            "\"feature\" has 2 numbers in one object and 1 in another");
}

TEST(recording_rules, odd_values_of_what_rules_want_do_not_fit) {
  const auto one = [](const std::string& member) {
    return json_reason("{\"objects\": [{\"box\": [0,0,1,1], " + member + "}]}");
  };
  EXPECT_EQ(one(R"("density": "high")"), "\"density\" is not a number");
  EXPECT_EQ(one(R"("proposal": 0.5)"), "\"proposal\" is not a whole number from 0 to 4294967295");
  EXPECT_EQ(one(R"("proposal": 4294967296)"), "\"proposal\" is not a whole number from 0 to 4294967295");
  for (const std::string model : {"16", "-1", "0.5"})
    EXPECT_EQ(one("\"model\": " + model), "\"model\" is not a whole number from 0 to 15");
  EXPECT_EQ(one(R"("model": {"name": "net"})"), "\"model\" is not a number");
  EXPECT_EQ(one(R"("visible-box": [1, 2, 3])"), "\"visible-box\" is not an array of four numbers, [x1, y1, x2, y2]");
  EXPECT_EQ(one(R"("feature": [])"), "\"feature\" is not an array of numbers");
  EXPECT_EQ(one(R"("feature": 3)"), "\"feature\" is not an array of numbers");
  EXPECT_EQ(one(R"("feature": [1, null])"), "a number of \"feature\" is not a number");
  std::string many = "\"feature\": [0";
  for (int i = 0; i < 4096; i++)
    many += ",0";
  EXPECT_EQ(one(many + "]"), "\"feature\" has more than 4096 numbers");
}

}  // namespace
