// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Outputs of every layout against textbook decoding, and what has to hold for odd ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensors/decode.hpp"
#include "tensors/decoder.hpp"
#include "textbook.hpp"

namespace crowd::test {
namespace {

using namespace tensors;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

DecodeSettings above(float threshold, const std::vector<std::uint32_t>& classes = {}) {
  return {threshold, classes};
}

std::unique_ptr<Decoder> make_decoder(const Network& network) {
  std::string problem;
  auto decoder = Decoder::make(network.description, network.outputs, network.width, network.height, problem);
  EXPECT_TRUE(decoder) << problem;
  return decoder;
}

std::vector<RawBox> decode(const Network& network, const Answer& answer, unsigned batch,
                           const DecodeSettings& settings) {
  std::vector<RawBox> boxes;
  std::string problem;
  const auto decoder = make_decoder(network);
  if (!decoder)
    return boxes;
  EXPECT_TRUE(decoder->decode(answer.tensors(), make_placements(batch), settings, boxes, problem)) << problem;
  return boxes;
}

/// Float's rounding of a few operations on pixels.
void expect_near(double expected, float found, double magnitude) {
  EXPECT_NEAR(static_cast<double>(found), expected, 2e-6 * (1 + std::abs(expected) + magnitude));
}

void expect_equal(const std::vector<Expected>& expected, const std::vector<RawBox>& found) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size() && !testing::Test::HasFailure(); i++) {
    SCOPED_TRACE("candidate " + std::to_string(i));
    const Expected& wanted = expected[i];
    const double magnitude = std::abs(wanted.x2 - wanted.x1) + std::abs(wanted.y2 - wanted.y1) + 1000;
    expect_near(wanted.x1, found[i].x1, magnitude);
    expect_near(wanted.y1, found[i].y1, magnitude);
    expect_near(wanted.x2, found[i].x2, magnitude);
    expect_near(wanted.y2, found[i].y2, magnitude);
    EXPECT_NEAR(static_cast<double>(found[i].score), wanted.score, 1e-6);
    EXPECT_EQ(found[i].class_id, wanted.class_id);
  }
}

class Layouts : public testing::TestWithParam<const char*> {};

TEST_P(Layouts, are_decoded_as_the_textbook_does) {
  for (const Type type : {Type::float32, Type::float16})
    for (const unsigned batch : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << "type " << int(type) << ", batch " << batch);
      const Network network = make_network(GetParam(), type);
      const Answer answer = make_answer(network, batch, 7 + batch);
      for (const float threshold : {.3F, .011F}) {
        const auto expected = decode_by_the_book(network, answer, make_placements(batch), threshold);
        EXPECT_GT(expected.size(), 5u);
        expect_equal(expected, decode(network, answer, batch, above(threshold)));
      }
    }
}

TEST_P(Layouts, give_all_places_without_a_threshold) {
  const Network network = make_network(GetParam());
  const Answer answer = make_answer(network, 2, 11);
  const auto decoder = make_decoder(network);
  ASSERT_TRUE(decoder);
  EXPECT_EQ(decode(network, answer, 2, above(-1)).size(), 2 * decoder->places());
}

TEST_P(Layouts, let_the_classes_through_that_are_wanted) {
  const Network network = make_network(GetParam());
  const Answer answer = make_answer(network, 2, 12);
  const auto all = decode(network, answer, 2, above(.05F));
  const auto decoder = make_decoder(network);
  ASSERT_TRUE(decoder);
  for (const std::vector<std::uint32_t>& bits :
       {std::vector<std::uint32_t>{0x15u}, {0u, 0x7u}, {0u}, {~0u, ~0u, ~0u}}) {
    std::vector<RawBox> wanted;
    for (const RawBox& box : all)
      if (box.class_id / 32 < bits.size() && bits[box.class_id / 32] >> box.class_id % 32 & 1)
        wanted.push_back(box);
    EXPECT_EQ(decode(network, answer, 2, above(.05F, bits)), wanted);
  }
  for (const RawBox& box : all)
    EXPECT_LT(box.class_id, decoder->classes());
}

TEST_P(Layouts, hand_on_scores_that_are_no_number) {
  const Network network = make_network(GetParam());
  Answer answer = make_answer(network, 1, 13);
  const auto before = decode(network, answer, 1, above(.5F));
  const std::size_t scores = network.outputs[0].id == "centerface-out-heat" ? 0 : network.outputs.size() - 1;
  for (float& value : answer.values[scores])
    value = not_a_number;
  const auto decoder = make_decoder(network);
  ASSERT_TRUE(decoder);
  const auto boxes = decode(network, answer, 1, above(.5F));
  EXPECT_EQ(boxes.size(), decoder->places());
  EXPECT_LT(before.size(), boxes.size());
  for (const RawBox& box : boxes)
    EXPECT_TRUE(std::isnan(box.score));
}

