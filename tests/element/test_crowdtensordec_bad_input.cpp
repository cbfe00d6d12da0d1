// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What crowdtensordec makes of tensors that are wrong, and of settings that are.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "temporary_file.hpp"
#include "tensordec_harness.hpp"

namespace {

using namespace crowd::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<Candidate> one = {{100, 100, 200, 200, .9f}};

struct Wrong {
  const char* name;
  std::vector<TensorParts> tensors;
  const char* said;
  const char* properties = "";
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.name;
}

std::vector<TensorParts> changed(void (*change)(TensorParts&)) {
  TensorParts tensor = yolo_tensor(one);
  change(tensor);
  return {tensor};
}

TensorParts zeros(const char* id, std::vector<gsize> dims) {
  std::size_t bytes = sizeof(float);
  for (const gsize size : dims)
    bytes *= size;
  return {.id = id, .dims = std::move(dims), .bytes = std::string(bytes, '\0')};
}

const Wrong wrongs[] = {
    {"unknown_id", changed([](TensorParts& t) { t.id = "my-own-out"; }), "my-own-out, and "},
    {"no_id", changed([](TensorParts& t) { t.id = ""; }), "(without an id)"},
    {"one_of_two", {zeros("ssd-boxes-out-boxes", {1, 9, 4})}, "ssd-boxes-out-boxes and ssd-boxes-out-scores"},
    {"integers", changed([](TensorParts& t) { t.type = GST_TENSOR_DATA_TYPE_INT32; }),
     "yolo-v8-out is neither of float32"},
    {"doubles", changed([](TensorParts& t) { t.type = GST_TENSOR_DATA_TYPE_FLOAT64; }), "neither of float32"},
    {"no_dims", changed([](TensorParts& t) { t.dims = {}; }), "has a batch of none"},
    {"two_dims", changed([](TensorParts& t) {
       t.dims = {1, 505};
     }),
     "[1,505]"},
    {"four_dims", changed([](TensorParts& t) {
       t.dims = {1, 5, 101, 1};
     }),
     "[1,5,101,1]"},
    {"batch", changed([](TensorParts& t) {
       t.dims = {5, 5, 101};
     }),
     "has a batch of 5"},
    {"empty_batch", changed([](TensorParts& t) {
       t.dims = {0, 5, 101};
     }),
     "has a batch of 0"},
    {"no_classes", changed([](TensorParts& t) {
       t.dims = {1, 4, 101};
     }),
     "[1,4,101]"},
    {"no_places", changed([](TensorParts& t) {
       t.dims = {1, 5, 0};
     }),
     "[1,5,0]"},
    {"other_order", changed([](TensorParts& t) {
       t.dims = {1, 101, 5};
     }),
     "group-id=yolo-v5-out"},
    {"huge", changed([](TensorParts& t) {
       t.dims = {1, 5, G_MAXSIZE};
     }),
     "larger than any"},
    {"product_overflows", changed([](TensorParts& t) {
       t.dims = {1, gsize{1} << 33, gsize{1} << 33};
     }),
     "larger than any"},
    {"shorter_than_dims", changed([](TensorParts& t) { t.bytes.pop_back(); }), "has 2019 bytes, and its dims say 2020"},
    {"empty", changed([](TensorParts& t) { t.bytes.clear(); }), "yolo-v8-out: its data has 0 bytes"},
    {"sizes_differ",
     {zeros("ssd-boxes-out-boxes", {1, 9, 4}), zeros("ssd-boxes-out-scores", {1, 8, 2})},
     "do not go together"},
    {"anchors_differ",
     {zeros("blazeface-out-boxes", {1, 895, 16}), zeros("blazeface-out-scores", {1, 895, 1})},
     "[1,895,16], where the description has [any,896,16]"},
    {"no_shape_fits", {zeros("", {1, 9, 9, 9})}, "nor one alone of the shape", "model-info=yolo-v8"},
};

class WrongTensors : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTensors, are_told_once_and_counted_and_the_frame_goes_on) {
  const Wrong& wrong = GetParam();
  TensorDecHarness dec(std::string("meta-output=boxes ") + wrong.properties);
  for (int i = 0; i < 3; i++) {
    const auto out = dec.pass(wrong.tensors);
    EXPECT_THAT(survivors_of(out.get()), IsEmpty());
    EXPECT_EQ(count_metas(out.get(), GST_CROWD_BOXES_META_API_TYPE), 0u);
  }
  EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(AllOf(HasSubstr("are not decoded"), HasSubstr(wrong.said))));
  EXPECT_EQ(dec.stat("failures"), 3u);
  EXPECT_EQ(dec.stat("frames"), 3u);
  EXPECT_THAT(survivors_of(dec.pass({yolo_tensor(one)}).get()), SizeIs(1)) << "the next frame is decoded";
  EXPECT_EQ(dec.stat("failures"), 3u);
  EXPECT_EQ(pop_message(dec.bus(), GST_MESSAGE_ERROR), nullptr);
}

