// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// crowddetect with networks of one's own, on the CPU: the network of tinymodel.hpp, whose answers are known.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "crowddetect_support.hpp"
#include "detect/net/engine.hpp"
#include "temporary_file.hpp"
#include "tinymodel.hpp"

namespace {

using namespace crowd::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Files {
  TemporaryFile model{tiny_model(), ".onnx"};
  TemporaryFile description{tiny_description(), ".onnx.modelinfo"};
  std::string properties() const {
    return "detector=network engine=opencv model=" + model.path + " ";
  }
};

/// A picture whose left half is red, as strong as that, and whose right half is blue.
Ref<GstBuffer> red_and_blue(int w, int h, std::uint8_t red = 255, std::uint8_t blue = 255) {
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, static_cast<gsize>(w * h * 4), nullptr));
  GstMapInfo map;
  EXPECT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const std::uint8_t pixel[4] = {x < w / 2 ? red : std::uint8_t{0}, 0, x < w / 2 ? std::uint8_t{0} : blue, 255};
      std::memcpy(map.data + (y * w + x) * 4, pixel, sizeof pixel);
    }
  gst_buffer_unmap(buffer.get(), &map);
  return buffer;
}

/// What a frame of 64x64 holds by default: eight cells a class, all with the one box that the network knows.
std::vector<Candidate> expected(int reds, float red, int blues, float blue, float x = 0, float y = 0, float scale = 2) {
  std::vector<Candidate> all;
  // Cells come row by row: two red ones, then two blue ones.
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < reds / 4; k++)
      all.push_back({x + 10 * scale, y + 8 * scale, x + 22 * scale, y + 16 * scale, red, 0});
    for (int k = 0; k < blues / 4; k++)
      all.push_back({x + 10 * scale, y + 8 * scale, x + 22 * scale, y + 16 * scale, blue, 1});
  }
  return all;
}

void expect_near(const std::vector<Candidate>& got, const std::vector<Candidate>& want, float tolerance = 1e-4F) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); i++) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(got[i].x1, want[i].x1, tolerance);
    EXPECT_NEAR(got[i].y1, want[i].y1, tolerance);
    EXPECT_NEAR(got[i].x2, want[i].x2, tolerance);
    EXPECT_NEAR(got[i].y2, want[i].y2, tolerance);
    EXPECT_NEAR(got[i].score, want[i].score, tolerance);
    EXPECT_EQ(got[i].class_id, want[i].class_id);
  }
}

const std::string square = caps_of("RGBA", 64, 64);

TEST(crowddetect_network, hands_on_what_the_network_finds_raw) {
  const Files files;
  const auto harness = harness_of(files.properties(), square);
  const Found found = read(pass(harness, red_and_blue(64, 64)).get());
  EXPECT_EQ(found.count, 16U);
  EXPECT_EQ(found.frame_width, 64U);
  expect_near(found.candidates, expected(8, 1, 8, 1));
  EXPECT_EQ(stat(harness, "candidates"), 16U);
  EXPECT_EQ(stat(harness, "failures"), 0U);
}

TEST(crowddetect_network, hands_on_nothing_below_the_threshold_which_may_change) {
  const Files files;
  const auto harness = harness_of(files.properties() + "score-threshold=0.5", square);
  expect_near(read(pass(harness, red_and_blue(64, 64, 204, 51)).get()).candidates, expected(8, 0.8F, 0, 0));
  g_object_set(element_of(harness).get(), "score-threshold", 0.1, nullptr);
  expect_near(read(pass(harness, red_and_blue(64, 64, 204, 51)).get()).candidates, expected(8, 0.8F, 8, 0.2F));
}

TEST(crowddetect_network, names_classes_and_lets_the_wanted_ones_through) {
  const Files files;
  const TemporaryFile labels("red car\nblue car\n");
  const std::string properties = files.properties() + "label-file=" + labels.path + " class-filter=";
  for (const char* filter : {"1", "\"blue car\"", "\" 1 \""}) {
    SCOPED_TRACE(filter);
    const Found found = read(pass(harness_of(properties + filter, square), red_and_blue(64, 64)).get());
    expect_near(found.candidates, expected(0, 0, 8, 1));
    EXPECT_EQ(found.label, "red car");
  }
  EXPECT_EQ(read(pass(harness_of(properties + "\"red car, 1\"", square), red_and_blue(64, 64)).get()).count, 16U);
}

