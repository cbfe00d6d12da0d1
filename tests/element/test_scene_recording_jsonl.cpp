// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Recordings of JSON lines.

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "recording_cases.hpp"

namespace {

using namespace crowd::scene;
using testing::AnyOf;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string json_reason(const std::string& bad) {
  // The good line stands alone, so the format is found by either line's brace.
  return reason(bad, R"({"objects": [{"box": [1, 2, 3, 4]}]})");
}

TEST(recording_jsonl, reads_our_objects) {
  const Parsed parsed =
      parse(R"({"objects": [{"box": [1, 2.5, -3e1, 4], "score": 0.75, "class": 3}, {"box": [5,6,7,8]}]}
{"frame": 4, "objects": []}

{"objects": [{"box": [9, 9, 10, 11], "score": -1, "label": "face", "other": {"a": [null, true]}}], "extra": "x"})",
            true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  const Recording& recording = *parsed.recording;
  EXPECT_THAT(boxes(recording, 0), ElementsAre(Box{1, 2.5f, -30, 4}, Box{5, 6, 7, 8}));
  EXPECT_THAT(scores(recording, 0), ElementsAre(0.75f, 1.0f));
  EXPECT_THAT(classes(recording, 0), ElementsAre(3, 0));
  EXPECT_THAT(boxes(recording, 4), IsEmpty());
  EXPECT_THAT(boxes(recording, 5), ElementsAre(Box{9, 9, 10, 11}));
  EXPECT_EQ(recording.length(), 6u);
  EXPECT_THAT(recording.labels(), ElementsAre("face"));
}

TEST(recording_jsonl, trailing_empty_frames_count) {
  const Parsed parsed = parse("{\"objects\": [{\"box\": [0, 0, 1, 1]}]}\n{\"objects\": []}\n{\"objects\": []}\n", true);
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->length(), 3u);
}

TEST(recording_jsonl, nothing_follows_the_last_frame_there_can_be) {
  const Parsed parsed = parse("{\"frame\": 2147483647, \"objects\": []}\n{\"objects\": []}\n", false);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_EQ(parsed.recording->length(), 2147483648u);
  EXPECT_EQ(parsed.recording->skipped_lines(), 1u);
  ASSERT_TRUE(parsed.recording->first_skipped());
  EXPECT_EQ(parsed.recording->first_skipped()->line, 2u);
  EXPECT_EQ(parsed.recording->first_skipped()->reason,
            "the frame after 2147483647, which is the last one there can be; the numbers of frames start at 0");
}

TEST(recording_jsonl, reads_dl_streamers_objects) {
  const Parsed parsed = parse(
      R"({"objects":[{"detection":{"bounding_box":{"x_max":0.7,"x_min":0.5,"y_max":1,"y_min":0.5},"confidence":0.9,"label":"person","label_id":1},"h":540,"roi_type":"person","w":384,"x":960,"y":540}],"resolution":{"height":1080,"width":1920},"source":"x","timestamp":0})",
      true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(boxes(*parsed.recording, 0), ElementsAre(Box{960, 540, 1344, 1080}));
  EXPECT_THAT(scores(*parsed.recording, 0), ElementsAre(.9f));
  EXPECT_THAT(classes(*parsed.recording, 0), ElementsAre(1));
  EXPECT_THAT(parsed.recording->labels(), ElementsAre("class-0", "person"));
  EXPECT_EQ(parsed.recording->resolution().width, 1920);
  EXPECT_EQ(parsed.recording->resolution().height, 1080);
}

TEST(recording_jsonl, labels_name_classes_and_take_free_ones) {
  const Parsed parsed =
      parse(R"({"objects": [{"box": [0,0,1,1], "class": 2, "label": "dog"},
)"
            R"({"objects": [{"box": [0,0,1,1], "class": 2, "label": "dog"}, {"box": [0,0,1,1], "label": "cat"}]}
{"objects": [{"box": [0,0,1,1], "label": "dog"}, {"box": [0,0,1,1], "label": "cat"}, {"box": [0,0,1,1], "class": 2, "label": "cow"}]})");
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->skipped_lines(), 1u);
  EXPECT_THAT(classes(*parsed.recording, 1), ElementsAre(2, 3));
  EXPECT_THAT(classes(*parsed.recording, 2), ElementsAre(2, 3, 2));
  EXPECT_THAT(parsed.recording->labels(), ElementsAre("class-0", "class-1", "dog", "cat"));
}

