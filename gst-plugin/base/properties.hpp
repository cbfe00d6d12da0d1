// SPDX-FileCopyrightText: gst-crowd authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The properties of an element, a row each: the specification, and how it is read from the settings and written to
// them. Header only, for every plugin.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace crowd {

/// Flags of a property that may be set up to READY; at any time; at any time and by a GstControlBinding too.
inline constexpr auto settable_before_start =
    GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto settable_at_any_time =
    GParamFlags(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
inline constexpr auto controllable = GParamFlags(settable_at_any_time | GST_PARAM_CONTROLLABLE);

/// An enumeration, which the documentation of the plugin shows. `values` are static.
inline GType register_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(0));
  return type;
}

/// What a string property was set to; empty for NULL.
inline std::string text_of(const GValue* value) {
  const char* text = g_value_get_string(value);
  return text ? text : "";
}

inline void read_value(const GValue* value, bool& to) {
  to = g_value_get_boolean(value);
}
inline void read_value(const GValue* value, int& to) {
  to = g_value_get_int(value);
}
inline void read_value(const GValue* value, guint& to) {
  to = g_value_get_uint(value);
}
inline void read_value(const GValue* value, guint64& to) {
  to = g_value_get_uint64(value);
}
inline void read_value(const GValue* value, float& to) {
  to = g_value_get_float(value);
}
inline void read_value(const GValue* value, double& to) {
  to = g_value_get_double(value);
}
inline void read_value(const GValue* value, std::string& to) {
  to = text_of(value);
}
template <typename Enum>
requires std::is_enum_v<Enum>
void read_value(const GValue* value, Enum& to) {
  to = static_cast<Enum>(g_value_get_enum(value));
}

inline void write_value(GValue* value, bool from) {
  g_value_set_boolean(value, from);
}
inline void write_value(GValue* value, int from) {
  g_value_set_int(value, from);
}
inline void write_value(GValue* value, guint from) {
  g_value_set_uint(value, from);
}
inline void write_value(GValue* value, guint64 from) {
  g_value_set_uint64(value, from);
}
inline void write_value(GValue* value, float from) {
  g_value_set_float(value, from);
}
inline void write_value(GValue* value, double from) {
  g_value_set_double(value, from);
}
/// Empty is NULL.
inline void write_value(GValue* value, const std::string& from) {
  g_value_set_string(value, from.empty() ? nullptr : from.c_str());
}
template <typename Enum>
requires std::is_enum_v<Enum>
void write_value(GValue* value, Enum from) {
  g_value_set_enum(value, static_cast<int>(from));
}

/// The rows get the ids 1, 2, ... in the order in which they were added.
template <typename Settings>
class PropertyTable {
 public:
  using Get = std::function<void(const Settings&, GValue*)>;
  /// The value is one that the specification allows.
  using Set = std::function<void(Settings&, const GValue*)>;

  /// A property with its own way of being read and written.
  void add(GParamSpec* spec, Get get, Set set) {
    rows_.push_back({spec, std::move(get), std::move(set)});
  }

  /// A property that is a member of the settings, which field() returns a reference to, of const Settings& as of
  /// Settings&. The member's type is that of the specification.
  template <typename Field>
  void add(GParamSpec* spec, Field field) {
    add(
        spec, [field](const Settings& settings, GValue* value) { write_value(value, field(settings)); },
        [field](Settings& settings, const GValue* value) { read_value(value, field(settings)); });
  }

  /// The number of rows, and the id of the last one.
  guint size() const {
    return guint(rows_.size());
  }

  /// For one class only, which gets the specifications.
  void install(GObjectClass* object_class) const {
    guint id = 0;
    for (const Row& row : rows_)
      g_object_class_install_property(object_class, ++id, row.spec);
  }

  /// False if `id` is none of the rows'.
  bool get(const Settings& settings, guint id, GValue* value) const {
    if (!has(id))
      return false;
    rows_[id - 1].get(settings, value);
    return true;
  }
  bool set(Settings& settings, guint id, const GValue* value) const {
    if (!has(id))
      return false;
    rows_[id - 1].set(settings, value);
    return true;
  }

 private:
  struct Row {
    GParamSpec* spec;
    Get get;
    Set set;
  };

  bool has(guint id) const {
    return id >= 1 && id <= rows_.size();
  }

  std::vector<Row> rows_;
};

}  // namespace crowd
