// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "meta/objects.hpp"

#include <utility>

#include "meta/adapter.hpp"

namespace crowd::meta {

namespace {

// Whether `a` says more of a frame than `b` does.
bool is_better(const Objects& a, const Objects& b) {
  if (a.empty() != b.empty())
    return !a.empty();
  return a.empty() ? a.problem && !b.problem : b.problem && !a.problem;
}

}  // namespace

ObjectReaders::ObjectReaders() {
  const auto rows = adapter_rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (row->make_reader)
      readers_.push_back(row->make_reader());
  }
}

void ObjectReaders::read(GstBuffer* buffer, const ShownSize& shown, Objects& objects) {
  objects.clear();
  for (bool first = true; const auto& reader : readers_) {
    other_.clear();
    reader->read(buffer, shown, other_);
    if (first || is_better(other_, objects))
      std::swap(objects, other_);
    first = false;
    if (!objects.empty() && !objects.problem)
      return;
  }
}

}  // namespace crowd::meta
