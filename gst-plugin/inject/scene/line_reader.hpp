// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/** Lines of a text or of a file, however long, with no more in memory than the longest of them. */

#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

namespace crowd::scene {

class LineReader {
 public:
  /** Lines of a text, which has to outlive the reader. */
  explicit LineReader(std::string_view text) : unread_(text) {}
  /** Lines of a file, a pipe's too, of at most `max_bytes`. The file has to outlive the reader. */
  LineReader(std::FILE* file, std::uint64_t max_bytes) : file_(file), bytes_left_(max_bytes) {}
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /**
   * The next line, without its end (LF or CRLF), the blanks around it, and the byte order mark that a text may begin
   * with; valid until the next call. Nothing after the last line, and where reading failed. Linear in the bytes.
   */
  std::optional<std::string_view> next();
  /** Of the line that next() gave, from 1. */
  std::uint64_t number() const {
    return number_;
  }
  /** Whether reading has ended because there is more than `max_bytes`. */
  bool too_large() const {
    return too_large_;
  }
  /** The errno that reading has ended with, else 0. */
  int error() const {
    return error_;
  }

 private:
  bool refill();
  std::string_view take_line(std::size_t bytes, std::size_t with_its_end);

  std::string_view unread_;
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_left_ = 0;
  std::vector<char> buffer_;
  std::uint64_t number_ = 0;
  bool too_large_ = false;
  int error_ = 0;
};

}  // namespace crowd::scene
