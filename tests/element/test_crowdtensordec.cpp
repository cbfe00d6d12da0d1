// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// From tensors to survivors, by the textbook's decoding and the oracle's NMS.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "oracle.hpp"
#include "temporary_file.hpp"
#include "tensordec_harness.hpp"
#include "tensors/shipped.hpp"
#include "textbook.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::FloatEq;
using testing::IsEmpty;
using testing::SizeIs;

constexpr unsigned plenty = 5000;

/// The textbook's candidates, clustered by the oracle, in rank order.
std::vector<Expected> expected_of(const Network& network, const Answer& answer,
                                  const crowd::tensors::InputPlacement& placement, double threshold, double iou,
                                  bool agnostic, unsigned max = plenty) {
  const std::vector<Expected> candidates = decode_by_the_book(network, answer, {placement}, threshold);
  Boxes boxes;
  for (const Expected& c : candidates)
    boxes.add({static_cast<float>(c.x1), static_cast<float>(c.y1), static_cast<float>(c.x2), static_cast<float>(c.y2)},
              static_cast<float>(c.score), static_cast<int>(c.class_id));
  CrowdNmsParams params = crowd::test::default_params();
  params.overlap_threshold = iou;
  params.class_agnostic = agnostic;
  const Batch batch = Batch::of(boxes);
  const Result result = run_oracle(params, batch, {.max_survivors = std::max<unsigned>(1, boxes.size())});
  std::vector<Expected> survivors;
  for (unsigned i = 0; i < std::min(max, result.reports.at(0).survivors); i++)
    survivors.push_back(candidates.at(result.survivors.at(i)));
  return survivors;
}

void expect_survivors(const std::vector<Expected>& expected, const std::vector<Candidate>& found) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size() && !testing::Test::HasFailure(); i++) {
    SCOPED_TRACE("survivor " + std::to_string(i));
    const Expected& e = expected[i];
    const double room = 2e-6 * (3000 + std::abs(e.x2 - e.x1) + std::abs(e.y2 - e.y1));
    EXPECT_NEAR(static_cast<double>(found[i].x1), e.x1, room);
    EXPECT_NEAR(static_cast<double>(found[i].y1), e.y1, room);
    EXPECT_NEAR(static_cast<double>(found[i].x2), e.x2, room);
    EXPECT_NEAR(static_cast<double>(found[i].y2), e.y2, room);
    EXPECT_NEAR(static_cast<double>(found[i].score), e.score, 1e-6);
    EXPECT_EQ(static_cast<unsigned>(found[i].class_id), e.class_id);
  }
}

const std::string as_boxes = "meta-output=boxes max-detections=" + std::to_string(plenty) + " ";

class TensorLayouts : public testing::TestWithParam<const char*> {};