TEST_P(Layouts, take_any_bits) {
  for (unsigned seed = 0; seed < 4; seed++) {
    const Network network = make_network(GetParam());
    const Answer answer = make_answer(network, 2, seed, true);
    const auto decoder = make_decoder(network);
    ASSERT_TRUE(decoder);
    for (const RawBox& box : decode(network, answer, 2, above(.4F))) {
      EXPECT_TRUE(std::isnan(box.score) || box.score >= .4F);
      EXPECT_LT(box.class_id, decoder->classes());
    }
  }
}

TEST_P(Layouts, are_found_in_any_order_of_outputs) {
  Network network = make_network(GetParam());
  const Answer answer = make_answer(network, 1, 14);
  const auto expected = decode(network, answer, 1, {});
  Network turned = network;
  std::ranges::reverse(turned.outputs);
  Answer turned_answer = answer;
  std::ranges::reverse(turned_answer.values);
  std::ranges::reverse(turned_answer.dims);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(decode(turned, turned_answer, 1, {}), expected);
}

TEST_P(Layouts, refuse_outputs_that_were_not_announced) {
  const Network network = make_network(GetParam());
  const Answer answer = make_answer(network, 2, 15);
  const auto decoder = make_decoder(network);
  ASSERT_TRUE(decoder);
  std::vector<RawBox> boxes;
  const auto refused = [&](const std::vector<Tensor>& outputs, unsigned batch) {
    std::string problem;
    const bool done = decoder->decode(outputs, make_placements(batch), {}, boxes, problem);
    return !done && !problem.empty() && boxes.empty();
  };
  auto outputs = answer.tensors();
  EXPECT_TRUE(refused(outputs, 3));
  outputs[0].dims.back()++;
  EXPECT_TRUE(refused(outputs, 2));
  outputs = answer.tensors();
  outputs[0].type = Type::float16;
  EXPECT_TRUE(refused(outputs, 2));
  outputs = answer.tensors();
  outputs[0].data = nullptr;
  EXPECT_TRUE(refused(outputs, 2));
  EXPECT_TRUE(refused({}, 2));
}

TEST(Objectness, has_a_threshold_of_its_own_where_a_layout_has_it) {
  const Network network = make_network("yolo-v5");
  const Answer answer = make_answer(network, 1, 5);
  const auto all = decode(network, answer, 1, above(.01F));
  const auto sure = decode(network, answer, 1, {.01F, {}, .5F});
  std::size_t expected = 0;
  for (std::size_t n = 0; n < 945; n++) {
    float best = 0;
    for (std::size_t c = 5; c < 12; c++)
      best = std::max(best, answer.at(0, 0, n, c));
    expected += best * answer.at(0, 0, n, 4) >= .01F && answer.at(0, 0, n, 4) >= .5F;
  }
  EXPECT_EQ(sure.size(), expected);
  EXPECT_GT(sure.size(), 0u);
  EXPECT_LT(sure.size(), all.size());
  const Network without = make_network("yolo-v8");
  const Answer other = make_answer(without, 1, 5);
  EXPECT_EQ(decode(without, other, 1, {.01F, {}, 1}), decode(without, other, 1, above(.01F)));
}

INSTANTIATE_TEST_SUITE_P(Layout, Layouts, testing::ValuesIn(network_names), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Decoder, places_the_anchors_of_the_person_network) {
  const Network network = make_network("person-net");
  Answer answer = make_answer(network, 1, 1);
  for (float& value : answer.values[0])
    value = 0;
  const auto boxes = decode(network, answer, 1, above(0));
  ASSERT_EQ(boxes.size(), 1917u);
  const auto size_at = [&](std::size_t i) {
    const double height = static_cast<double>(boxes[i].y2 - boxes[i].y1) / 2;
    return testing::Message() << std::lround(10 * static_cast<double>(boxes[i].x2 - boxes[i].x1)) << "x"
                              << std::lround(10 * height) << " at "
                              << std::lround(10 * static_cast<double>(boxes[i].x1));
  };
  EXPECT_EQ(size_at(0).GetString(), "300x300 at -71") << "scale .1, in the first of 19 cells";
  EXPECT_EQ(size_at(1).GetString(), "849x424 at -345") << "scale .2, twice as wide as high";
  EXPECT_EQ(size_at(1083).GetString(), "1050x1050 at -375") << "scale .35, in the first of 10 cells";
  EXPECT_EQ(size_at(1088).GetString(), "1255x1255 at -477") << "between .35 and .5";
  EXPECT_EQ(size_at(1916).GetString(), "2924x2924 at 38") << "between .95 and 1";
}

TEST(Decoder, takes_the_first_of_equal_classes) {
  const Network network = make_network("yolo-v8");
  Answer answer = make_answer(network, 1, 1);
  for (std::size_t c = 0; c < 40; c++)
    answer.set(0, (4 + c) * 315, c == 17 || c == 30 ? .75F : .5F);
  EXPECT_EQ(decode(network, answer, 1, above(.7F))[0].class_id, 17u);
}

