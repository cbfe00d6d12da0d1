// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The parts of gst-crowd-launch.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "losses.hpp"
#include "options.hpp"
#include "pipeline.hpp"
#include "report.hpp"
#include "sweeper.hpp"
#include "tally.hpp"

namespace {

using crowd::DurationHistogram;
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

TEST(duration_histogram, quantiles_are_at_most_a_bucket_too_high) {
  DurationHistogram times;
  for (std::uint64_t ns = 1000; ns < 101000; ns += 10)
    times.add(ns);
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = 1000 + share * 100000;
    EXPECT_GE(static_cast<double>(times.quantile(share)), exact * 0.999) << share;
    EXPECT_LE(static_cast<double>(times.quantile(share)), exact * 1.035) << share;
  }
}

TEST(duration_histogram, takes_any_duration) {
  DurationHistogram times;
  EXPECT_EQ(times.quantile(0.5), 0u);
  times.add(0);
  EXPECT_LE(times.quantile(1.0), 1u);
  times.add(G_MAXUINT64);
  EXPECT_GE(times.quantile(1.0), G_MAXUINT64 / 2);
}

TEST(tally, keeps_sums_and_maxima) {
  crowd::Tally tally;
  tally.add({100, 7, 2000});
  tally.add({40, 9, 1000});
  EXPECT_EQ(tally.frames, 2u);
  EXPECT_EQ(tally.last.candidates, 40u);
  EXPECT_EQ(tally.total.candidates, 140u);
  EXPECT_EQ(tally.total.survivors, 16u);
  EXPECT_EQ(tally.most.candidates, 100u);
  EXPECT_EQ(tally.most.survivors, 9u);
  EXPECT_EQ(tally.most.nms_ns, 2000u);
}

TEST(progress_line, says_what_is_known) {
  crowd::Tally tally;
  tally.add({153, 9, 120'000});
  const std::string whole = crowd::progress_line(&tally, {0.25, 4}, 9.8, 10);
  for (const char* part :
       {"1/4", "candidates   153", "survivors    9", "nms 0.120 ms", "9.8 fps", "25 %", "0:30 to go"})
    EXPECT_NE(whole.find(part), std::string::npos) << part << " is not in: " << whole;
  const std::string live = crowd::progress_line(&tally, {}, 9.8, 10);
  EXPECT_EQ(live.find('%'), std::string::npos) << live;
  EXPECT_EQ(live.find("to go"), std::string::npos) << live;
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
  crowd::Tally tally;
  tally.add({10, 2, 500});
  const Stats stats = make_stats("backend=(string)cpu");
  crowd::Losses losses;
  losses.add("crowdoverlay", "o", make_stats("frames=(guint64)9,failures=(guint64)6").get());
  const std::string text = crowd::summary(tally, stats.get(), losses, 2.0, false);
  EXPECT_NE(text.find("lost        6 frames not drawn (o)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("backend cpu"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("done: 1 frames, 10 candidates, 2 survivors\n")) << text;
  const std::string without = crowd::summary({}, nullptr, losses, 2.0, false);
  EXPECT_NE(without.find("lost        6 frames not drawn (o)\n"), std::string::npos) << without;
  EXPECT_EQ(crowd::summary({}, nullptr, {}, 2.0, false).find("lost"), std::string::npos);
}

TEST(read_frame_counts, knows_a_frame_of_the_device) {
  const std::unique_ptr<GstStructure, decltype(&gst_structure_free)> message(
      gst_structure_new("crowdnms", "candidates", G_TYPE_UINT, 10u, "survivors", G_TYPE_UINT, 2u, "nms-time",
                        G_TYPE_UINT64, guint64{0}, "on-device", G_TYPE_BOOLEAN, TRUE, nullptr),
      gst_structure_free);
  const auto counts = crowd::read_frame_counts(message.get());
  ASSERT_TRUE(counts);
  EXPECT_TRUE(counts->on_device);
  EXPECT_EQ(counts->candidates, 10u);
}

std::string summary_with(const crowd::Tally& tally, guint64 timed, guint64 time) {
  const std::unique_ptr<GstStructure, decltype(&gst_structure_free)> stats(
      gst_structure_new("stats", "backend", G_TYPE_STRING, "cuda", "device-frames-timed", G_TYPE_UINT64, timed,
                        "device-time", G_TYPE_UINT64, time, nullptr),
      gst_structure_free);
  return crowd::summary(tally, stats.get(), {}, 2.0, false);
}

TEST(summary, says_how_long_the_device_worked) {
  crowd::Tally tally;
  for (int i = 0; i < 40; i++)
    tally.add({10, 2, 0, true});
  const std::string text = summary_with(tally, 2, 26'000);
  EXPECT_NE(text.find("nms         on the device 0.013 ms a frame, mean of 2 timed, backend cuda\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("0.000 ms"), std::string::npos) << text;
  EXPECT_EQ(text.find("median"), std::string::npos) << text;
  EXPECT_NE(crowd::progress_line(&tally, {}, 9.8, 10).find("nms on the device  9.8 fps"), std::string::npos);
  const std::string untimed = summary_with(tally, 0, 0);
  EXPECT_NE(untimed.find("nms         on the device, too few frames to be timed"), std::string::npos) << untimed;
}

TEST(summary, keeps_frames_of_the_device_out_of_the_times_of_the_host) {
  crowd::Tally tally;
  for (int i = 0; i < 40; i++)
    tally.add({10, 2, 0, true});
  tally.add({10, 2, 2'000'000, false});
  const std::string text = summary_with(tally, 2, 26'000);
  EXPECT_NE(text.find("median 2.000 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("on the device 0.013 ms a frame"), std::string::npos) << text;
}

TEST(frame_limit, is_the_least_of_the_pipeline) {
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
  const char* complaint;
};

TEST(sweeper, says_what_is_wrong) {
  const Pipeline pipeline = make_pipeline({"fakesrc", "name=source", "!", "identity", "name=id", "!", "fakesink"});
  const WrongSweep wrongs[] = {{{"nobody", "silent", {"true"}}, "no element is called nobody"},
                               {{"id", "nothing", {"1"}}, "no property nothing"},
                               {{"id", "stats", {"1"}}, "no property stats"},
                               {{"id", "eos-after", {"3", "many"}}, "many is no value for id.eos-after"},
                               {{"id", "drop-probability", {"1.5"}}, "1.5 is no value for id.drop-probability"}};
  for (const auto& [sweep, complaint] : wrongs) {
    const auto made = Sweeper::make(GST_BIN(pipeline.get()), sweep);
    const auto* text = std::get_if<std::string>(&made);
    ASSERT_NE(text, nullptr) << complaint;
    EXPECT_NE(text->find(complaint), std::string::npos) << *text;
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
