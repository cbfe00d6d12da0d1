// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The parts of crowd-launch.

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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

TEST(summary, names_what_was_lost) {
  crowd::Tally tally;
  tally.add({10, 2, 500});
  const std::unique_ptr<GstStructure, decltype(&gst_structure_free)> stats(
      gst_structure_new("stats", "backend", G_TYPE_STRING, "cpu", "overflow", G_TYPE_UINT64, guint64{12}, "invalid",
                        G_TYPE_UINT64, guint64{0}, nullptr),
      gst_structure_free);
  const std::string text = crowd::summary(tally, stats.get(), 2.0, false);
  EXPECT_NE(text.find("lost        12 over max-candidates\n"), std::string::npos) << text;
  EXPECT_NE(text.find("backend cpu"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("done: 1 frames, 10 candidates, 2 survivors\n")) << text;
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
