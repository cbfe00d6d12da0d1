// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inject/scene/line_reader.hpp"
#include "inject/scene/random.hpp"
#include "temporary_file.hpp"

namespace {

using crowd::scene::LineReader;
using testing::ElementsAre;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::vector<std::string> all_lines(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.next()) {
    lines.emplace_back(*line);
    EXPECT_EQ(reader.number(), lines.size());
  }
  return lines;
}

// What can be read of a pipe into which the text is written over and over, and how many bytes were taken out of it.
class Pipe {
 public:
  explicit Pipe(std::string text) {
    EXPECT_EQ(pipe(ends_), 0);
    writer_ = std::thread([this, endless = std::move(text)] {
      for (ssize_t n; (n = write(ends_[1], endless.data(), endless.size())) > 0;)
        written += static_cast<std::size_t>(n);
    });
  }
  File open() {
    return {fdopen(ends_[0], "rb"), std::fclose};
  }
  ~Pipe() {
    writer_.join();
    close(ends_[1]);
  }

  std::atomic<std::size_t> written = 0;

 private:
  int ends_[2];
  std::thread writer_;
};

TEST(line_reader, gives_lines_without_ends_and_blanks) {
  LineReader reader("\xef\xbb\xbf one \n\ntwo\r\n \t\r\n\xef\xbb\xbfthree");
  EXPECT_THAT(all_lines(reader), ElementsAre("one", "", "two", "", "\xef\xbb\xbfthree"));
  EXPECT_FALSE(reader.next());
  LineReader nothing("");
  EXPECT_FALSE(nothing.next());
  LineReader blank("\n");
  EXPECT_THAT(all_lines(blank), ElementsAre(""));
}

TEST(line_reader, reads_a_file_as_it_reads_its_text) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < 3'000'000; i++) {
    // Lengths around the size of what is read at once, and ordinary ones.
    const std::uint64_t bits = crowd::scene::mix(i);
    const std::size_t length = bits % 50 == 0 ? 65'530 + bits % 13 : bits % 50 == 1 ? bits % 400'000 : bits % 200;
    text += std::string(length, static_cast<char>('a' + i % 26)) + (bits & 64 ? "\r\n" : "\n");
  }
  text += "the last";
  const crowd::test::TemporaryFile written(text);
  const File file(std::fopen(written.path.c_str(), "rb"), std::fclose);
  LineReader from_file(file.get(), text.size()), from_text(text);
  EXPECT_EQ(all_lines(from_file), all_lines(from_text));
  EXPECT_FALSE(from_file.too_large());
  EXPECT_EQ(from_file.error(), 0);
}

TEST(line_reader, ends_at_its_limit_and_says_so) {
  const crowd::test::TemporaryFile written("12345\n78");
  const File file(std::fopen(written.path.c_str(), "rb"), std::fclose);
  LineReader reader(file.get(), 7);
  all_lines(reader);
  EXPECT_TRUE(reader.too_large());
  EXPECT_FALSE(reader.next());
}

TEST(line_reader, ends_with_a_pipe_that_does_not) {
  signal(SIGPIPE, SIG_IGN);
  constexpr std::size_t max = 4'000'000;
  for (const std::string text : {"a line\n", "no line"}) {
    std::string many;
    for (int i = 0; i < 1000; i++)
      many += text;
    Pipe pipe(many);
    {
      const File file = pipe.open();
      LineReader reader(file.get(), max);
      const auto lines = all_lines(reader);
      EXPECT_LE(lines.size(), max / 7 + 1);
      EXPECT_TRUE(reader.too_large());
    }
    EXPECT_LT(pipe.written, max + (1 << 20));  // a pipe's own buffer is 64 KiB
  }
}

TEST(line_reader, tells_an_error) {
  const File file(std::fopen("/proc/self/mem", "rb"), std::fclose);
  ASSERT_TRUE(file);
  LineReader reader(file.get(), 100);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.error(), EIO);
  EXPECT_FALSE(reader.too_large());
}

}  // namespace