TEST_P(TensorLayouts, leave_the_survivors_of_the_textbook_and_the_oracle) {
  for (const auto type : {crowd::tensors::Type::float32, crowd::tensors::Type::float16})
    for (const bool agnostic : {false, true}) {
      const Network network = make_network(GetParam(), type);
      const auto width = static_cast<unsigned>(network.width), height = static_cast<unsigned>(network.height);
      TensorDecHarness dec(as_boxes + "score-threshold=0.25 box-confidence-threshold=0 iou-threshold=0.5 " +
                               (agnostic ? "class-agnostic=true" : "class-agnostic=false"),
                           width, height);
      for (const unsigned seed : {1u, 2u}) {
        SCOPED_TRACE(testing::Message() << int(type) << " " << agnostic << " " << seed);
        const Answer answer = make_answer(network, 1, seed);
        const auto expected = expected_of(network, answer, {}, 0.25, 0.5, agnostic);
        EXPECT_GT(expected.size(), 1u);
        expect_survivors(expected, survivors_of(dec.pass(tensors_of(network, answer)).get()));
      }
      EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
      EXPECT_EQ(dec.stat("decoded"), 2u);
      EXPECT_EQ(dec.stat("failures"), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(of, TensorLayouts, testing::ValuesIn(network_names), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(crowdtensordec, leaves_regions_by_default_and_the_tensors_where_they_are) {
  TensorDecHarness dec;
  const auto out = dec.pass({yolo_tensor(piles, 2)});
  const std::vector<Roi> regions = rois(out.get());
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_NEAR(regions[0].confidence.value(), .9, 1e-6);
  EXPECT_EQ(regions[0].label_id, 0);
  EXPECT_EQ(regions[0].members, 2u);
  EXPECT_EQ(regions[0].x, 100u);
  EXPECT_EQ(regions[1].label_id, 1);
  EXPECT_EQ(count_metas(out.get(), GST_TENSOR_META_API_TYPE), 1u);
  EXPECT_EQ(count_metas(out.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
  EXPECT_EQ(dec.stat("candidates"), 3u);
  EXPECT_EQ(dec.stat("survivors"), 2u);
}

struct StockProperty {
  const char* name;
  double value;
};
constexpr StockProperty stock_properties[] = {{"iou-threshold", .7F},
                                              {"class-confidence-threshold", .4F},
                                              {"box-confidence-threshold", .4F},
                                              {"max-detections", 100}};

double default_of(GParamSpec* spec) {
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  EXPECT_TRUE(g_value_transform(g_param_spec_get_default_value(spec), &number));
  return g_value_get_double(&number);
}

TEST(crowdtensordec, has_the_properties_and_defaults_of_the_stock_decoder) {
  const TensorDecHarness dec;
  const Ref<GstElement> stock(gst_element_factory_make("yolov8tensordec", nullptr));
  for (const auto& [name, value] : stock_properties) {
    GParamSpec* ours = g_object_class_find_property(G_OBJECT_GET_CLASS(dec.element()), name);
    ASSERT_TRUE(ours) << name;
    EXPECT_EQ(default_of(ours), value) << name;
    if (!stock)
      continue;
    GParamSpec* theirs = g_object_class_find_property(G_OBJECT_GET_CLASS(stock.get()), name);
    ASSERT_TRUE(theirs) << name;
    EXPECT_EQ(ours->value_type, theirs->value_type) << name;
    EXPECT_EQ(default_of(theirs), value) << name;
  }
  expect_documented_properties("crowdtensordec");
  expect_refused(dec.element(), "iou-threshold", 1.5);
}

TEST(crowdtensordec, thresholds_change_while_it_plays) {
  TensorDecHarness dec("meta-output=boxes");
  const auto pass = [&dec] { return scores_of(survivors_of(dec.pass({yolo_tensor(piles, 2)}).get())); };
  EXPECT_THAT(pass(), ElementsAre(.9f, .6f));
  g_object_set(dec.element(), "class-confidence-threshold", .7, nullptr);
  EXPECT_THAT(pass(), ElementsAre(.9f));
  gfloat other = 0;
  g_object_get(dec.element(), "score-threshold", &other, nullptr);
  EXPECT_FLOAT_EQ(other, .7f) << "is the same threshold";
  g_object_set(dec.element(), "score-threshold", .5, "iou-threshold", 1., nullptr);
  EXPECT_THAT(pass(), ElementsAre(.9f, .8f, .6f));
  g_object_set(dec.element(), "iou-threshold", .7, "class-agnostic", FALSE, nullptr);
  EXPECT_THAT(pass(), ElementsAre(.9f, .8f, .6f)) << "the pile is of two classes";
  g_object_set(dec.element(), "max-detections", 1, nullptr);
  EXPECT_THAT(pass(), ElementsAre(.9f));
  EXPECT_EQ(dec.stat("clipped"), 2u);
}

TEST(crowdtensordec, box_confidence_is_objectness) {
  const Network network = make_network("yolo-v5");
  const Answer answer = make_answer(network, 1, 4);
  const auto pass = [&](const std::string& properties) {
    TensorDecHarness dec(as_boxes + "iou-threshold=1 class-confidence-threshold=0.01 " + properties, 160, 96);
    return survivors_of(dec.pass(tensors_of(network, answer)).get()).size();
  };
  const std::size_t all = pass("box-confidence-threshold=0"), sure = pass("box-confidence-threshold=0.6");
  EXPECT_EQ(all, decode_by_the_book(network, answer, {{}}, .01).size());
  EXPECT_GT(sure, 0u);
  EXPECT_LT(sure, all);
}

TEST(crowdtensordec, a_description_says_how_the_frame_became_the_input) {
  const std::vector<Candidate> in_input = {{100, 50, 200, 150, .9f}};
  TensorDecHarness letterbox("meta-output=boxes model-info=yolo-v8", 1280, 720);
  EXPECT_THAT(survivors_of(letterbox.pass({yolo_tensor(in_input)}).get()),
              ElementsAre(AllOf(Field(&Candidate::x1, FloatEq(200)), Field(&Candidate::y1, FloatEq(100)),
                                Field(&Candidate::x2, FloatEq(400)), Field(&Candidate::y2, FloatEq(300)))));
  std::string problem;
  std::ifstream shipped(crowd::tensors::find_description("yolo-v8", problem));
  std::string text(std::istreambuf_iterator<char>(shipped), {});
  ASSERT_NE(text.find("letterbox"), text.npos) << problem;
  text.replace(text.find("letterbox"), 9, "stretch");
  const TemporaryFile file(text, ".modelinfo");
  TensorDecHarness stretch("meta-output=boxes model-info=" + file.path, 1280, 720);
  EXPECT_THAT(survivors_of(stretch.pass({yolo_tensor(in_input)}).get()),
              ElementsAre(AllOf(Field(&Candidate::x1, FloatEq(200)), Field(&Candidate::y1, FloatEq(56.25)),
                                Field(&Candidate::x2, FloatEq(400)), Field(&Candidate::y2, FloatEq(168.75)))));
  TensorDecHarness stock("meta-output=boxes", 1280, 720);
  EXPECT_THAT(survivors_of(stock.pass({yolo_tensor(in_input)}).get()), ElementsAre(Field(&Candidate::x1, FloatEq(100))))
      << "without one the frame is the input";
}

TEST(crowdtensordec, with_a_description_shapes_stand_for_ids) {
  for (const char* id : {"", "output0", "something"}) {
    TensorDecHarness dec("meta-output=boxes model-info=yolo-v8", 640, 640);
    TensorParts tensor = yolo_tensor(piles, 2);
    tensor.id = id;
    EXPECT_THAT(scores_of(survivors_of(dec.pass({tensor}).get())), ElementsAre(.9f, .6f)) << id;
    EXPECT_THAT(take_warnings(dec.bus()), IsEmpty()) << id;
  }
}

TEST(crowdtensordec, shapes_stand_for_ids_beside_what_is_no_output_for_one_picture) {
  TensorDecHarness dec("meta-output=boxes model-info=yolo-v8", 640, 640);
  TensorParts tensor = yolo_tensor(piles, 2);
  tensor.id = "";
  const TensorParts prototypes{.id = "prototypes", .dims = {4, 3}, .bytes = bytes_of(std::vector<float>(12))};
  EXPECT_THAT(scores_of(survivors_of(dec.pass({prototypes, tensor}).get())), ElementsAre(.9f, .6f));
  EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
}

TEST(crowdtensordec, tensors_are_known_by_id_or_by_name) {
  const Network network = make_network("ssd-boxes");
  const Answer answer = make_answer(network, 1, 3);
  const auto expected = expected_of(network, answer, {}, .4, .7F, true);
  ASSERT_GT(expected.size(), 1u);
  for (const std::vector<std::string>& ids :
       {std::vector<std::string>{"ssd-boxes-out-boxes", "ssd-boxes-out-scores"}, {"boxes", "scores"}}) {
    TensorDecHarness dec(as_boxes + "model-info=ssd-boxes", 300, 300);
    auto tensors = tensors_of(network, answer);
    tensors[0].id = ids[0];
    tensors[1].id = ids[1];
    std::vector<Candidate> found = survivors_of(dec.pass(tensors).get());
    // The made-up network's input is 200 pixels high.
    for (Candidate& c : found)
      c.y1 *= 2 / 3.F, c.y2 *= 2 / 3.F;
    expect_survivors(expected, found);
    EXPECT_THAT(take_warnings(dec.bus()), IsEmpty()) << ids[1];
  }
}

TEST(crowdtensordec, knows_the_faces_of_the_stock_decoder) {
  TensorDecHarness dec("meta-output=all", 320, 240);
  const std::vector<float> boxes = {.25f, .25f, .5f, .5f, .26f, .25f, .5f, .5f, .75f, .5f, 1, 1};
  const std::vector<float> scores = {.1f, .9f, .2f, .8f, .7f, .3f};
  const auto out =
      dec.pass({{.id = "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores",
                 .dims = {1, 3, 2},
                 .bytes = bytes_of(scores)},
                {.id = "ssd-mobilenet-v1-variant-1-out-boxes", .dims = {1, 3, 4}, .bytes = bytes_of(boxes)}});
  EXPECT_THAT(survivors_of(out.get()),
              ElementsAre(AllOf(Field(&Candidate::x1, FloatEq(80)), Field(&Candidate::y1, FloatEq(60)),
                                Field(&Candidate::x2, FloatEq(160)), Field(&Candidate::y2, FloatEq(120)))));
  ASSERT_THAT(rois(out.get()), SizeIs(1));
  EXPECT_EQ(rois(out.get())[0].type, "face");
}

TEST(crowdtensordec, reads_c_order_whatever_the_label_says) {
  for (const auto order : {GST_TENSOR_DIM_ORDER_ROW_MAJOR, GST_TENSOR_DIM_ORDER_COL_MAJOR}) {
    TensorDecHarness dec("meta-output=boxes");
    TensorParts tensor = yolo_tensor(piles, 2);
    tensor.order = order;
    EXPECT_THAT(scores_of(survivors_of(dec.pass({tensor}).get())), ElementsAre(.9f, .6f));
  }
}

TEST(crowdtensordec, finds_its_tensors_among_others) {
  TensorDecHarness dec("meta-output=boxes");
  auto frame = dec.frame();
  add_tensors(frame.get(), {{.id = "classes-of-something", .dims = {1, 3}, .bytes = std::string(12, '\0')}});
  add_tensors(frame.get(), {{.id = "masks", .type = GST_TENSOR_DATA_TYPE_INT8, .dims = {5}, .bytes = "12345"},
                            yolo_tensor(piles, 2)});
  EXPECT_THAT(scores_of(survivors_of(dec.pass(std::move(frame)).get())), ElementsAre(.9f, .6f));
  EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
}

TEST(crowdtensordec, names_classes_after_the_label_file) {
  const TemporaryFile file("person\nbicycle\n");
  TensorDecHarness dec("label-file=" + file.path);
  const std::vector<Roi> regions = rois(dec.pass({yolo_tensor(piles, 2)}).get());
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_EQ(regions[0].type, "person");
  EXPECT_EQ(regions[1].type, "bicycle");
}

TEST(crowdtensordec, leaves_frames_without_tensors_as_they_are) {
  TensorDecHarness dec;
  auto frame = dec.frame();
  const std::vector<Candidate> others = {{1, 2, 3, 4, .5f}};
  add_boxes(frame.get(), others, {.frame_width = 640, .frame_height = 480});
  const auto out = dec.pass(std::move(frame));
  EXPECT_TRUE(gst_buffer_get_crowd_boxes_meta(out.get()));
  dec.pass(dec.frame());
  EXPECT_EQ(dec.stat("frames"), 2u);
  EXPECT_EQ(dec.stat("decoded"), 0u);
  EXPECT_EQ(dec.stat("failures"), 0u);
  EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
}

TEST(crowdtensordec, decodes_frames_that_others_hold) {
  TensorDecHarness dec("meta-output=boxes");
  auto frame = dec.frame();
  add_tensors(frame.get(), {yolo_tensor(piles, 2)});
  const Ref<GstBuffer> held(gst_buffer_ref(frame.get()));
  const auto out = dec.pass(std::move(frame));
  EXPECT_NE(out, held);
  EXPECT_THAT(scores_of(survivors_of(out.get())), ElementsAre(.9f, .6f));
  EXPECT_THAT(survivors_of(held.get()), IsEmpty());
}

TEST(crowdtensordec, follows_frames_of_another_size) {
  TensorDecHarness dec("meta-output=boxes model-info=yolo-v8", 640, 640);
  const auto pass = [&dec](unsigned width, unsigned height) {
    gst_harness_set_src_caps_str(dec.harness(), video_caps(width, height).c_str());
    auto frame = make_frame(width, height);
    add_tensors(frame.get(), {yolo_tensor({{100, 50, 200, 150, .9f}})});
    return survivors_of(dec.pass(std::move(frame)).get()).at(0).x1;
  };
  EXPECT_FLOAT_EQ(pass(640, 640), 100);
  EXPECT_FLOAT_EQ(pass(1280, 640), 200);
  EXPECT_FLOAT_EQ(pass(1280, 2560), 400);
}

TEST(crowdtensordec, follows_tensors_that_change_places) {
  TensorDecHarness dec("meta-output=boxes model-info=ssd-boxes", 300, 300);
  const TensorParts boxes{.id = "ssd-boxes-out-boxes", .dims = {1, 1, 4}, .bytes = bytes_of({.1f, .2f, .5f, .6f})};
  const TensorParts scores{.id = "something", .dims = {1, 1, 4}, .bytes = bytes_of({.1f, .2f, .3f, .9f})};
  for (const auto& tensors : {std::vector{boxes, scores}, {scores, boxes}, {boxes, scores}})
    EXPECT_THAT(scores_of(survivors_of(dec.pass(tensors).get())), ElementsAre(.9f));
}

TEST(crowdtensordec, leaves_boxes_without_width_or_height_where_the_stock_decoder_does) {
  const std::vector<Candidate> flat = {{100, 100, 200, 200, .9f}, {150, 100, 150.25f, 200, .8f}, {20, 20, 20, 40, .7f}};
  for (const char* output : {"boxes", "analytics"}) {
    TensorDecHarness dec(std::string("compatibility=stock meta-output=") + output);
    const auto out = dec.pass({yolo_tensor(flat)});
    if (std::string(output) == "boxes") {
      EXPECT_THAT(scores_of(survivors_of(out.get())), ElementsAre(.9f, .8f));
      continue;
    }
    GstAnalyticsODMtd second = {1, gst_buffer_get_analytics_relation_meta(out.get())};
    ASSERT_TRUE(second.meta);
    ASSERT_EQ(gst_analytics_relation_get_length(second.meta), 2u);
    gint x = 0, y = 0, w = -1, h = 0;
    gfloat score = 0;
    gst_analytics_od_mtd_get_location(&second, &x, &y, &w, &h, &score);
    EXPECT_EQ(std::tuple(x, y, w, h), std::tuple(150, 100, 0, 100));
  }
}

#if GST_CHECK_VERSION(1, 27, 0)
// Before, a frame has one GstTensorMeta at most.
TEST(crowdtensordec, a_description_has_the_tensors_of_its_names_among_others) {
  TensorDecHarness dec("meta-output=boxes model-info=yolo-v8", 640, 640);
  auto frame = dec.frame();
  add_tensors(frame.get(), {{.id = "other", .dims = {1, 6, 200}, .bytes = std::string(4800, '\0')}});
  TensorParts tensor = yolo_tensor(piles, 2);
  tensor.id = "output0";
  add_tensors(frame.get(), {tensor});
  EXPECT_THAT(scores_of(survivors_of(dec.pass(std::move(frame)).get())), ElementsAre(.9f, .6f));
}
#endif

}  // namespace
