// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Recordings in general and of MOTChallenge's det.txt, and boxes that come from them.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "inject/scene/random.hpp"
#include "inject/scene/source.hpp"
#include "recording_cases.hpp"
#include "temporary_file.hpp"

namespace {

using namespace crowd::scene;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string mot_reason(const std::string& bad) {
  return reason(bad, "2,-1,1,2,3,4,.5");
}

TEST(recording_mot, reads_det_txt) {
  const Parsed parsed = parse(
      "1,-1,794.2,47.5,71.2,174.8,67.5,-1,-1,-1\n"
      "1,-1,10,20,30,40,0.25\n"
      "3, 7 ,\t-5.5 , +1e1 ,1,2,  -3.5e-2 \r\n"
      "\n"
      "   \r\n"
      "3,-1,1,1,1,1,1,-1\n",
      true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  const Recording& recording = *parsed.recording;
  EXPECT_EQ(recording.length(), 3u);
  EXPECT_EQ(recording.size(), 4u);
  EXPECT_THAT(boxes(recording, 0),
              ElementsAre(Box{794.2f, 47.5f, static_cast<float>(794.2 + 71.2), 222.3f}, Box{10, 20, 40, 60}));
  EXPECT_THAT(scores(recording, 0), ElementsAre(67.5f, 0.25f));
  EXPECT_THAT(boxes(recording, 1), IsEmpty());
  EXPECT_THAT(boxes(recording, 2), ElementsAre(Box{-5.5f, 10, -4.5f, 12}, Box{1, 1, 2, 2}));
  EXPECT_THAT(scores(recording, 2), ElementsAre(-0.035f, 1.0f));
  EXPECT_THAT(classes(recording, 2), ElementsAre(0, 0));
  EXPECT_THAT(boxes(recording, 3), IsEmpty());
  EXPECT_THAT(recording.labels(), IsEmpty());
  EXPECT_EQ(recording.resolution().width, 0);
}

TEST(recording_mot, lines_in_any_order_keep_their_order_within_a_frame) {
  const Parsed parsed = parse("5,-1,1,0,9,9,.1\n2,-1,2,0,9,9,.2\n5,-1,3,0,9,9,.3\n1,-1,4,0,9,9,.4\n2,-1,5,0,9,9,.5\n");
  ASSERT_TRUE(parsed.recording);
  EXPECT_THAT(scores(*parsed.recording, 0), ElementsAre(.4f));
  EXPECT_THAT(scores(*parsed.recording, 1), ElementsAre(.2f, .5f));
  EXPECT_THAT(scores(*parsed.recording, 4), ElementsAre(.1f, .3f));
  EXPECT_THAT(boxes(*parsed.recording, 4), ElementsAre(Box{1, 0, 10, 9}, Box{3, 0, 12, 9}));
  EXPECT_EQ(parsed.recording->length(), 5u);
}

TEST(recording_mot, last_line_may_lack_its_end) {
  const Parsed parsed = parse("1,-1,1,2,3,4,.5\r\n2,-1,1,2,3,4,.75", true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(scores(*parsed.recording, 1), ElementsAre(.75f));
}

TEST(recording_mot, odd_values_are_candidates) {
  const Parsed parsed = parse(
      "1,-1,nan,2,3,4,.5\n1,-1,1,inf,3,4,.5\n1,-1,1,2,-3,4,.5\n1,-1,1,2,0,0,NaN\n1,-1,1,-inf,3,4,-Infinity\n", true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  const auto view = parsed.recording->frame(0);
  ASSERT_EQ(view.boxes.size(), 5u);
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(view.boxes[0].x1) && std::isnan(view.boxes[0].x2));
  EXPECT_EQ(view.boxes[1], (Box{1, inf, 4, inf}));
  EXPECT_EQ(view.boxes[2], (Box{1, 2, -2, 6}));
  EXPECT_EQ(view.boxes[3], (Box{1, 2, 1, 2}));
  EXPECT_TRUE(std::isnan(view.scores[3]));
  EXPECT_EQ(view.boxes[4], (Box{1, -inf, 4, -inf}));
  EXPECT_EQ(view.scores[4], -inf);
}

TEST(recording_mot, wrong_columns_are_named) {
  EXPECT_EQ(mot_reason("1,-1,1,2,3,4"), "6 columns instead of 7 to 10: frame,id,left,top,width,height,conf[,x,y,z]");
  EXPECT_THAT(mot_reason("1"), HasSubstr("1 column instead"));
  EXPECT_THAT(mot_reason("1,-1,1,2,3,4,5,6,7,8,9"), HasSubstr("11 columns instead"));
  EXPECT_THAT(mot_reason("1 -1 1 2 3 4 5"), HasSubstr("1 column instead"));
  EXPECT_THAT(mot_reason(std::string(100'000, ',')), HasSubstr("100001 columns instead"));
}

TEST(recording_mot, what_is_not_a_number_is_named) {
  EXPECT_EQ(mot_reason("1,-1,one,2,3,4,.5"), "column 3 (left) is not a number");
  EXPECT_EQ(mot_reason("frame,id,left,top,width,height,conf"), "column 1 (frame) is not a number");
  for (const char* number : {"", " ", "-", "+", "+-1", "--1", "1.2.3", "1e", "0x10", "1,5 ", "1e999", "-1e39", "1 2"}) {
    const std::string field = number;
    if (field.find(',') == std::string::npos) {
      EXPECT_EQ(mot_reason("1,-1,1,2,3,4," + field), "column 7 (conf) is not a number") << '"' << field << '"';
      EXPECT_EQ(mot_reason("1,-1,1,2,3," + field + ",1"), "column 6 (height) is not a number") << '"' << field << '"';
    }
  }
  EXPECT_EQ(mot_reason("1,person,1,2,3,4,.5"), "column 2 (id) is not a number");
}

TEST(recording_mot, what_is_too_small_for_a_double_is_0_and_what_is_too_large_for_a_float_is_no_number) {
  const std::string zeros(400, '0');
  for (const std::string& tiny :
       {std::string("1e-50"), std::string("1e-400"), std::string("+1E-400"), "0." + zeros + "1", "1" + zeros + "e-900",
        "9.9e-" + zeros + "9999999999999999999", std::string("0e400")}) {
    const Parsed parsed = parse("1,-1,1,2,3,4," + tiny + "\n1,-1,1,2,3,4,-" + tiny.substr(tiny[0] == '+') + "\n", true);
    ASSERT_TRUE(parsed.recording) << parsed.failure.message;
    EXPECT_THAT(scores(*parsed.recording, 0), ElementsAre(0.0f, 0.0f)) << tiny;
  }
  const Parsed parsed = parse("1,-1,1,2,3,4,0." + zeros + "1e401\n1,-1,1,2,3,4,1" + zeros + "e-400\n", true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_THAT(scores(*parsed.recording, 0), ElementsAre(1.0f, 1.0f));
  for (const std::string& huge : {std::string("1e400"), std::string("-1e400"), "1" + zeros, "0." + zeros + "1e900",
                                  std::string("1e99999999999999999999"), std::string("-1e+400")})
    EXPECT_EQ(mot_reason("1,-1,1,2,3,4," + huge), "column 7 (conf) is not a number") << huge;
}

TEST(recording_mot, frames_count_from_1_to_the_limit) {
  for (const char* frame : {"0", "-1", "1.5", "nan", "inf", "2147483648", "1e30"})
    EXPECT_EQ(mot_reason(std::string(frame) + ",-1,1,2,3,4,.5"), "the frame is not a whole number from 1 to 2147483647")
        << frame;
  const Parsed parsed = parse("2147483647,-1,1,2,3,4,.5\n1.0,-1,1,2,3,4,.25\n", true);
  ASSERT_TRUE(parsed.recording) << parsed.failure.message;
  EXPECT_EQ(parsed.recording->length(), 2147483647u);
  EXPECT_THAT(scores(*parsed.recording, 2147483646), ElementsAre(.5f));
  EXPECT_THAT(scores(*parsed.recording, 0), ElementsAre(.25f));
}

TEST(recording_mot, a_good_line_among_garbage_is_found_and_the_rest_counted) {
  std::string text;
  for (int i = 0; i < 200; i++)
    text += std::string("\x00\xff\x1b[2J,,\x80", 10) + "\n";
  text += "1,-1,1,2,3,4,.5\n";
  const Parsed parsed = parse(text);
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->size(), 1u);
  EXPECT_EQ(parsed.recording->skipped_lines(), 200u);
  EXPECT_EQ(parsed.recording->first_skipped()->line, 1u);
}

TEST(recording, of_nothing_but_garbage_is_an_error_in_printable_words) {
  std::string garbage;
  for (std::uint64_t i = 0; i < 20'000; i++) {
    const std::uint64_t bits = mix(i);
    garbage.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  for (const Format format : {Format::automatic, Format::mot, Format::jsonl}) {
    const Parsed parsed = parse(garbage, false, format);
    ASSERT_FALSE(parsed.recording);
    EXPECT_EQ(parsed.failure.cause, ReadFailure::Cause::malformed);
    EXPECT_THAT(parsed.failure.message,
                HasSubstr(format == Format::jsonl ? "\"det.txt\" has no line of JSON lines form"
                                                  : "\"det.txt\" has no line of MOTChallenge form"));
    EXPECT_THAT(parsed.failure.message, HasSubstr("det.txt:1: "));
    EXPECT_THAT(parsed.failure.message, HasSubstr("Give a file of the right kind, or set format."));
    EXPECT_LT(parsed.failure.message.size(), 500u);
    for (const char c : parsed.failure.message)
      ASSERT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
  }
}

TEST(recording, of_nothing_is_empty) {
  for (const char* text : {"", "\n\n", "\r\n", "  \t", "\xef\xbb\xbf"}) {
    const Parsed parsed = parse(text, true);
    ASSERT_TRUE(parsed.recording);
    EXPECT_EQ(parsed.recording->length(), 0u);
    EXPECT_THAT(boxes(*parsed.recording, 0), IsEmpty());
  }
}

TEST(recording, format_is_found_by_its_first_character) {
  EXPECT_TRUE(parse("\xef\xbb\xbf\n {\"objects\": []}", true).recording);
  EXPECT_TRUE(parse("\xef\xbb\xbf"
                    "1,-1,1,2,3,4,5",
                    true)
                  .recording);
  EXPECT_FALSE(parse("{\"objects\": []}", true, Format::mot).recording);
  EXPECT_FALSE(parse("1,-1,1,2,3,4,5", true, Format::jsonl).recording);
}

TEST(recording, a_hundred_thousand_lines_are_read_fast) {
  std::string text;
  for (int i = 0; i < 100'000; i++)
    text += std::to_string(i / 100 + 1) + ",-1," + std::to_string(i % 1900) + ".25,200.5,30.125,40,0." +
            std::to_string(i % 1000) + ",-1,-1,-1\n";
  const auto start = std::chrono::steady_clock::now();
  const Parsed parsed = parse(text, true);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(parsed.recording);
  EXPECT_EQ(parsed.recording->size(), 100'000u);
  EXPECT_EQ(parsed.recording->length(), 1000u);
  EXPECT_EQ(parsed.recording->frame(999).boxes.size(), 100u);
  EXPECT_EQ(parsed.recording->frame(999).boxes[99].x1, 99'999 % 1900 + .25f);
  // It takes a tenth of a second; a reader that is quadratic in the lines or the frames takes minutes.
  EXPECT_LT(seconds.count(), 5.0);
}

class RecordingFile : public testing::Test {
 protected:
  ~RecordingFile() override {
    std::remove(path.c_str());
  }
  std::string path = crowd::test::temporary_path(".txt");
  ReadFailure failure{};
};

TEST_F(RecordingFile, is_read) {
  std::ofstream(path, std::ios::binary) << "1,-1,1,2,3,4,.5\n2,-1,1,2,3,4,.75\n";
  const auto recording = read_recording(path, Format::automatic, true, failure);
  ASSERT_TRUE(recording) << failure.message;
  EXPECT_EQ(recording->size(), 2u);
}

TEST_F(RecordingFile, missing_is_told_from_unreadable) {
  EXPECT_FALSE(read_recording(path, Format::automatic, false, failure));
  EXPECT_EQ(failure.cause, ReadFailure::Cause::not_found);
  EXPECT_EQ(failure.message, "There is no file \"" + path + "\".");

  EXPECT_FALSE(read_recording(testing::TempDir(), Format::automatic, false, failure));
  EXPECT_EQ(failure.cause, ReadFailure::Cause::unreadable);
  EXPECT_EQ(failure.message, "\"" + testing::TempDir() + "\" is a folder, not a file.");

  EXPECT_FALSE(read_recording("/dev/zero", Format::automatic, false, failure));
  EXPECT_EQ(failure.cause, ReadFailure::Cause::unreadable);
  EXPECT_EQ(failure.message, "\"/dev/zero\" is a device, not a file.");

  std::ofstream(path).close();
  std::filesystem::resize_file(path, max_file_bytes + 1);  // it takes no room
  EXPECT_FALSE(read_recording(path, Format::automatic, false, failure));
  EXPECT_EQ(failure.cause, ReadFailure::Cause::unreadable);
  EXPECT_EQ(failure.message,
            "\"" + path + "\" is larger than 1 GiB, which is the most that is read: give a part of it.");

  // A file whose reading fails, for root too.
  EXPECT_FALSE(read_recording("/proc/self/mem", Format::automatic, false, failure));
  EXPECT_EQ(failure.cause, ReadFailure::Cause::unreadable);
  EXPECT_THAT(failure.message, HasSubstr("\"/proc/self/mem\" cannot be read: "));
}

TEST_F(RecordingFile, may_be_a_pipe) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([this] { std::ofstream(path, std::ios::binary) << "1,-1,1,2,3,4,.5\n\n2,-1,1,2,3,4,.75"; });
  const auto recording = read_recording(path, Format::automatic, true, failure);
  writer.join();
  ASSERT_TRUE(recording) << failure.message;
  EXPECT_EQ(recording->size(), 2u);
}

TEST(source, recorded_boxes_are_scaled_to_the_frame) {
  const auto source = [](const char* text, Size recorded) { return Source(*parse(text, true).recording, recorded); };
  const char* plain = "{\"objects\": [{\"box\": [10, 20, 30, 40], \"score\": 0.5, \"class\": 3}]}";
  const char* sized =
      "{\"resolution\": {\"width\": 100, \"height\": 200}, \"objects\": [{\"box\": [10, 20, 30, 40], \"score\": 0.5}]}";
  const Source::Request request{0, {200, 100}, own_number, false};
  Source as_is = source(plain, {0, 0});
  EXPECT_EQ(as_is.frame(request).boxes[0], (Box{10, 20, 30, 40}));
  Source by_hand = source(plain, {50, 50});
  EXPECT_EQ(by_hand.frame(request).boxes[0], (Box{40, 40, 120, 80}));
  EXPECT_EQ(by_hand.frame(request).scores[0], 0.5f);
  EXPECT_EQ(by_hand.frame(request).classes[0], 3);
  Source by_file = source(sized, {50, 50});
  EXPECT_EQ(by_file.frame(request).boxes[0], (Box{20, 10, 60, 20}));
  EXPECT_FALSE(by_file.has_objects());
  EXPECT_TRUE(by_file.objects().empty());
}

TEST(source, recordings_loop_if_asked_to) {
  Source source(*parse("1,-1,1,2,3,4,.5\n3,-1,1,2,3,4,.75\n", true).recording, {0, 0});
  std::vector<std::size_t> once, looped;
  for (std::uint64_t number = 0; number < 7; number++) {
    once.push_back(source.frame({number, {64, 64}, own_number, false}).boxes.size());
    looped.push_back(source.frame({number, {64, 64}, own_number, true}).boxes.size());
  }
  EXPECT_THAT(once, ElementsAre(1, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(looped, ElementsAre(1, 0, 1, 1, 0, 1, 1));
  Source empty(*parse("", true).recording, {0, 0});
  EXPECT_EQ(empty.frame({5, {64, 64}, own_number, true}).boxes.size(), 0u);
}

}  // namespace