TEST(crowddetect_network, searches_tiles_and_the_whole_picture) {
  const Files files;
  const auto harness = harness_of(files.properties() + "tiles=2x1 tile-overlap=0", square);
  const Found found = read(pass(harness, red_and_blue(64, 64)).get());
  ASSERT_EQ(found.count, 48U);
  // The left tile, 32x64 pixels, is all red and becomes 32x32.
  for (std::size_t i = 0; i < 16; i++) {
    EXPECT_EQ(found.candidates[i].class_id, 0);
    EXPECT_FLOAT_EQ(found.candidates[i].x1, 10);
    EXPECT_FLOAT_EQ(found.candidates[i].y1, 16);
    EXPECT_FLOAT_EQ(found.candidates[i].x2, 22);
    EXPECT_FLOAT_EQ(found.candidates[i].y2, 32);
    EXPECT_EQ(found.candidates[16 + i].class_id, 1);
    EXPECT_FLOAT_EQ(found.candidates[16 + i].x1, 42);
  }
  expect_near({found.candidates.begin() + 32, found.candidates.end()}, expected(8, 1, 8, 1));
}

TEST(crowddetect_network, takes_other_tiles_while_it_runs) {
  const Files files;
  const auto harness = harness_of(files.properties(), square);
  EXPECT_EQ(read(pass(harness, red_and_blue(64, 64)).get()).count, 16U);
  g_object_set(element_of(harness).get(), "tiles", "2x2", nullptr);
  EXPECT_EQ(read(pass(harness, red_and_blue(64, 64)).get()).count, 80U);
  ElementBus bus(element_of(harness).get());
  g_object_set(element_of(harness).get(), "tiles", "2 by 2", nullptr);
  EXPECT_EQ(read(pass(harness, red_and_blue(64, 64)).get()).count, 0U);
  EXPECT_EQ(read(pass(harness, red_and_blue(64, 64)).get()).count, 0U);
  EXPECT_EQ(stat(harness, "failures"), 2U);
  EXPECT_THAT(bus.warnings(), ElementsAre(HasSubstr("COLUMNSxROWS"), HasSubstr("COLUMNSxROWS")));
}

TEST(crowddetect_network, undoes_the_letterbox) {
  const Files files;
  const TemporaryFile description("", ".modelinfo");
  std::string text = tiny_description();
  text.replace(text.find("stretch"), 7, "letterbox");
  std::ofstream(description.path) << text;
  const auto harness = harness_of(files.properties() + "model-info=" + description.path, caps_of("RGBA", 128, 64));
  const Found found = read(pass(harness, red_and_blue(128, 64)).get());
  // Two rows of cells show the picture; those below are grey, whose red and blue are equal: the lower class.
  ASSERT_EQ(found.count, 16U);
  EXPECT_FLOAT_EQ(found.candidates[0].score, 1);
  EXPECT_FLOAT_EQ(found.candidates[0].x1, 40);
  EXPECT_FLOAT_EQ(found.candidates[0].y1, 32);
  EXPECT_FLOAT_EQ(found.candidates[0].x2, 88);
  EXPECT_FLOAT_EQ(found.candidates[0].y2, 64);
  EXPECT_NEAR(found.candidates[15].score, 114.F / 255, 1e-5);
  EXPECT_EQ(found.candidates[15].class_id, 0);
}

TEST(crowddetect_network, hands_on_the_best_of_too_many) {
  const Files files;
  const auto harness = harness_of(files.properties() + "max-candidates=8", square);
  const Found found = read(pass(harness, red_and_blue(64, 64, 153, 255)).get());
  EXPECT_EQ(found.count, 16U) << "what was found";
  expect_near(found.candidates, expected(0, 0, 8, 1));
  EXPECT_EQ(stat(harness, "overflow"), 8U);
}

TEST(crowddetect_network, searches_every_nth_frame) {
  const Files files;
  const auto harness = harness_of(files.properties() + "interval=3", square);
  for (int i = 0; i < 7; i++)
    EXPECT_EQ(read(pass(harness, red_and_blue(64, 64)).get()).count, 16U);
  EXPECT_EQ(stat(harness, "searched"), 3U);
}

TEST(crowddetect_network, hands_on_numbers_that_are_none_for_crowdnms_to_count) {
  const TemporaryFile model(tiny_model(std::numeric_limits<float>::quiet_NaN()), ".onnx");
  const TemporaryFile description(tiny_description(), ".onnx.modelinfo");
  const Ref<GstHarness> harness(gst_harness_new_parse(
      ("crowddetect name=d detector=network engine=opencv model=" + model.path + " ! crowdnms name=n").c_str()));
  gst_harness_set_src_caps_str(harness.get(), square.c_str());
  ASSERT_TRUE(pass(harness, red_and_blue(64, 64)));
  const Ref<GstElement> nms(gst_harness_find_element(harness.get(), "crowdnms"));
  GstStructure* stats = nullptr;
  g_object_get(nms.get(), "stats", &stats, nullptr);
  const Ref<GstStructure> owned(stats);
  guint64 invalid = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "invalid", &invalid));
  EXPECT_EQ(invalid, 16U);
}

