// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowddetect cannot do: counted, and one warning a run on the bus.

#include <gmock/gmock.h>

#include <functional>
#include <optional>

#include "crowddetect_support.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A crowddetect and its bus.
class Detect {
 public:
  explicit Detect(const std::string& properties, const std::string& caps = caps_of("GRAY8"))
      : harness_(harness_of(properties, caps)) {
    bus_.emplace(element_of(harness_).get());
  }

  Found find(const cv::Mat& picture) {
    return read(pass(harness_, frame_of(picture, "GRAY8")).get());
  }
  Found find(unsigned w, unsigned h) {
    return find(cv::Mat(static_cast<int>(h), static_cast<int>(w), CV_8U, cv::Scalar(99)));
  }
  void set_caps(unsigned w, unsigned h) {
    gst_harness_set_src_caps_str(harness_.get(), caps_of("GRAY8", w, h).c_str());
  }
  void set(const char* property, const char* value) {
    gst_util_set_object_arg(G_OBJECT(element_of(harness_).get()), property, value);
  }
  void restart() {
    gst_element_set_state(element_of(harness_).get(), GST_STATE_READY);
    gst_element_set_state(element_of(harness_).get(), GST_STATE_PLAYING);
    set_caps(width, height);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness_.get(), gst_event_new_segment(&segment));
  }
  guint64 stat(const char* field) {
    return crowd::test::stat(harness_, field);
  }
  std::vector<std::string> warnings() {
    return bus_->warnings();
  }
  const Ref<GstHarness>& harness() {
    return harness_;
  }

 private:
  Ref<GstHarness> harness_;
  std::optional<ElementBus> bus_;
};

TEST(crowddetect_warnings, of_frames_that_are_too_short) {
  Detect detect(quick);
  for (int i = 0; i < 3; i++) {
    const auto out = pass(detect.harness(), Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 100, nullptr)));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(read(out.get()).count, 0u);
  }
  EXPECT_EQ(detect.stat("failures"), 3u);
  EXPECT_THAT(detect.warnings(), ElementsAre(AllOf(HasSubstr("100 bytes"), HasSubstr("307200"),
                                                   HasSubstr("rawvideoparse"), HasSubstr("failures in stats"))));
  EXPECT_GT(detect.find(picture_of_people()).count, 0u) << "the next good frame is searched";
}

TEST(crowddetect_warnings, of_a_min_size_that_enlarges_beyond_measure) {
  for (const char* detector : {"people", "face-lbp"}) {
    Detect detect(std::string("min-size=1 detector=") + detector);
    for (int i = 0; i < 2; i++)
      EXPECT_EQ(detect.find(picture_of_people()).count, 0u);
    EXPECT_EQ(detect.stat("failures"), 2u);
    EXPECT_THAT(detect.warnings(), ElementsAre(AllOf(HasSubstr("Raise min-size"), testing::Not(HasSubstr("cpp:")))));
  }
}

struct EmptyRange {
  const char* properties;
  unsigned width, height;
  const char* says;
  const char* remedy;
};

void PrintTo(const EmptyRange& range, std::ostream* out) {
  *out << range.properties << " " << range.width << "x" << range.height;
}

class empty_range : public testing::TestWithParam<EmptyRange> {};

TEST_P(empty_range, is_counted_and_said_once) {
  const EmptyRange& range = GetParam();
  Detect detect(range.properties, caps_of("GRAY8", range.width, range.height));
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(detect.find(range.width, range.height).count, 0u);
  EXPECT_EQ(detect.stat("failures"), 3u);
  EXPECT_THAT(detect.warnings(),
              ElementsAre(AllOf(HasSubstr("Nothing can be found"), HasSubstr(range.says), HasSubstr(range.remedy))));
}

INSTANTIATE_TEST_SUITE_P(
    all, empty_range,
    testing::Values(
        EmptyRange{"min-size=200 max-size=100", 640, 480, "max-size 100 is less than min-size 200", "max-size to 0"},
        EmptyRange{"max-size=50", 640, 480, "min-size 0, which means 88", "max-size to 0"},
        EmptyRange{"min-size=490", 640, 480, "640x480 hold no window of min-size 490", "min-size to at most 480"},
        EmptyRange{"min-size=300", 120, 480, "120x480 hold no window", "min-size to at most 240"},
        EmptyRange{"", 40, 60, "40x60 hold no window of min-size 0, which means 88", "min-size to at most 60"},
        EmptyRange{"detector=face-haar min-size=200 max-size=100", 640, 480, "less than min-size 200", "max-size to 0"},
        EmptyRange{"detector=face-haar max-size=20", 640, 480, "which means 24", "max-size to 0"},
        EmptyRange{"detector=face-lbp min-size=481", 640, 480, "hold no window of min-size 481", "at most 480"},
        EmptyRange{"detector=face-lbp", 23, 20, "23x20 hold no window", "at most 20"}));