TEST(recording_jsonl, lines_of_one_frame_add_up) {
  const Parsed parsed = parse(R"({"frame": 1, "objects": [{"box": [1,0,2,1]}]}
{"frame": 0, "objects": [{"box": [2,0,3,1]}]}
{"frame": 1, "objects": [{"box": [3,0,4,1]}]})",
                              true);
  ASSERT_TRUE(parsed.recording);
  EXPECT_THAT(boxes(*parsed.recording, 0), ElementsAre(Box{2, 0, 3, 1}));
  EXPECT_THAT(boxes(*parsed.recording, 1), ElementsAre(Box{1, 0, 2, 1}, Box{3, 0, 4, 1}));
}

TEST(recording_jsonl, a_bad_line_still_is_a_frame_and_leaves_nothing_behind) {
  const Parsed parsed = parse(R"({"objects": [{"box": [1,0,2,1]}]}
{"objects": [{"box": [5,5,6,6], "label": "ghost"}, {"box": [1, 2]}]}
{"objects": [{"box": [2,0,3,1]}]})");
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->size(), 2u);
  EXPECT_EQ(parsed.recording->first_skipped()->line, 2u);
  EXPECT_THAT(boxes(*parsed.recording, 1), IsEmpty());
  EXPECT_THAT(boxes(*parsed.recording, 2), ElementsAre(Box{2, 0, 3, 1}));
  EXPECT_THAT(parsed.recording->labels(), IsEmpty());
}

TEST(recording_jsonl, a_line_with_a_resolution_and_no_objects_is_an_empty_frame) {
  const Parsed parsed = parse(R"({"resolution": {"height": 50, "width": 100}, "source": "x", "timestamp": 0}
{"objects": [{"box": [2,0,3,1]}]})",
                              true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_EQ(parsed.recording->length(), 2u);
  EXPECT_EQ(parsed.recording->size(), 1u);
  EXPECT_THAT(boxes(*parsed.recording, 0), IsEmpty());
  EXPECT_EQ(parsed.recording->resolution().width, 100);
}

TEST(recording_jsonl, a_line_refused_at_its_last_label_leaves_nothing_behind) {
  const Parsed parsed = parse(R"({"objects": [{"box": [0,0,1,1], "class": 1, "label": "dog"}]}
{"resolution": {"width": 100, "height": 50}, "objects": [{"box": [0,0,1,1], "class": 0, "label": "cat"}, {"box": [0,0,1,1], "class": 65535, "label": "last"}, {"box": [0,0,1,1], "label": "too many"}]}
{"resolution": {"width": 200, "height": 50}, "objects": [{"box": [2,0,3,1], "label": "cat"}, {"box": [2,0,3,1], "label": "dog"}]})");
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_EQ(parsed.recording->skipped_lines(), 1u);
  EXPECT_EQ(parsed.recording->first_skipped()->reason, "more than 65536 different labels");
  EXPECT_EQ(parsed.recording->resolution().width, 200);
  EXPECT_EQ(parsed.recording->size(), 3u);
  EXPECT_THAT(classes(*parsed.recording, 2), ElementsAre(2, 1));
  EXPECT_THAT(parsed.recording->labels(), ElementsAre("class-0", "dog", "cat"));
}

