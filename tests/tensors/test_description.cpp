// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Descriptions of networks and labels files, good and bad.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "network.hpp"
#include "temporary_file.hpp"
#include "tensors/description.hpp"
#include "tensors/layouts.hpp"
#include "tensors/shipped.hpp"

namespace crowd::test {
namespace {

using namespace tensors;
using testing::ElementsAre;
using testing::HasSubstr;

/// What GStreamer 1.28 reads for YOLOv8, and nothing of ours.
constexpr char stock[] = R"([modelinfo]
version=1.0
group-id=yolo-v8-out

[images]
id=yolo-v8-in
type=float32
dims=1,3,640,480
dir=input
ranges=0.0,1.0;-1.0,1.0;0.0,255.0

[output0]
id=yolo-v8-out
type=float32
dims=1,22,8400
dir=output
dims-order=col-major
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

Description read(const std::string& text) {
  const TemporaryFile file(text);
  std::string problem;
  const auto description = read_description(file.path, problem);
  EXPECT_TRUE(description) << problem;
  return description.value_or(Description());
}

/// The message, which names the file.
std::string refusal(const std::string& text) {
  const TemporaryFile file(text);
  std::string problem;
  EXPECT_FALSE(read_description(file.path, problem)) << text;
  EXPECT_THAT(problem, HasSubstr(file.path));
  EXPECT_LT(problem.size(), 2000u);
  return problem;
}

TEST(Description, of_gstreamer_is_read) {
  const Description description = read(stock);
  EXPECT_EQ(description.group_id, "yolo-v8-out");
  EXPECT_EQ(description.input.tensor.name, "images");
  EXPECT_EQ(description.input.tensor.id, "yolo-v8-in");
  EXPECT_EQ(description.input.tensor.type, Type::float32);
  EXPECT_TRUE(description.input.planar);
  EXPECT_TRUE(description.input.rgb);
  EXPECT_EQ(description.input.width(), 480);
  EXPECT_EQ(description.input.height(), 640);
  EXPECT_EQ(description.input.ranges[0].max, 1.F);
  EXPECT_EQ(description.input.ranges[1].min, -1.F);
  EXPECT_EQ(description.input.ranges[2].max, 255.F);
  EXPECT_EQ(description.input.fit, Fit::stretch);
  ASSERT_EQ(description.outputs.size(), 1u);
  EXPECT_EQ(description.outputs[0].name, "output0");
  EXPECT_THAT(description.outputs[0].dims, ElementsAre(1, 22, 8400));
  EXPECT_TRUE(description.parameters.empty());
  EXPECT_EQ(description.labels, "");
}

TEST(Description, has_a_group_of_our_own) {
  const Description description = read(std::string(stock) +
                                       "[crowd]\ncolors=bgr\nfit=letterbox\nmultiple-of=32\nmax-side=960\n"
                                       "activation=sigmoid\nclasses=18\nlabels=names.txt\n");
  EXPECT_FALSE(description.input.rgb);
  EXPECT_EQ(description.input.fit, Fit::letterbox);
  EXPECT_EQ(description.input.multiple_of, 32);
  EXPECT_EQ(description.input.max_side, 960);
  EXPECT_THAT(description.parameters, ElementsAre(std::pair("activation", "sigmoid"), std::pair("classes", "18")));
  EXPECT_EQ(std::filesystem::path(description.labels), std::filesystem::path(testing::TempDir()) / "names.txt");
}

TEST(Description, has_labels_anywhere) {
  EXPECT_EQ(read(std::string(stock) + "[crowd]\nlabels=/etc/names\n").labels, "/etc/names");
}

TEST(Description, has_inputs_with_channels_last_and_of_any_size) {
  const Description description = read(replaced(stock, "1,3,640,480", "-1,-1,-1,3"));
  EXPECT_FALSE(description.input.planar);
  EXPECT_EQ(description.input.width(), 0);
  EXPECT_EQ(description.input.height(), 0);
}

TEST(Description, has_one_range_for_all_channels_or_none) {
  EXPECT_EQ(read(replaced(stock, "0.0,1.0;-1.0,1.0;0.0,255.0", "-2,3")).input.ranges[2].min, -2.F);
  const Description none = read(replaced(stock, "ranges=0.0,1.0;-1.0,1.0;0.0,255.0\n", ""));
  EXPECT_EQ(none.input.ranges[1].min, 0.F);
  EXPECT_EQ(none.input.ranges[1].max, 255.F);
}

struct Bad {
  const char *from, *to, *message;
};

class BadDescription : public testing::TestWithParam<Bad> {};

TEST_P(BadDescription, is_refused_with_a_remedy) {
  const auto [from, to, message] = GetParam();
  EXPECT_THAT(refusal(replaced(stock, from, to)), HasSubstr(message));
}

const Bad bad[] = {
    {"[modelinfo]", "[other]", "begin it with [modelinfo]"},
    {"[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n", "", "begin it with [modelinfo]"},
    {"version=1.0\n", "", "add version=1.0"},
    {"version=1.0", "version=2.0", "only 1.0 is"},
    {"group-id=yolo-v8-out", "", "add group-id="},
    {"group-id=yolo-v8-out", "group-id=yolo", "should be ssd-encodings-out, ssd-boxes-out"},
    {"group-id=yolo-v8-out", "group-id=yolo-v8-out\nauthor=me", "unknown key author in [modelinfo]; known are version"},
    {"dir=input", "dir=input\nshape=1", "unknown key shape in [images]"},
    {"dir=input", "dir=in", "dir=in in [images] should be input or output"},
    {"dir=input", "", "no dir= in [images]"},
    {"dir=input", "dir=output", "ranges= in [images]"},
    {"dir=output", "dir=input", "more than one tensor with dir=input"},
    {"[output0]\nid=yolo-v8-out\ntype=float32\ndims=1,22,8400\ndir=output\ndims-order=col-major\n", "",
     "add a group for each of the network's outputs"},
    {"[images]\nid=yolo-v8-in\ntype=float32\ndims=1,3,640,480\ndir=input\nranges=0.0,1.0;-1.0,1.0;0.0,255.0\n", "",
     "add a group for the network's input"},
    {"type=float32", "", "no type= in [images]"},
    {"type=float32", "type=int8", "type=int8 in [images] should be float32, float16 or uint8"},
    {"type=float32", "type=uint8", "0,255 for type=uint8"},
    {"dims=1,3,640,480", "", "no dims= in [images]"},
    {"dims=1,3,640,480", "dims=", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,a,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,0,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,-2,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,99999999999999999999,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,4294967297,480", "should be up to 8 whole numbers"},
    {"dims=1,3,640,480", "dims=1,3,20000,480", "sides of up to 16384"},
    {"dims=1,3,640,480", "dims=1,1,640,480", "batch,3,height,width"},
    {"dims=1,3,640,480", "dims=3,640,480", "batch,3,height,width"},
    {"dims=1,22,8400", "dims=1,1,1,1,1,1,1,1,1", "should be up to 8 whole numbers"},
    {"dims-order=col-major", "dims-order=any", "row-major or col-major"},
    {"0.0,1.0;-1.0,1.0;0.0,255.0", "0,1;0,1", "MIN,MAX, or three of them"},
    {"0.0,1.0;-1.0,1.0;0.0,255.0", "0,1,2", "two numbers MIN,MAX"},
    {"0.0,1.0;-1.0,1.0;0.0,255.0", "0,nan", "two numbers MIN,MAX"},
    {"0.0,1.0;-1.0,1.0;0.0,255.0", "1,1", "two numbers MIN,MAX that differ"},
    {"0.0,1.0;-1.0,1.0;0.0,255.0", "0,1e99", "two numbers MIN,MAX"},
    {"id=yolo-v8-out\ntype", "id=yolo\ntype", "id=yolo in [output0] should be one of yolo-v8-out [b,4+C,N]"},
    {"id=yolo-v8-out\ntype", "type", "id= in [output0] should be one of"},
    {"[output0]", "[output1]\nid=yolo-v8-out\ntype=float32\ndims=1,2,3\ndir=output\n[output0]",
     "two tensors have id=yolo-v8-out"},
    {"[output0]", "[output0", "groups [NAME] with lines key=value"},
    {"version=1.0", "version", "groups [NAME] with lines key=value"},
    {"[images]", "[crowd]\ncolors=cmyk\n[images]", "colors=cmyk in [crowd] should be rgb or bgr"},
    {"[images]", "[crowd]\nfit=\n[images]", "should be stretch or letterbox"},
    {"[images]", "[crowd]\nmultiple-of=0\n[images]", "from 1 to 1024"},
    {"[images]", "[crowd]\nmultiple-of=32\nmax-side=16\n[images]", "at least multiple-of, which is 32"},
    {"[images]", "[crowd]\nmax-side=1e3\n[images]", "from 1 to 16384"},
    {"[images]", "[crowd]\nlabels=\n[images]", "name a file, or remove it"},
    {"[images]", "[crowd]\ngrids=1,2\n[images]", "unknown key grids in [crowd]; group-id=yolo-v8-out knows colors"},
};
INSTANTIATE_TEST_SUITE_P(Case, BadDescription, testing::ValuesIn(bad));

TEST(Description, is_refused_where_it_is_no_such_text) {
  EXPECT_THAT(refusal(""), HasSubstr("begin it with [modelinfo]"));
  EXPECT_THAT(refusal(std::string(stock) + '\0'), HasSubstr("not a text in UTF-8"));
  EXPECT_THAT(refusal(std::string(stock) + "[\xff]"), HasSubstr("not a text in UTF-8"));
  EXPECT_THAT(refusal(std::string((1 << 20) + 1, '\n')), HasSubstr("larger than 1024 KiB"));
  EXPECT_THAT(refusal(replaced(stock, "type=float32", "type=" + std::string(100000, 'x'))), HasSubstr("xxx..."));
  EXPECT_EQ(read(stock + std::string((1 << 20) - sizeof stock, '\n')).group_id, "yolo-v8-out");
}

TEST(Description, is_refused_where_there_is_no_file) {
  std::string problem;
  EXPECT_FALSE(read_description("/no/such/file", problem));
  EXPECT_THAT(problem, testing::AllOf(HasSubstr("/no/such/file"), HasSubstr("check the path")));
  EXPECT_FALSE(read_description(testing::TempDir(), problem));
  EXPECT_THAT(problem, HasSubstr("is not a file"));
  EXPECT_FALSE(read_description("/dev/zero", problem));
  EXPECT_THAT(problem, HasSubstr("is not a file"));
  EXPECT_FALSE(read_description("", problem));
}

TEST(Description, is_shipped_for_each_layout) {
  for (const char* name : network_names) {
    const Network network = make_network(name);
    EXPECT_TRUE(find_layout(network.description.group_id)) << name;
    if (!network.description.labels.empty()) {
      std::string problem;
      EXPECT_TRUE(read_labels(network.description.labels, problem)) << problem;
    }
  }
  const Network persons = make_network("person-net"), faces = make_network("face-net");
  EXPECT_EQ(persons.description.input.width(), 300);
  EXPECT_EQ(persons.description.input.ranges[0].min, -1.F);
  EXPECT_EQ(faces.description.input.width(), 0);
  EXPECT_EQ(faces.description.input.multiple_of, 32);
  EXPECT_EQ(faces.description.input.tensor.name, "input.1");
}

TEST(Description, is_found_by_name_or_path) {
  std::string problem;
  const std::string shipped = find_description("person-net", problem);
  EXPECT_EQ(std::filesystem::path(shipped).filename(), "person-net.modelinfo");
  EXPECT_EQ(find_description(shipped, problem), shipped);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(find_description("persons", problem), "");
  EXPECT_THAT(problem, testing::AllOf(HasSubstr("persons"), HasSubstr("face-net, person-net")));
  EXPECT_EQ(find_description("./persons", problem), "");
  EXPECT_THAT(problem, HasSubstr("check the path"));
  EXPECT_EQ(find_description("", problem), "");
}

TEST(Labels, are_the_lines) {
  const TemporaryFile file("person\r\nbicycle\n\ntraffic light");
  std::string problem;
  const auto labels = read_labels(file.path, problem);
  ASSERT_TRUE(labels) << problem;
  EXPECT_THAT(*labels, ElementsAre("person", "bicycle", "", "traffic light"));
}

TEST(Labels, are_refused_with_the_reason) {
  const auto refusal_of = [](const std::string& text) {
    const TemporaryFile file(text);
    std::string problem;
    EXPECT_FALSE(read_labels(file.path, problem));
    return problem;
  };
  EXPECT_THAT(refusal_of(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of("a\n" + std::string(257, 'b')), HasSubstr("line 2 has more than 256 bytes"));
  EXPECT_THAT(refusal_of(std::string(65537, '\n')), HasSubstr("more than 65536 lines"));
  EXPECT_THAT(refusal_of("caf\xe9\n"), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal_of(std::string(20 << 20, 'x')), HasSubstr("larger than"));
  const TemporaryFile most(std::string(65536, '\n'));
  std::string problem;
  EXPECT_TRUE(read_labels(most.path, problem)) << problem;
  EXPECT_FALSE(read_labels("/no/such/file", problem));
  EXPECT_THAT(problem, HasSubstr("the labels file /no/such/file"));
}

}  // namespace
}  // namespace crowd::test