TEST(crowddetect_warnings, name_a_min_size_that_the_frame_has_room_for) {
  Detect people("min-size=240", caps_of("GRAY8", 120, 480));
  people.find(120, 480);
  Detect faces("detector=face-lbp min-size=20", caps_of("GRAY8", 23, 20));
  faces.find(23, 20);
  for (Detect* detect : {&people, &faces}) {
    EXPECT_EQ(detect->stat("failures"), 0u);
    EXPECT_THAT(detect->warnings(), IsEmpty());
  }
}

// A size range of one size: 128 / (128 / 196) is more than 196 in doubles.
TEST(crowddetect_warnings, do_not_come_where_min_size_is_max_size) {
  Detect detect("min-size=196 max-size=196 fit=window");
  const Found found = detect.find(picture_of_people());
  EXPECT_GT(found.count, 0u);
  EXPECT_EQ(detect.stat("failures"), 0u);
}

TEST(crowddetect_warnings, of_a_range_that_new_caps_empty) {
  Detect detect("min-size=300");
  detect.find(640, 480);
  EXPECT_THAT(detect.warnings(), IsEmpty());
  detect.set_caps(320, 240);
  detect.find(320, 240);
  EXPECT_EQ(detect.stat("failures"), 1u);
  EXPECT_THAT(detect.warnings(), ElementsAre(HasSubstr("320x240")));
}

TEST(crowddetect_warnings, of_properties_that_change_while_playing) {
  Detect detect(quick);
  detect.find(640, 480);
  EXPECT_THAT(detect.warnings(), IsEmpty());
  detect.set("max-size", "100");
  detect.find(640, 480);
  EXPECT_THAT(detect.warnings(), ElementsAre(HasSubstr("max-size 100 is less than min-size 128")));
  detect.set("max-size", "0");
  detect.set("win-stride", "12");
  detect.find(640, 480);
  EXPECT_THAT(detect.warnings(), ElementsAre(HasSubstr("win-stride 12")));
  EXPECT_EQ(detect.stat("failures"), 1u);
}

TEST(crowddetect_warnings, come_again_after_a_restart) {
  Detect detect("min-size=200 max-size=100");
  for (int run = 0; run < 2; run++) {
    for (int i = 0; i < 2; i++)
      detect.find(640, 480);
    EXPECT_EQ(detect.warnings().size(), 1u) << run;
    EXPECT_EQ(detect.stat("failures"), 2u) << run;
    detect.restart();
  }
}

TEST(crowddetect_warnings, of_candidates_beyond_max_candidates) {
  Detect detect(quick + "max-candidates=3");
  for (int i = 0; i < 2; i++)
    EXPECT_GT(detect.find(picture_of_people()).count, 3u);
  EXPECT_GT(detect.stat("overflow"), 0u);
  EXPECT_THAT(detect.warnings(), ElementsAre(AllOf(HasSubstr(std::to_string(detect.stat("overflow") / 2) + " of the "),
                                                   HasSubstr("worst-scored"), HasSubstr("Raise max-candidates"))));
  EXPECT_EQ(detect.stat("failures"), 0u);
}

TEST(crowddetect_warnings, of_a_stride_that_costs_name_the_cost) {
  for (const char* stride : {"4", "7", "12"}) {
    Detect detect(std::string("scale-factor=4 min-size=256 win-stride=") + stride);
    for (int i = 0; i < 2; i++)
      detect.find(640, 480);
    EXPECT_THAT(detect.warnings(), ElementsAre(AllOf(HasSubstr(std::string("win-stride ") + stride),
                                                     HasSubstr("25 times"), HasSubstr("Set win-stride=8"))));
    EXPECT_EQ(detect.stat("failures"), 0u);
  }
  for (const char* properties : {"win-stride=8", "win-stride=16", "win-stride=7 detector=face-lbp"}) {
    Detect detect(std::string("scale-factor=4 min-size=256 ") + properties);
    detect.find(640, 480);
    EXPECT_THAT(detect.warnings(), IsEmpty()) << properties;
  }
}

TEST(crowddetect_warnings, do_not_come_where_all_is_well) {
  Detect detect(quick);
  EXPECT_GT(detect.find(picture_of_people()).count, 0u);
  EXPECT_THAT(detect.warnings(), IsEmpty());
}

}  // namespace
