// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "inject/scene/truth_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <system_error>

namespace crowd::scene {

namespace {

// Numbers and commas of one line; never the locale's.
class Line {
 public:
  Line& add(std::integral auto number) {
    end_ = std::to_chars(separated(), limit(), number).ptr;
    return *this;
  }
  Line& add(float number) {
    end_ = std::to_chars(separated(), limit(), number, std::chars_format::fixed).ptr;
    return *this;
  }
  bool put(std::FILE* file) {
    *end_++ = '\n';
    const auto bytes = static_cast<std::size_t>(end_ - text_.data());
    return std::fwrite(text_.data(), 1, bytes, file) == bytes;
  }

 private:
  char* separated() {
    if (end_ != text_.data())
      *end_++ = ',';
    return end_;
  }
  char* limit() {
    return text_.data() + text_.size() - 2;
  }

  std::array<char, 512> text_;  // 5 integers of at most 20 characters, 4 floats of at most 60
  char* end_ = text_.data();
};

}  // namespace

TruthFile::TruthFile(const std::string& path) : file_(std::fopen(path.c_str(), "wbe")) {
  if (!file_)
    error_ = errno;
}

bool TruthFile::write(std::uint64_t frame, std::span<const TrueObject> objects) {
  if (!ok() || frame < next_frame_)
    return ok();
  next_frame_ = frame + 1;
  for (const TrueObject& object : objects) {
    const Box& box = object.box;
    Line line;
    line.add(frame + 1).add(object.id).add(box.x1).add(box.y1).add(box.x2 - box.x1).add(box.y2 - box.y1);
    if (!line.add(1).add(object.object_class + 1).add(1).put(file_.get())) {
      error_ = errno;
      return false;
    }
  }
  return true;
}

bool TruthFile::flush() {
  if (ok() && std::fflush(file_.get()) != 0)
    error_ = errno;
  return ok();
}

bool TruthFile::close() {
  if (file_ && std::fclose(file_.release()) != 0 && ok())
    error_ = errno;
  return ok();
}

std::string TruthFile::error() const {
  return std::generic_category().message(error_);
}

}  // namespace crowd::scene