INSTANTIATE_TEST_SUITE_P(of, WrongTensors, testing::ValuesIn(wrongs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(crowdtensordec_bad_input, tensors_without_data_or_that_are_none) {
  TensorDecHarness dec;
  auto frame = dec.frame();
  add_tensors(frame.get(), {yolo_tensor(one)});
  GstTensorMeta* meta = gst_buffer_get_tensor_meta(frame.get());
  gst_clear_buffer(&meta->tensors[0]->data);
  dec.pass(std::move(frame));
  EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(HasSubstr("is missing")));
  auto without = dec.frame();
  gst_buffer_add_tensor_meta(without.get());
  dec.pass(std::move(without));
  EXPECT_EQ(dec.stat("failures"), 1u);
}

TEST(crowdtensordec_bad_input, data_that_are_not_aligned) {
  TensorDecHarness dec;
  auto frame = dec.frame();
  TensorParts tensor = yolo_tensor(one);
  tensor.bytes = "x" + tensor.bytes;
  add_tensors(frame.get(), {tensor});
  gst_buffer_resize(gst_buffer_get_tensor_meta(frame.get())->tensors[0]->data, 1, -1);
  dec.pass(std::move(frame));
  EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(HasSubstr("not aligned")));
}

TEST(crowdtensordec_bad_input, classes_that_are_none_are_invalid_candidates) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values;
  for (const float id : {7.f, 80.f, -1.f, 1.5f, nan, 1e30f})
    values.insert(values.end(), {10, 10, 50, 50, .9f, id});
  TensorDecHarness dec("meta-output=boxes");
  const auto found =
      survivors_of(dec.pass({{.id = "yolo-v26-out", .dims = {1, 6, 6}, .bytes = bytes_of(values)}}).get());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].class_id, 7);
  EXPECT_EQ(dec.stat("invalid"), 5u);
}

TEST(crowdtensordec_bad_input, boxes_and_scores_that_are_no_numbers_are_invalid_candidates) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  TensorDecHarness dec("meta-output=boxes");
  const std::vector<Candidate> odd = {
      {0, 0, 10, 10, nan}, {nan, 0, 10, 10, .9f}, {0, 0, infinity, 10, .9f}, {30, 30, 20, 20, .9f}, {0, 0, 9, 9, .8f}};
  EXPECT_THAT(survivors_of(dec.pass({yolo_tensor(odd)}).get()), SizeIs(1));
  EXPECT_EQ(dec.stat("invalid"), 4u);
}

