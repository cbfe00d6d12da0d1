// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "overlay/draw/labels.hpp"

namespace crowd::draw {

void LabelTable::begin_frame() {
  if (names_.size() < max_names)
    return;
  numbers_.clear();
  names_.clear();
  words_.clear();
}

std::int32_t LabelTable::index_of(const char* name) {
  if (!name)
    return -1;
  if (const auto known = numbers_.find(name); known != numbers_.end())
    return known->second;
  const auto index = static_cast<std::int32_t>(names_.size());
  const std::string& word = words_.emplace_back(name);
  names_.push_back(word.c_str());
  numbers_.emplace(word, index);
  return index;
}

}  // namespace crowd::draw