TEST(Decoder, gives_no_score_to_classes_that_are_none) {
  const Network network = make_network("yolo-v26");
  for (const float id : {-1.F, 80.F, 2.5F, not_a_number, 1e20F, std::numeric_limits<float>::infinity()}) {
    Answer answer = make_answer(network, 1, 1);
    answer.set(0, 4, .9F);
    answer.set(0, 5, id);
    const auto boxes = decode(network, answer, 1, above(.8F));
    ASSERT_FALSE(boxes.empty());
    EXPECT_TRUE(std::isnan(boxes[0].score)) << id;
    EXPECT_EQ(boxes[0].class_id, 0u);
  }
}

TEST(Decoder, compares_with_the_threshold_as_if_every_score_was_computed) {
  const Network network = make_network("blazeface");
  Answer answer = make_answer(network, 1, 1);
  for (std::size_t i = 0; i < 896; i++)
    answer.set(1, i, -30.F + 60.F * static_cast<float>(i) / 895);
  const auto all = decode(network, answer, 1, above(0));
  ASSERT_EQ(all.size(), 896u);
  for (std::size_t i = 1; i < 896; i++) {
    const float score = all[i].score;
    const auto at_least = [&](float threshold) {
      return static_cast<std::size_t>(
          std::ranges::count_if(all, [=](const RawBox& box) { return box.score >= threshold; }));
    };
    EXPECT_EQ(decode(network, answer, 1, above(score)).size(), at_least(score));
    const float next = std::nextafter(score, 2.F);
    EXPECT_EQ(decode(network, answer, 1, above(next)).size(), at_least(next));
  }
}

TEST(Decoder, clips_what_blazeface_gives) {
  const Network network = make_network("blazeface");
  Answer answer = make_answer(network, 1, 1);
  answer.set(1, 0, -130);
  answer.set(1, 1, -100);
  const auto boxes = decode(network, answer, 1, above(0));
  ASSERT_EQ(boxes.size(), 896u);
  EXPECT_GT(boxes[0].score, 0.F);
  EXPECT_EQ(boxes[0].score, boxes[1].score);
}

TEST(Decoder, takes_the_sigmoid_where_it_is_told_to) {
  Network network = make_network("yolo-v5");
  network.description.parameters["activation"] = "sigmoid";
  const Answer answer = make_answer(network, 1, 3);
  const auto boxes = decode(network, answer, 1, above(0));
  ASSERT_EQ(boxes.size(), 945u);
  for (std::size_t n = 0; n < 945; n++) {
    float best = answer.at(0, 0, n, 5);
    for (std::size_t c = 1; c < 7; c++)
      best = std::max(best, answer.at(0, 0, n, 5 + c));
    const double score = 1 / (1 + std::exp(-answer.at(0, 0, n, 4))) / (1 + std::exp(-best));
    EXPECT_NEAR(static_cast<double>(boxes[n].score), score, 1e-6);
  }
}

TEST(Decoder, takes_coordinates_in_parts_of_the_input) {
  Network network = make_network("yolo-v8");
  const Answer answer = make_answer(network, 1, 3);
  const auto pixels = decode(network, answer, 1, {});
  network.description.parameters["coordinates"] = "relative";
  const auto relative = decode(network, answer, 1, {});
  ASSERT_EQ(relative.size(), pixels.size());
  EXPECT_FLOAT_EQ(relative[0].x2, 160 * pixels[0].x2);
  EXPECT_FLOAT_EQ(relative[0].y2, 96 * pixels[0].y2);
}

TEST(Decoder, decodes_the_first_of_a_larger_batch) {
  const Network network = make_network("yolo-v8");
  const Answer answer = make_answer(network, 4, 3);
  const auto three = decode(network, answer, 3, {}), four = decode(network, answer, 4, {});
  EXPECT_LT(three.size(), four.size());
  EXPECT_TRUE(std::ranges::equal(three, std::span(four).first(three.size())));
}

TEST(Half, is_exact) {
  for (unsigned half = 0; half < 65536; half++) {
    const float expected = value_of_half(static_cast<std::uint16_t>(half));
    const float found = float_of_half(static_cast<std::uint16_t>(half));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found));
    else
      EXPECT_TRUE(found == expected && std::signbit(found) == std::signbit(expected)) << half;
  }
}

TEST(Exp, is_that_of_the_library_but_for_rounding) {
  for (float x = -110; x < 95; x += .0137F)
    EXPECT_FLOAT_EQ(exp_float(x), static_cast<float>(std::min(std::exp(static_cast<double>(x)), HUGE_VAL))) << x;
  EXPECT_EQ(exp_float(0), 1);
  EXPECT_EQ(exp_float(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp_float(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_TRUE(std::isnan(exp_float(not_a_number)));
}

}  // namespace
}  // namespace crowd::test