TEST(crowdtensordec_bad_input, label_files_that_cannot_be_read_are_told_of) {
  const TemporaryFile empty, bytes("caf\xe9\n", ".latin1");
  for (const auto& [file, said] : {std::pair<std::string, const char*>{empty.path, "is empty"},
                                   {bytes.path, "UTF-8"},
                                   {"/no/such/file", "cannot be read"}}) {
    TensorDecHarness dec;
    gst_element_set_state(dec.element(), GST_STATE_NULL);
    g_object_set(dec.element(), "label-file", file.c_str(), nullptr);
    EXPECT_EQ(gst_element_set_state(dec.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(AllOf(HasSubstr(said), HasSubstr("label-file"))));
  }
}

TEST(crowdtensordec_bad_input, classes_beyond_the_label_file_have_no_name) {
  const TemporaryFile file("person\n");
  TensorDecHarness dec("label-file=" + file.path);
  const auto out = dec.pass({yolo_tensor({{0, 0, 20, 20, .9f, 0}, {50, 50, 90, 90, .8f, 3}}, 4)});
  const std::vector<Roi> regions = rois(out.get());
  ASSERT_THAT(regions, SizeIs(2));
  EXPECT_EQ(regions[0].type, "person");
  EXPECT_EQ(regions[1].type, "object");
  EXPECT_EQ(regions[1].label_id, 3);
}

TEST(crowdtensordec_bad_input, descriptions_that_cannot_be_read_are_an_error) {
  TensorDecHarness dec;
  for (const char* name : {"/no/such.modelinfo", "yolo-v99"}) {
    gst_element_set_state(dec.element(), GST_STATE_NULL);
    g_object_set(dec.element(), "model-info", name, nullptr);
    EXPECT_EQ(gst_element_set_state(dec.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    const Ref<GstMessage> error = pop_message(dec.bus(), GST_MESSAGE_ERROR);
    ASSERT_TRUE(error);
    EXPECT_THAT(message_text(error.get()), HasSubstr(name));
  }
  gst_element_set_state(dec.element(), GST_STATE_NULL);
}

TEST(crowdtensordec_bad_input, a_second_decoder_of_the_same_tensors_decodes_nothing) {
  TensorDecHarness dec("", 640, 480, "crowdtensordec name=first meta-output=boxes ! crowdtensordec name=second ");
  const Ref<GstElement> second(gst_bin_get_by_name(GST_BIN(dec.harness()->element), "second"));
  ASSERT_TRUE(second);
  ElementBus bus(second.get());
  for (int i = 0; i < 2; i++) {
    const auto out = dec.pass({yolo_tensor(one)});
    EXPECT_THAT(survivors_of(out.get()), SizeIs(1));
    EXPECT_THAT(rois(out.get()), IsEmpty());
  }
  EXPECT_THAT(bus.warnings(), ElementsAre(AllOf(HasSubstr("first has decoded"), HasSubstr("remove one"))));
}

/// As the decoders of GStreamer leave them.
void add_object(GstBuffer* buffer, int x, int y, int w, int h, float score) {
  gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(buffer), g_quark_from_string("a"), x, y,
                                         w, h, score, nullptr);
}

TEST(crowdtensordec_bad_input, tensors_that_another_decoder_has_decoded_are_told_of_once) {
  for (const char* rule : {"none", "stock"}) {
    TensorDecHarness dec(std::string("meta-output=analytics compatibility=") + rule);
    for (int i = 0; i < 2; i++) {
      auto frame = dec.frame();
      add_tensors(frame.get(), {yolo_tensor({{99.75f, 100.5f, 200.25f, 200.5f, .9f}, {300, 300, 350, 350, .8f}})});
      add_object(frame.get(), 300, 300, 50, 50, .8f);
      add_object(frame.get(), 99, 100, 101, 100, .9f);
      const auto out = dec.pass(std::move(frame));
      EXPECT_EQ(gst_analytics_relation_get_length(gst_buffer_get_analytics_relation_meta(out.get())), 4u);
    }
    EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(AllOf(HasSubstr("Another decoder"), HasSubstr("Remove"))));
  }
}

TEST(crowdtensordec_bad_input, objects_of_another_network_are_none_of_its_tensors) {
  TensorDecHarness dec("meta-output=analytics");
  const auto pass = [&dec](int x, float score) {
    auto frame = dec.frame();
    add_tensors(frame.get(), {yolo_tensor(one)});
    add_object(frame.get(), x, 100, 100, 100, score);
    dec.pass(std::move(frame));
  };
  pass(100, std::nextafter(.9f, 1.f));
  pass(104, .9f);
  EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
}

// From GStreamer 1.28 on copies of a frame have its tensors.
TEST(crowdtensordec_bad_input, nor_does_it_of_a_frame_that_another_branch_has_as_well) {
  TensorDecHarness dec("", 640, 480,
                       "crowdtensordec name=first meta-output=boxes ! crowdtensordec name=second meta-output=roi ");
  auto frame = dec.frame();
  add_tensors(frame.get(), {yolo_tensor(one)});
  const Ref<GstBuffer> branch(gst_buffer_ref(frame.get()));
  const auto out = dec.pass(std::move(frame));
  EXPECT_THAT(survivors_of(out.get()), SizeIs(1));
  EXPECT_THAT(rois(out.get()), IsEmpty());
}

TEST(crowdtensordec_bad_input, of_two_networks_one_is_decoded) {
  TensorDecHarness dec("meta-output=boxes");
  const TensorParts other = zeros("yolo-v5-out", {1, 100, 6});
  for (int i = 0; i < 2; i++)
    EXPECT_THAT(survivors_of(dec.pass({other, yolo_tensor(one)}).get()), IsEmpty());
  EXPECT_THAT(take_warnings(dec.bus()),
              ElementsAre(AllOf(HasSubstr("first, of yolo-v5, are decoded"), HasSubstr("model-info"))));
}

TEST(crowdtensordec_bad_input, of_too_many_candidates_the_best_are_clustered) {
  TensorDecHarness dec("meta-output=boxes max-candidates=2");
  const std::vector<Candidate> three = {{0, 0, 10, 10, .5f}, {20, 20, 30, 30, .9f}, {40, 40, 50, 50, .7f}};
  for (int i = 0; i < 2; i++) {
    const auto found = survivors_of(dec.pass({yolo_tensor(three)}).get());
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_FLOAT_EQ(found[1].score, .7f);
  }
  EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(AllOf(HasSubstr("1 of 3 candidates"), HasSubstr("worst-scored"),
                                                          HasSubstr("max-candidates"))));
  EXPECT_EQ(dec.stat("overflow"), 2u);
}

