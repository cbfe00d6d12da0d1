// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Models come as protocol buffers. Their wire format is read here, field by field, to refuse a file that is truncated
// or no model before a library reads it, and to cut a graph without a library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crowd::net {

/// A field of a message, in the order of the file.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  ///< of a number; 0 of others
  std::string_view bytes;   ///< of a string or a message; empty of others
  std::string_view whole;   ///< with the tag
};

/// Reads the fields of a message one after the other. The message's bytes stay where they are.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /// False at the end and where the bytes are no field, which damaged() tells apart.
  bool next(Field& field);

  bool damaged() const {
    return damaged_;
  }

 private:
  bool varint(std::uint64_t& value);
  bool skip(std::size_t bytes);

  std::string_view rest_;
  bool damaged_ = false;
};

/// Writes a message.
class FieldWriter {
 public:
  void number(std::uint32_t field, std::uint64_t value);
  void bytes(std::uint32_t field, std::string_view value);
  void append(std::string_view whole_field) {
    message_ += whole_field;
  }

  const std::string& message() const {
    return message_;
  }

 private:
  void varint(std::uint64_t value);

  std::string message_;
};

}  // namespace crowd::net