TEST(crowddetect_network, goes_on_where_frames_are_too_small_for_the_tiles) {
  const Files files;
  const auto harness = harness_of(files.properties() + "tiles=1x1", caps_of("RGBA", 40, 40));
  ElementBus bus(element_of(harness).get());
  EXPECT_EQ(read(pass(harness, red_and_blue(40, 40)).get()).count, 16U) << "smaller than twice the input";
  g_object_set(element_of(harness).get(), "tiles", "8x8", nullptr);
  EXPECT_EQ(read(pass(harness, red_and_blue(40, 40)).get()).count, 0U);
  EXPECT_THAT(bus.warnings(), testing::Contains(HasSubstr("tiles=1x1")));
}

/// The error of a pipeline with a crowddetect, which has to post one.
std::string error_of_run(const std::string& properties) {
  const Ref<GstElement> pipeline(gst_parse_launch(
      ("videotestsrc num-buffers=2 ! " + square + " ! crowddetect " + properties + " ! fakesink").c_str(), nullptr));
  const Ref<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Ref<GstMessage> message(gst_bus_timed_pop_filtered(
      bus.get(), 20 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS)));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  if (!message || GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ERROR)
    return "no error";
  return message_text(message.get());
}

#if defined(CROWD_HAVE_ONNXRUNTIME)
/// A machine where the headers are has the library, too.
class crowddetect_onnxruntime : public testing::Test {};

TEST_F(crowddetect_onnxruntime, finds_what_opencv_finds) {
  const Files files;
  const std::string properties = "detector=network engine=onnxruntime threads=2 model=" + files.model.path + " ";
  const auto harness = harness_of(properties, square);
  for (int i = 0; i < 3; i++)
    expect_near(read(pass(harness, red_and_blue(64, 64)).get()).candidates, expected(8, 1, 8, 1));
  EXPECT_EQ(stat(harness, "failures"), 0U);
  const auto tiled = harness_of(properties + "tiles=2x2", square);
  EXPECT_EQ(read(pass(tiled, red_and_blue(64, 64)).get()).count, 80U);
}

/// With the description that lies beside the model, whatever the detector's own is.
TEST_F(crowddetect_onnxruntime, runs_models_of_half_precision) {
  const TemporaryFile model(tiny_model(0, true), ".onnx"), description(tiny_description("", true), ".onnx.modelinfo");
  for (const char* detector : {"network", "person-net"}) {
    SCOPED_TRACE(detector);
    const auto harness = harness_of(std::string("detector=") + detector + " model=" + model.path, square);
    ElementBus bus(element_of(harness).get());
    const Ref<GstBuffer> frame = pass(harness, red_and_blue(64, 64, 204, 51));
    EXPECT_THAT(bus.warnings(), IsEmpty());
    ASSERT_TRUE(frame);
    expect_near(read(frame.get()).candidates, expected(8, 0.8F, 8, 0.2F), 2e-3F);
  }
}
#endif