TEST(recording_jsonl, what_does_not_fit_is_named) {
  EXPECT_THAT(json_reason(R"({"objects": [{"box": [1, 2, 3)"), HasSubstr("not JSON: "));
  // As it was, and as it is from some version of simdjson on.
  EXPECT_THAT(json_reason(R"({"objects": [{"box": [NaN, 2, 3, 4]}]})"),
              AnyOf(HasSubstr("not JSON: "), Eq("a corner of \"box\" is not a number")));
  EXPECT_EQ(json_reason("{}"), "no array \"objects\"");
  EXPECT_EQ(json_reason(R"({"objects": {}})"), "no array \"objects\"");
  EXPECT_EQ(json_reason(R"({"objects": null})"), "no array \"objects\"");
  EXPECT_EQ(json_reason(R"({"objects": [7]})"), "a member of \"objects\" is not an object");
  EXPECT_EQ(json_reason(R"({"objects": [{}]})"), R"(an object has neither "box" nor "x", "y", "w", "h")");
  EXPECT_EQ(json_reason(R"({"objects": [{"x": 1, "y": 2, "w": 3}]})"), "\"h\" is not a number");
  const std::string no_box = "\"box\" is not an array of four numbers, [x1, y1, x2, y2]";
  for (const char* box : {"null", "7", "{}", "[]", "[1,2,3]", "[1,2,3,4,5]", "\"1,2,3,4\""})
    EXPECT_EQ(json_reason(std::string(R"({"objects": [{"box": )") + box + "}]}"), no_box) << box;
  for (const char* corner : {"null", "\"1\"", "true", "[1]", "{}"})
    EXPECT_EQ(json_reason(std::string(R"({"objects": [{"box": [1, 2, 3, )") + corner + "]}]}"),
              "a corner of \"box\" is not a number")
        << corner;
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1, 2, 3, 1e39]}]})"),
            "a corner of \"box\" is larger than a float can hold");
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1,2,3,4], "score": "high"}]})"), "\"score\" is not a number");
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1,2,3,4], "label": 7}]})"), "\"label\" is not a string");
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1,2,3,4], "detection": 7}]})"), "\"detection\" is not an object");
  for (const char* number : {"-1", "1.5", "65536", "1e30"})
    EXPECT_EQ(json_reason(std::string(R"({"objects": [{"box": [1,2,3,4], "class": )") + number + "}]}"),
              "\"class\" is not a whole number from 0 to 65535")
        << number;
  for (const char* number : {"-1", "0.5", "2147483648"})
    EXPECT_EQ(json_reason(std::string(R"({"objects": [], "frame": )") + number + "}"),
              "\"frame\" is not a whole number from 0 to 2147483647")
        << number;
  EXPECT_EQ(json_reason(R"({"objects": [], "resolution": {"width": 10, "height": 0}})"),
            "the width or height of \"resolution\" is not above 0");
}

TEST(recording_jsonl, a_line_that_is_no_object_is_named) {
  for (const char* line : {"[]", "7", "\"text\"", "null"}) {
    const Parsed parsed = parse(std::string("{\"objects\": []}\n") + line);
    ASSERT_TRUE(parsed.recording);
    ASSERT_TRUE(parsed.recording->first_skipped()) << line;
    EXPECT_EQ(parsed.recording->first_skipped()->line, 2u);
    EXPECT_THAT(parsed.recording->first_skipped()->reason, testing::StartsWith("not ")) << line;
  }
}

TEST(recording_jsonl, one_resolution_holds_for_the_file) {
  const Parsed parsed = parse(R"({"resolution": {"width": 100, "height": 50}, "objects": [{"box": [0,0,1,1]}]}
{"resolution": {"width": 100, "height": 51}, "objects": [{"box": [0,0,1,1]}]}
{"objects": [{"box": [0,0,1,1]}]})");
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->size(), 2u);
  EXPECT_EQ(parsed.recording->first_skipped()->reason, "\"resolution\" differs from the one of an earlier line");
}

