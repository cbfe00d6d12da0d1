// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers for classes that have a name alone in the metadata.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace crowd::meta {

/// A name keeps its number from frame to frame.
class ClassTable {
 public:
  /// Before each frame: from here on the names may have new numbers if there were too many of them.
  void begin_frame() {
    if (names_ && names_->len >= max_names)
      *this = {};
    in_use_ = true;
  }

  /// `variant` tells classes of the same name apart.
  std::int32_t number_of(GQuark name, std::int32_t variant = -1) {
    const guint64 key = guint64{static_cast<std::uint32_t>(variant)} << 32 | name;
    if (key != last_.first || !names_)
      last_ = {key, find(key)};
    return last_.second;
  }

  /// Names by number; metadata of frames may hold it. Null before the first.
  GPtrArray* names() const {
    return names_.get();
  }

 private:
  static constexpr guint max_names = 65536;

  struct Unref {
    void operator()(GPtrArray* names) const {
      g_ptr_array_unref(names);
    }
  };

  std::int32_t find(guint64 key) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::int32_t>(numbers_.size()));
    if (is_new)
      add(static_cast<GQuark>(key));
    return found->second;
  }

  // What metadata of earlier frames may hold does not change.
  void add(GQuark name) {
    if (in_use_) {
      GPtrArray* copy = g_ptr_array_new();
      for (guint i = 0; names_ && i < names_->len; ++i)
        g_ptr_array_add(copy, g_ptr_array_index(names_.get(), i));
      names_.reset(copy);
      in_use_ = false;
    }
    // A number that is no quark has no name.
    g_ptr_array_add(names_.get(), const_cast<gchar*>(g_quark_to_string(name)));
  }

  std::unordered_map<guint64, std::int32_t> numbers_;
  std::unique_ptr<GPtrArray, Unref> names_;
  bool in_use_ = true;
  std::pair<guint64, std::int32_t> last_{};
};

}  // namespace crowd::meta
