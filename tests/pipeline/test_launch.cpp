// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The parts of gst-crowd-launch.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "counts.hpp"
#include "losses.hpp"
#include "options.hpp"
#include "pipeline.hpp"
#include "report.hpp"
#include "sweeper.hpp"

namespace {

using crowd::Sweep;
using crowd::Sweeper;

struct Unref {
  void operator()(GstElement* element) const {
    gst_object_unref(element);
  }
};
using Pipeline = std::unique_ptr<GstElement, Unref>;

Pipeline make_pipeline(const std::vector<std::string>& words) {
  return Pipeline(crowd::parse_pipeline("test", words));
}

TEST(parse_sweep, splits_name_property_and_values) {
  const auto sweep = crowd::parse_sweep("my.nms.method=greedy,map-reduce");
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->element, "my.nms");
  EXPECT_EQ(sweep->property, "method");
  EXPECT_EQ(sweep->values, (std::vector<std::string>{"greedy", "map-reduce"}));
}

TEST(parse_sweep, takes_values_with_dots_and_equals) {
  const auto sweep = crowd::parse_sweep("n.p=0.25,a=b");
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->property, "p");
  EXPECT_EQ(sweep->values, (std::vector<std::string>{"0.25", "a=b"}));
}

TEST(parse_sweep, refuses_what_is_no_sweep) {
  for (const char* text : {"", "method", "method=greedy", ".p=1", "n.=1", "n.p=", "n.p=,2", "n.p=1,,2", "n=p.q"})
    EXPECT_FALSE(crowd::parse_sweep(text)) << text;
}

crowd::Counts make_counts(std::uint64_t frames, std::uint64_t nms_ns) {
  crowd::Counts counts;
  counts.frames = frames;
  counts.nms_ns = nms_ns;
  counts.candidates = 10 * frames;
  counts.survivors = 2 * frames;
  counts.backend = "cpu";
  return counts;
}