TEST(recording_jsonl, a_tower_of_brackets_is_refused) {
  for (const char* bracket : {"[", "{\"a\":"}) {
    std::string tower = "{\"objects\":";
    for (int i = 0; i < 300'000; i++)
      tower += bracket;
    EXPECT_EQ(json_reason(tower), "nested more than 32 levels deep");
  }
  EXPECT_TRUE(
      parse(R"({"note": "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[[[", "objects": []})", true).recording);
}

TEST(recording_jsonl, zero_bytes_are_refused) {
  EXPECT_EQ(json_reason(std::string("{\"objects\": []}\0", 16)), "not JSON: a zero byte");
}

// `value` as a number that is looked at, and as one that is not, a level deeper.
std::vector<std::string> lines_with(const std::string& value) {
  return {R"({"objects": [{"box": [1, 2, 3, )" + value + "]}]}",
          R"({"objects": [{"box": [1, 2, 3, 4], "other": {"deep": [0, )" + value + "]}}]}"};
}

TEST(recording_jsonl, what_json_does_not_have_is_refused) {
  for (const char* value : {"010",
                            "-01",
                            "0x10",
                            "$F",
                            ".5",
                            "5.",
                            "+1",
                            "1e",
                            "1e+",
                            "-",
                            "1.e5",
                            "1_0",
                            "1a",
                            "NaN",
                            "-Infinity",
                            "'1'",
                            "nul",
                            "nullx",
                            "tru",
                            "falsey",
                            "undefined",
                            "\"\\x\"",
                            "\"\\u12\"",
                            ",",
                            "1 2",
                            "1:2",
                            "\"a\":1",
                            "[1,]",
                            "[,1]",
                            "{\"a\"}",
                            "{\"a\":}",
                            "{a:1}",
                            "{'a':1}",
                            "{\"a\":1,}",
                            "{\"a\" 1}",
                            "[1 2]",
                            "{\"a\":1 \"b\":2}",
                            "[1}",
                            "{]",
                            "/*1*/",
                            "\"a\tb\""}) {
    for (const std::string& line : lines_with(value))
      EXPECT_THAT(json_reason(line), testing::AnyOf(StartsWith("not JSON: "), HasSubstr("is not a number"))) << line;
  }
  EXPECT_EQ(json_reason(lines_with("010")[0]), "not JSON: 010 is no number");
  EXPECT_EQ(json_reason(lines_with("0x10")[1]), "not JSON: 0x10 is no number");
  EXPECT_EQ(json_reason("{\"objects\": [], \"a\": \"\xff\"}"), "not JSON: not UTF-8");
  EXPECT_EQ(json_reason(R"({"objects": [], "a": "b})"), "not JSON: a string without its closing quote");
  EXPECT_THAT(json_reason("{'objects': []}"), StartsWith("not JSON: "));
  EXPECT_THAT(json_reason(R"({"objects": []}})"),
              testing::AnyOf(StartsWith("not JSON: "), StartsWith("more than one")));
  EXPECT_THAT(json_reason(R"({"a": {"objects": []})"), StartsWith("not JSON: "));
}

TEST(recording_jsonl, what_json_has_is_read) {
  const Parsed parsed = parse(
      R"({ "objects" : [ { "box" : [ 0 , -0.0 , 1E+2 , 1e-400 ] , "label" : "\"\u00e9\n\/" } ] , "a" : [ { } , [ ] , true , false , null , "\ud83d\ude00" , -0 , 0.10 ] })",
      true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(boxes(*parsed.recording, 0), ElementsAre(Box{0, 0, 100, 0}));
  EXPECT_THAT(parsed.recording->labels(), ElementsAre("\"\u00e9\n/"));
}

TEST(recording_jsonl, a_second_object_on_a_line_is_not_lost) {
  const std::string one = R"({"objects": [{"box": [1, 2, 3, 4]}]})";
  for (const char* between : {"", " ", "\t"})
    EXPECT_EQ(json_reason(one + between + one), "more than one object on the line; write one a line, say with jq -c");
}

TEST(recording_jsonl, integers_of_any_size_are_what_they_are) {
  for (const std::string& line : lines_with("18446744073709551616")) {
    const Parsed parsed = parse(line, true);
    EXPECT_TRUE(parsed.recording) << parsed.failure.message;
  }
  const Parsed parsed = parse(
      R"({"objects": [{"box": [18446744073709551616, 18446744073709551615, -9223372036854775809, 100000000000000000000000000000000000000]}]})",
      true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(boxes(*parsed.recording, 0), ElementsAre(Box{0x1p64f, 0x1p64f, -0x1p63f, 1e38f}));
  EXPECT_EQ(json_reason(R"({"frame": 18446744073709551616, "objects": []})"),
            "\"frame\" is not a whole number from 0 to 2147483647");
  EXPECT_EQ(json_reason(lines_with("1" + std::string(400, '0'))[0]),
            "a corner of \"box\" is larger than a float can hold");
  EXPECT_EQ(json_reason(lines_with("1e400")[0]), "a corner of \"box\" is larger than a float can hold");
}

TEST(recording_jsonl, a_member_that_is_looked_at_may_be_there_once) {
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1, 2, 3, 4]}], "objects": []})"), "\"objects\" is there twice");
  EXPECT_EQ(json_reason(R"({"frame": 1, "\u0066rame": 1, "objects": []})"), "\"frame\" is there twice");
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1, 2, 3, 4], "box": [1, 2, 3, 4]}]})"), "\"box\" is there twice");
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1,2,3,4], "detection": {"label": "a", "label": "b"}}]})"),
            "\"label\" is there twice");
  EXPECT_TRUE(parse(R"({"a": 1, "a": 2, "objects": [{"box": [1, 2, 3, 4], "b": 1, "b": 2}]})", true).recording);
}