struct Mistake {
  const char* name;
  std::string properties;  ///< MODEL is replaced by the file of `model`, with its description beside it
  std::string model, description;
  std::string told;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class crowddetect_network_mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(crowddetect_network_mistakes, are_told_before_the_first_frame) {
  const Mistake& mistake = GetParam();
  const TemporaryFile model(mistake.model, ".onnx");
  std::optional<TemporaryFile> description;
  if (!mistake.description.empty())
    description.emplace(mistake.description, ".onnx.modelinfo");
  std::string properties = mistake.properties;
  if (const auto at = properties.find("MODEL"); at != std::string::npos)
    properties.replace(at, 5, model.path);
  EXPECT_THAT(error_of_run("detector=network " + properties), HasSubstr(mistake.told));
}

std::vector<Mistake> mistakes() {
  const std::string good = tiny_model(), described = tiny_description();
  std::string other_layout = described, other_size = described, unknown_layout = described;
  for (std::size_t at; (at = other_layout.find("yolo-v8")) != std::string::npos;)
    other_layout.replace(at, 7, "yolo-v5");
  other_size.replace(other_size.find("1,6,16"), 6, "1,6,99");
  unknown_layout.replace(unknown_layout.find("group-id=yolo-v8-out"), 20, "group-id=yolo-v99-out");
  return {
      {"no_model", "", good, described, "Set model"},
      {"missing_model", "model=/nowhere/net.onnx", good, described, "/nowhere/net.onnx"},
      {"no_description", "model=MODEL", good, "", "model-info"},
      {"missing_description", "model=MODEL model-info=/nowhere/a.modelinfo", good, described, "/nowhere/a.modelinfo"},
      {"unknown_shipped_description", "model=MODEL model-info=yolo-v99", good, described, "yolo-v8"},
      {"garbage", "model=MODEL", "this is no network", described, ".onnx"},
      {"empty", "model=MODEL", "", described, ".onnx"},
      {"truncated", "model=MODEL", good.substr(0, good.size() / 2), described, ".onnx"},
      {"other_layout", "model=MODEL", good, other_layout, "yolo-v5"},
      {"other_size", "model=MODEL", good, other_size, "99"},
      {"unknown_layout", "model=MODEL", good, unknown_layout, "yolo-v99"},
      {"description_is_no_key_file", "model=MODEL", good, "[modelinfo", "modelinfo"},
      {"unknown_key", "model=MODEL", good, tiny_description("no-such-key=1\n"), "no-such-key"},
      {"no_such_class", "model=MODEL class-filter=car", good, described, "car"},
      {"missing_labels", "model=MODEL label-file=/nowhere/labels", good, described, "/nowhere/labels"},
      {"tiles", "model=MODEL tiles=3", good, described, "COLUMNSxROWS"},
      {"too_many_tiles", "model=MODEL tiles=9x9", good, described, "COLUMNSxROWS"},
  };
}

INSTANTIATE_TEST_SUITE_P(each, crowddetect_network_mistakes, testing::ValuesIn(mistakes()),
                         [](const auto& info) { return info.param.name; });

TEST(crowddetect_network, needs_an_engine_that_this_build_has) {
#if defined(CROWD_HAVE_ONNXRUNTIME)
  GTEST_SKIP() << "this build has all of them";
#else
  const Files files;
  EXPECT_THAT(error_of_run("detector=network engine=onnxruntime model=" + files.model.path),
              testing::AllOf(HasSubstr("has no engine onnxruntime"), HasSubstr("opencv")));
#endif
}

/// The error of a crowddetect that is told of frames in CUDA memory; empty where this build knows none.
std::string error_on_device(const std::string& properties) {
  const Ref<GstHarness> harness(gst_harness_new_parse(("crowddetect " + properties).c_str()));
  const Ref<GstElement> element = element_of(harness);
  const Ref<GstCaps> caps(
      gst_caps_from_string("video/x-raw(memory:CUDAMemory),format=NV12,width=640,height=480,framerate=25/1"));
  const Ref<GstCaps> taken(gst_pad_template_get_caps(gst_element_get_pad_template(element.get(), "sink")));
  if (!gst_caps_can_intersect(caps.get(), taken.get()))
    return "";
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  gst_harness_set_src_caps(harness.get(), gst_caps_ref(caps.get()));
  const Ref<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  gst_element_set_bus(element.get(), nullptr);
  return message ? message_text(message.get()) : "no error";
}

TEST(crowddetect_network, says_before_the_first_frame_what_it_lacks_on_a_device) {
  const Files files;
  const std::string of_opencv = error_on_device(files.properties());
  if (of_opencv.empty())
    GTEST_SKIP() << "this build knows no frames in CUDA memory";
  EXPECT_THAT(of_opencv, HasSubstr("cudadownload"));
  const std::string problem = error_on_device("detector=network model=" + files.model.path);
#if defined(CROWD_HAVE_ONNXRUNTIME)
  // One without CUDA, or without the libraries that its CUDA needs.
  const std::string lacking = crowd::net::engines().front().device_problem();
  if (lacking.empty())
    GTEST_SKIP() << "ONNX Runtime can use CUDA here";
  EXPECT_THAT(problem, testing::AllOf(HasSubstr("frames are in CUDA memory"), HasSubstr(lacking)));
  EXPECT_THAT(lacking, testing::AllOf(HasSubstr("ONNX Runtime"), HasSubstr("CUDA"), HasSubstr("LD_LIBRARY_PATH"),
                                      HasSubstr("cudadownload")));
#else
  EXPECT_THAT(problem, testing::AllOf(HasSubstr("no engine that runs networks there"), HasSubstr("cudadownload")));
#endif
}

TEST(crowddetect_network, that_was_not_fetched_says_how_to) {
  // Other tests fetch models into the cache of all tests.
  const char* set = g_getenv("CROWD_CACHE");
  const std::optional<std::string> cache = set ? std::optional<std::string>(set) : std::nullopt;
  g_setenv("CROWD_CACHE", "/nowhere", TRUE);
  EXPECT_THAT(error_of_run("detector=person-net"), HasSubstr("gst-crowd-fetch-model person-net"));
  if (cache)
    g_setenv("CROWD_CACHE", cache->c_str(), TRUE);
  else
    g_unsetenv("CROWD_CACHE");
}

}  // namespace