TEST(progress_line, says_what_is_known) {
  crowd::Counts counts = make_counts(1, 120'000);
  counts.last_candidates = 153;
  counts.last_survivors = 9;
  const std::string whole = crowd::progress_line(&counts, counts, {0.25, 4}, 9.8, 10);
  for (const char* part :
       {"1/4", "candidates   153", "survivors    9", "nms 0.120 ms", "9.8 fps", "25 %", "0:30 to go"})
    EXPECT_NE(whole.find(part), std::string::npos) << part << " is not in: " << whole;
  const std::string live = crowd::progress_line(&counts, counts, {}, 9.8, 10);
  EXPECT_EQ(live.find('%'), std::string::npos) << live;
  EXPECT_EQ(live.find("to go"), std::string::npos) << live;
  const std::string idle = crowd::progress_line(&counts, {}, {}, 0, 10);
  EXPECT_EQ(idle.find("nms"), std::string::npos) << idle;
}

TEST(progress_line, gives_the_time_of_the_frames_since_the_line_before) {
  const crowd::Counts now = make_counts(30, 9'000'000);
  const crowd::Counts lately = now.since(make_counts(20, 1'000'000));
  EXPECT_EQ(lately.frames, 10u);
  EXPECT_EQ(lately.candidates, 100u);
  EXPECT_EQ(lately.survivors, 20u);
  const std::string line = crowd::progress_line(&now, lately, {}, 9.8, 10);
  EXPECT_NE(line.find("nms 0.800 ms"), std::string::npos) << line;
}

struct Free {
  void operator()(GstStructure* structure) const {
    gst_structure_free(structure);
  }
};
using Stats = std::unique_ptr<GstStructure, Free>;

/// Counters of an element: `frames=(guint64)3,failures=(guint64)2`.
Stats make_stats(const std::string& fields) {
  return Stats(gst_structure_from_string(("stats," + fields).c_str(), nullptr));
}

TEST(losses, are_named_with_their_element) {
  crowd::Losses losses;
  EXPECT_FALSE(losses.known());
  losses.add("crowddetect", "crowddetect0", make_stats("searched=(guint64)20,failures=(guint64)12").get());
  losses.add("crowdinject", "i", make_stats("frames=(guint64)9,overflow=(guint64)3,skipped-lines=(guint64)4").get());
  losses.add("crowdnms", "n",
             make_stats("frames=(guint64)9,failures=(guint64)1,overflow=(guint64)2,invalid=(guint64)5,"
                        "clipped=(guint64)7")
                 .get());
  losses.add("crowdoverlay", "o", make_stats("frames=(guint64)9,failures=(guint64)6").get());
  EXPECT_TRUE(losses.known());
  EXPECT_EQ(losses.text(),
            "12 frames not searched (crowddetect0), 4 lines skipped (i), 3 candidates over max-candidates (i), "
            "1 frames not clustered (n), 2 candidates over max-candidates (n), 5 invalid candidates (n), "
            "7 survivors over max-detections (n), 6 frames not drawn (o)");
  EXPECT_TRUE(losses.failed().empty());
}

TEST(losses, are_nothing_where_there_are_none) {
  crowd::Losses losses;
  losses.add("crowdnms", "n", make_stats("frames=(guint64)9,failures=(guint64)0").get());
  EXPECT_TRUE(losses.known());
  EXPECT_EQ(losses.text(), "nothing");
  EXPECT_TRUE(losses.failed().empty());
}

TEST(losses, of_every_frame_are_failures_of_the_element) {
  crowd::Losses losses;
  losses.add("crowddetect", "some", make_stats("frames=(guint64)9,searched=(guint64)9,failures=(guint64)8").get());
  losses.add("crowddetect", "all", make_stats("frames=(guint64)9,searched=(guint64)3,failures=(guint64)3").get());
  losses.add("crowdoverlay", "none", make_stats("frames=(guint64)0,failures=(guint64)0").get());
  losses.add("crowdoverlay", "drawn", make_stats("frames=(guint64)4,failures=(guint64)4").get());
  EXPECT_EQ(losses.failed(), (std::vector<std::string>{"all", "drawn"}));
}

TEST(losses, of_elements_of_others_are_theirs) {
  crowd::Losses losses;
  losses.add("fakesink", "s", make_stats("frames=(guint64)4,failures=(guint64)4").get());
  EXPECT_FALSE(losses.known());
  EXPECT_TRUE(losses.failed().empty());
  const Pipeline pipeline = make_pipeline({"fakesrc", "!", "identity", "!", "fakesink"});
  EXPECT_FALSE(crowd::read_losses(GST_BIN(pipeline.get())).known());
}

TEST(losses, are_read_off_all_elements_from_source_to_sink) {
  const Pipeline pipeline = make_pipeline({"videotestsrc", "num-buffers=2", "!", "video/x-raw,width=320,height=240",
                                           "!", "crowdinject", "name=i", "candidates=10", "max-candidates=4", "!",
                                           "crowdnms", "name=n", "max-detections=1", "!", "fakesink"});
  ASSERT_TRUE(pipeline);
  ASSERT_TRUE(crowd::play_to_end("test", pipeline.get()));
  const std::string text = crowd::read_losses(GST_BIN(pipeline.get())).text();
  EXPECT_TRUE(text.starts_with("12 candidates over max-candidates (i), 12 candidates over max-candidates (n)")) << text;
  EXPECT_NE(text.find("survivors over max-detections (n)"), std::string::npos) << text;
}

TEST(summary, names_what_was_lost) {
  const crowd::Counts counts = make_counts(1, 500);
  crowd::Losses losses;
  losses.add("crowdoverlay", "o", make_stats("frames=(guint64)9,failures=(guint64)6").get());
  const std::string text = crowd::summary(&counts, losses, 2.0, false);
  EXPECT_NE(text.find("lost        6 frames not drawn (o)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("backend cpu"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("done: 1 frames, 10 candidates, 2 survivors\n")) << text;
  const std::string without = crowd::summary(nullptr, losses, 2.0, false);
  EXPECT_NE(without.find("lost        6 frames not drawn (o)\n"), std::string::npos) << without;
  EXPECT_EQ(crowd::summary(nullptr, {}, 2.0, false).find("lost"), std::string::npos);
}

TEST(summary, says_how_much_a_frame) {
  const crowd::Counts counts = make_counts(40, 80'000'000);
  const std::string text = crowd::summary(&counts, {}, 2.0, false);
  for (const char* part : {"candidates  10.0 a frame\n", "survivors   2.0 a frame\n", "2.000 ms a frame, backend cpu\n",
                           "2.0 s, 20.0 fps\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  const crowd::Counts none;
  EXPECT_TRUE(crowd::summary(&none, {}, 2.0, false).ends_with("done: 0 frames, 0 candidates, 0 survivors\n"));
}

TEST(counts, are_those_of_the_stats) {
  const Stats stats = make_stats(
      "frames=(guint64)9,candidates=(guint64)90,survivors=(guint64)18,nms-time=(guint64)5,device-frames=(guint64)4,"
      "device-frames-timed=(guint64)2,device-time=(guint64)26,last-candidates=(uint)11,last-survivors=(uint)3,"
      "backend=(string)cuda");
  const crowd::Counts counts = crowd::read_counts(stats.get());
  EXPECT_EQ(counts.frames, 9u);
  EXPECT_EQ(counts.candidates, 90u);
  EXPECT_EQ(counts.survivors, 18u);
  EXPECT_EQ(counts.nms_ns, 5u);
  EXPECT_EQ(counts.device_frames, 4u);
  EXPECT_EQ(counts.device_timed, 2u);
  EXPECT_EQ(counts.device_ns, 26u);
  EXPECT_EQ(counts.last_candidates, 11u);
  EXPECT_EQ(counts.last_survivors, 3u);
  EXPECT_EQ(counts.backend, "cuda");
}

TEST(counts, are_read_off_a_crowdnms_that_has_stopped) {
  const Pipeline pipeline =
      make_pipeline({"videotestsrc", "num-buffers=5", "!", "video/x-raw,width=320,height=240", "!", "crowdinject",
                     "candidates=10", "!", "crowdnms", "name=n", "!", "fakesink"});
  ASSERT_TRUE(pipeline);
  ASSERT_TRUE(crowd::play_to_end("test", pipeline.get()));
  const std::unique_ptr<GstElement, Unref> nms(gst_bin_get_by_name(GST_BIN(pipeline.get()), "n"));
  const crowd::Counts counts = crowd::read_counts(nms.get());
  EXPECT_EQ(counts.frames, 5u);
  EXPECT_EQ(counts.candidates, 50u);
  EXPECT_EQ(counts.backend, "cpu");
}

/// Of 40 frames in CUDA memory.
crowd::Counts device_counts(std::uint64_t timed, std::uint64_t time) {
  crowd::Counts counts = make_counts(40, 0);
  counts.device_frames = 40;
  counts.device_timed = timed;
  counts.device_ns = time;
  counts.backend = "cuda";
  return counts;
}

TEST(summary, says_how_long_the_device_worked) {
  const crowd::Counts counts = device_counts(2, 26'000);
  const std::string text = crowd::summary(&counts, {}, 2.0, false);
  EXPECT_NE(text.find("nms         on the device 0.013 ms a frame, mean of 2 timed, backend cuda\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("0.000 ms"), std::string::npos) << text;
  EXPECT_NE(crowd::progress_line(&counts, counts, {}, 9.8, 10).find("nms on the device  9.8 fps"), std::string::npos);
  const crowd::Counts untimed = device_counts(0, 0);
  const std::string unknown = crowd::summary(&untimed, {}, 2.0, false);
  EXPECT_NE(unknown.find("nms         on the device, too few frames to be timed"), std::string::npos) << unknown;
}

TEST(summary, keeps_frames_of_the_device_out_of_the_times_of_the_host) {
  crowd::Counts counts = device_counts(2, 26'000);
  counts.frames++;
  counts.nms_ns = 2'000'000;
  const std::string text = crowd::summary(&counts, {}, 2.0, false);
  EXPECT_NE(text.find("nms         2.000 ms a frame"), std::string::npos) << text;
  EXPECT_NE(text.find("on the device 0.013 ms a frame"), std::string::npos) << text;
}

TEST(frame_limit, is_the_minimum_of_the_pipeline) {
  const Pipeline both =
      make_pipeline({"fakesrc", "num-buffers=9", "!", "fakesink", "fakesrc", "num-buffers=4", "!", "fakesink"});
  EXPECT_EQ(crowd::frame_limit(GST_BIN(both.get())), 4u);
  const Pipeline none = make_pipeline({"fakesrc", "!", "fakesink"});
  EXPECT_EQ(crowd::frame_limit(GST_BIN(none.get())), std::nullopt);
}

TEST(parse_pipeline, wraps_a_single_element) {
  const Pipeline single = make_pipeline({"fakesrc"});
  ASSERT_TRUE(single);
  EXPECT_TRUE(GST_IS_PIPELINE(single.get()));
  EXPECT_FALSE(make_pipeline({"fakesrc", "!", "nosuchelement"}));
}

struct WrongSweep {
  Sweep sweep;
  const char* problem;
};

TEST(sweeper, says_what_is_wrong) {
  const Pipeline pipeline = make_pipeline({"fakesrc", "name=source", "!", "identity", "name=id", "!", "fakesink"});
  const WrongSweep wrongs[] = {{{"missing", "silent", {"true"}}, "no element is called missing"},
                               {{"id", "nothing", {"1"}}, "no property nothing"},
                               {{"id", "stats", {"1"}}, "no property stats"},
                               {{"id", "eos-after", {"3", "many"}}, "many is no value for id.eos-after"},
                               {{"id", "drop-probability", {"1.5"}}, "1.5 is no value for id.drop-probability"}};
  for (const auto& [sweep, problem] : wrongs) {
    const auto made = Sweeper::make(GST_BIN(pipeline.get()), sweep);
    const auto* text = std::get_if<std::string>(&made);
    ASSERT_NE(text, nullptr) << problem;
    EXPECT_NE(text->find(problem), std::string::npos) << *text;
  }
}

TEST(sweeper, goes_round) {
  const Pipeline pipeline = make_pipeline({"fakesrc", "!", "identity", "name=id", "!", "fakesink"});
  auto made = Sweeper::make(GST_BIN(pipeline.get()), {"id", "error-after", {"30", "-1", "7"}});
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Sweeper>>(made));
  const auto& sweeper = std::get<std::unique_ptr<Sweeper>>(made);
  const std::unique_ptr<GstElement, Unref> identity(gst_bin_get_by_name(GST_BIN(pipeline.get()), "id"));
  for (const int expected : {30, -1, 7, 30}) {
    gint value = 0;
    g_object_get(identity.get(), "error-after", &value, nullptr);
    EXPECT_EQ(value, expected);
    EXPECT_EQ(sweeper->text(), "id.error-after=" + std::to_string(expected));
    sweeper->step();
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gst_init(&argc, &argv);
  const int status = RUN_ALL_TESTS();
  gst_deinit();
  return status;
}
