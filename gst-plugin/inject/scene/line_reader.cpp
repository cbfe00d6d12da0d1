// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/line_reader.hpp"

#include <algorithm>
#include <cerrno>

namespace crowd::scene {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t piece_bytes = 1 << 16;

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

}  // namespace

// More of the file behind what is unread; false at its end.
bool LineReader::refill() {
  if (!file_ || too_large_ || error_ != 0)
    return false;
  const std::size_t kept = unread_.size();
  if (kept > 0 && unread_.data() != buffer_.data())
    std::copy(unread_.begin(), unread_.end(), buffer_.begin());
  if (buffer_.size() < kept + piece_bytes)
    buffer_.resize(std::max(kept + piece_bytes, 2 * buffer_.size()));
  errno = 0;
  const std::size_t got = std::fread(buffer_.data() + kept, 1, piece_bytes, file_);
  if (std::ferror(file_))
    error_ = errno != 0 ? errno : EIO;
  too_large_ = got > bytes_left_;
  bytes_left_ -= std::min<std::uint64_t>(got, bytes_left_);
  const bool failed = too_large_ || error_ != 0;
  unread_ = {buffer_.data(), failed ? 0 : kept + got};
  return got > 0 && !failed;
}

std::string_view LineReader::take_line(std::size_t bytes, std::size_t with_its_end) {
  std::string_view line = unread_.substr(0, bytes);
  unread_.remove_prefix(with_its_end);
  if (++number_ == 1 && line.starts_with(byte_order_mark))
    line.remove_prefix(byte_order_mark.size());
  return trimmed(line);
}

std::optional<std::string_view> LineReader::next() {
  std::size_t searched = 0;
  do {
    const std::size_t end = unread_.find('\n', searched);
    if (end != std::string_view::npos)
      return take_line(end, end + 1);
    searched = unread_.size();
  } while (refill());
  if (unread_.empty())
    return std::nullopt;
  return take_line(unread_.size(), unread_.size());
}

}  // namespace crowd::scene
