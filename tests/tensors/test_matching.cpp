// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Networks that are as described, and such that are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "network.hpp"
#include "tensors/layouts.hpp"

namespace crowd::test {
namespace {

using namespace tensors;
using testing::ElementsAre;
using testing::HasSubstr;

bool plan(const Network& network, Planned& planned, std::string& problem) {
  return make_plan(network.description, network.outputs, network.width, network.height, planned, problem);
}

std::vector<std::size_t> matched(const Network& network) {
  Planned planned;
  std::string problem;
  EXPECT_TRUE(plan(network, planned, problem)) << problem;
  return planned.outputs;
}

std::string refusal(const Network& network) {
  Planned planned;
  std::string problem;
  EXPECT_FALSE(plan(network, planned, problem));
  return problem;
}

TEST(Matching, goes_by_names_first) {
  Network network = make_network("face-net");
  EXPECT_THAT(matched(network), ElementsAre(0, 1, 2));
  std::swap(network.outputs[1], network.outputs[2]);
  EXPECT_THAT(matched(network), ElementsAre(0, 2, 1)) << "sizes and offsets are of one shape";
}

TEST(Matching, goes_by_shape_where_one_alone_has_it) {
  Network network = make_network("person-net");
  std::swap(network.outputs[0], network.outputs[1]);
  network.outputs[0].name = "a";
  network.outputs[1].name = "b";
  EXPECT_THAT(matched(network), ElementsAre(1, 0));
  network.outputs.push_back({"c", "", Type::float32, {-1, 1917, 4}});
  EXPECT_THAT(refusal(network), testing::AllOf(HasSubstr("no output box_encodings"), HasSubstr("c [any,1917,4]")));
  network.outputs.back().dims[1] = 1000;
  EXPECT_THAT(matched(network), ElementsAre(1, 0)) << "the description says 1917";
}

TEST(Matching, leaves_out_what_is_not_read) {
  Network network = make_network("face-net");
  network.outputs.pop_back();
  EXPECT_THAT(matched(network), ElementsAre(0, 1, 2));
}

TEST(Matching, takes_a_batch_of_any_size) {
  Network network = make_network("yolo-v8");
  network.outputs[0].dims[0] = 1;
  EXPECT_THAT(matched(network), ElementsAre(0));
  network.description.outputs[0].dims = {8, -1, -1};
  EXPECT_THAT(matched(network), ElementsAre(0));
}

struct Bad {
  const char* network;
  std::function<void(Network&)> change;
  const char* message;
};

void set_parameter(Network& network, const char* key, const char* value) {
  network.description.parameters[key] = value;
}

const Bad bad[] = {
    {"yolo-v8", [](Network& n) { n.outputs.clear(); }, "it has: none"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 44};
     },
     "is [any,44], where"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 4, 315};
     },
     "yolo-v8-out is [b,4+C,N]"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 8400, 84};
     },
     "try group-id=yolo-v5-out"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 44, -1};
     },
     "describe it as it is"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 44, 1LL << 40};
     },
     "larger than any"},
    {"yolo-v8",
     [](Network& n) {
       n.outputs[0].dims = {-1, 1LL << 40, 1LL << 41};
     },
     "larger than any"},
    {"yolo-v8",
     [](Network& n) {
       n.description.outputs[0].dims = {-1, 84, 8400};
     },
     "has [any,84,8400]"},
    {"yolo-v8", [](Network& n) { n.description.outputs.clear(); }, "no output with id=yolo-v8-out"},
    {"yolo-v8", [](Network& n) { n.description.group_id = "yolo"; }, "should be ssd-encodings-out"},
    {"yolo-v8", [](Network& n) { n.outputs[0].type = Type::uint8; }, "float32 or float16"},
    {"yolo-v8", [](Network& n) { n.width = 0; }, "no pixels"},
    {"yolo-v8", [](Network& n) { set_parameter(n, "classes", "80"); }, "it has 40 classes"},
    {"yolo-v8", [](Network& n) { set_parameter(n, "classes", "many"); }, "a whole number from 1 to 65536"},
    {"yolo-v8", [](Network& n) { set_parameter(n, "classes", "0"); }, "a whole number from 1 to 65536"},
    {"yolo-v8", [](Network& n) { set_parameter(n, "activation", "softmax"); }, "none or sigmoid"},
    {"yolo-v8", [](Network& n) { set_parameter(n, "grids", "1"); }, "has activation, classes, coordinates"},
    {"yolo-v5",
     [](Network& n) {
       n.outputs[0].dims = {-1, 85, 25200};
     },
     "try group-id=yolo-v8-out"},
    {"yolo-v26", [](Network& n) { n.description.parameters.clear(); }, "add classes= to [crowd]"},
    {"yolo-v26", [](Network& n) { n.outputs[0].dims[2] = 7; }, "is [any,300,7]"},
    {"person-net", [](Network& n) { n.outputs[1].name = n.outputs[0].name; }, "class_predictions"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", "19,10"); }, "1683 anchors and the network has 1917"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", "19,10,x"); }, "up to 16 whole numbers from 1 to 512"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", "19.5"); }, "up to 16 whole numbers from 1 to 512"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", "512,512,512,512,512,512"); }, "8650752 anchors"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", "1e9"); }, "up to 16 whole numbers from 1 to 512"},
    {"person-net", [](Network& n) { set_parameter(n, "grids", ""); }, "up to 16 whole numbers from 1 to 512"},
    {"person-net", [](Network& n) { set_parameter(n, "ratios", "0"); }, "up to 16 numbers from 0.01 to 100"},
    {"person-net", [](Network& n) { set_parameter(n, "variances", ".1,.2"); }, "4 numbers"},
    {"person-net", [](Network& n) { set_parameter(n, "min-scale", "nan"); }, "a number from"},
    {"person-net", [](Network& n) { set_parameter(n, "box-order", "yx"); }, "yxhw or xywh"},
    {"person-net", [](Network& n) { set_parameter(n, "background", "1"); }, "yes or no"},
    {"ssd-boxes", [](Network& n) { n.outputs[1].dims[2] = 1; }, "give background=no"},
    {"ssd-boxes", [](Network& n) { n.outputs[1].dims[1] = 334; }, "do not go together"},
    {"face-net", [](Network& n) { n.outputs[1].dims[3] = 25; }, "do not go together"},
    {"face-net", [](Network& n) { n.width = 100; }, "multiple-of=32"},
    {"face-net", [](Network& n) { n.height = 128; }, "multiple-of=32"},
    {"blazeface", [](Network& n) { set_parameter(n, "grids", "16"); }, "a number for each layer"},
    {"blazeface", [](Network& n) { set_parameter(n, "anchors-per-cell", "6,2"); }, "correct grids or anchors-per-cell"},
};

void PrintTo(const Bad& it, std::ostream* out) {
  *out << it.network << ": " << it.message;
}

class BadNetwork : public testing::TestWithParam<Bad> {};

TEST_P(BadNetwork, is_refused_with_a_remedy) {
  Network network = make_network(GetParam().network);
  GetParam().change(network);
  EXPECT_THAT(refusal(network), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Case, BadNetwork, testing::ValuesIn(bad));

}  // namespace
}  // namespace crowd::test
