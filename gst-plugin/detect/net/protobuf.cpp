// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "detect/net/protobuf.hpp"

namespace crowd::net {

namespace {

enum WireType : std::uint32_t { wire_varint = 0, wire_64_bits = 1, wire_bytes = 2, wire_32_bits = 5 };

}  // namespace

bool FieldReader::varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool FieldReader::skip(std::size_t bytes) {
  if (bytes > rest_.size())
    return false;
  rest_.remove_prefix(bytes);
  return true;
}

bool FieldReader::next(Field& field) {
  if (damaged_ || rest_.empty())
    return false;
  const char* const begin = rest_.data();
  field = {};
  std::uint64_t tag = 0;
  bool read = varint(tag) && tag >> 3 != 0 && tag >> 3 <= 0x1FFFFFFF;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case wire_varint:
      read = read && varint(field.value);
      break;
    case wire_64_bits:
      read = read && skip(8);
      break;
    case wire_bytes: {
      std::uint64_t size = 0;
      read = read && varint(size) && size <= rest_.size();
      if (read) {
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
      }
      break;
    }
    case wire_32_bits:
      read = read && skip(4);
      break;
    default:  // groups, which no model has
      read = false;
  }
  damaged_ = !read;
  field.whole = {begin, static_cast<std::size_t>(rest_.data() - begin)};
  return read;
}

void FieldWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    message_ += static_cast<char>(value | 0x80);
  message_ += static_cast<char>(value);
}

void FieldWriter::number(std::uint32_t field, std::uint64_t value) {
  varint(std::uint64_t{field} << 3 | wire_varint);
  varint(value);
}

void FieldWriter::bytes(std::uint32_t field, std::string_view value) {
  varint(std::uint64_t{field} << 3 | wire_bytes);
  varint(value.size());
  message_ += value;
}

}  // namespace crowd::net