TEST(recording_jsonl, a_label_with_a_zero_character_is_refused) {
  EXPECT_EQ(json_reason(R"({"objects": [{"box": [1, 2, 3, 4], "label": "a\u0000b"}]})"),
            "\"label\" has a zero character");
}

TEST(recording_jsonl, nesting_has_its_limit_where_it_says) {
  const auto nested = [](std::size_t levels) {  // the object is one
    return R"({"objects": [], "a": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(parse(nested(32), true).recording);
  EXPECT_EQ(json_reason(nested(33)), "nested more than 32 levels deep");
}

TEST(recording_jsonl, what_an_older_read_survivors_wrote_is_told) {
  EXPECT_EQ(
      json_reason(R"({"frame": 0, "pts": 0, "survivors": [{"label": "a", "box": [1, 2, 3, 4], "confidence": 1}]})"),
      "\"survivors\" instead of \"objects\", from an older gst-crowd-read-survivors, whose \"box\" is x, y, width, "
      "height; make the file again with this one");
  EXPECT_THAT(json_reason(R"({"objects": [{"label": "a", "box": [1, 2, 3, 4], "confidence": 0.5, "members": 1}]})"),
              StartsWith("\"confidence\" beside \"box\" instead of \"score\""));
  EXPECT_TRUE(
      parse(R"({"survivors": 7, "objects": [{"box": [1, 2, 3, 4], "confidence": 0.5, "score": 1}]})", true).recording);
}

TEST(recording_jsonl, an_array_is_told_from_lines) {
  for (const bool strict : {false, true}) {
    for (const char* text : {R"([{"objects": []}, {"objects": []}])", "[\n  {\n    \"objects\": []\n  }\n]\n",
                             " \n\t [\n", "[{\"objects\": []},\n{\"objects\": []}]", "\xef\xbb\xbf[]"}) {
      for (const Format format : {Format::automatic, Format::jsonl}) {
        const Parsed parsed = parse(text, strict, format);
        ASSERT_FALSE(parsed.recording) << text;
        EXPECT_THAT(parsed.failure.message,
                    testing::ContainsRegex(
                        "^det.txt:[12]: a JSON array; write one object a line, say with jq -c '.\\[\\]'\\.$"));
      }
    }
  }
  // One object over several lines.
  EXPECT_THAT(
      parse("{\n  \"objects\": []\n}\n").failure.message,
      HasSubstr("det.txt:1: not JSON: the line does not end with the \"}\" of its object; jq -c writes an object a "
                "line"));
}

// Nothing behind the text can be read.
TEST(recording_jsonl, the_last_line_may_lie_at_the_end_of_memory) {
  const std::string line = R"({"objects": [{"box": [1, 2, 3, 12345]}], "a": "b\n"})";
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* end = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  std::ranges::copy(line, end - line.size());
  for (std::size_t n = 1; n <= line.size(); n++)
    EXPECT_EQ(parse({end - n, n}, true, Format::jsonl).recording.has_value(), n == line.size()) << n;
  munmap(pages, 2 * page);
}

}  // namespace