TEST(crowdtensordec_bad_input, a_stream_without_tensors_is_told_of_at_its_end) {
  for (const bool any : {false, true}) {
    TensorDecHarness dec;
    dec.pass(dec.frame());
    if (any)
      dec.pass({yolo_tensor(one)});
    EXPECT_THAT(take_warnings(dec.bus()), IsEmpty());
    gst_harness_push_event(dec.harness(), gst_event_new_eos());
    EXPECT_THAT(take_warnings(dec.bus()), SizeIs(any ? 0 : 1));
  }
}

TEST(crowdtensordec_bad_input, candidates_of_another_detector_are_replaced) {
  TensorDecHarness dec("meta-output=boxes");
  auto frame = dec.frame();
  const std::vector<Candidate> others = {{1, 2, 3, 4, .5f}};
  add_boxes(frame.get(), others, {.frame_width = 640, .frame_height = 480});
  add_tensors(frame.get(), {yolo_tensor(one)});
  const auto out = dec.pass(std::move(frame));
  EXPECT_THAT(survivors_of(out.get()), SizeIs(1));
  EXPECT_EQ(gst_buffer_get_crowd_boxes_meta(out.get()), nullptr);
  EXPECT_THAT(take_warnings(dec.bus()), ElementsAre(HasSubstr("replaced")));
}

}  // namespace
